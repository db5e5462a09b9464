import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct OwnedWorkTests {
    @Test func `direct work is cancelled by its handler, and its task is not`() async {
        let (work, gate) = (OwnedWork(isDirect: true), OneShot<Void>())
        let task = Task {
            await work.run {
                OwnedWork.onDirectCancel { gate.set(()) }
                await gate.value
            }
            return Task.isCancelled
        }
        work.cancel()
        await work.ended()
        #expect(await task.value == false && work.isCancelled)
    }

    @Test func `work in a task is cancelled with the work, also before it begins`() async {
        for isEarly in [true, false] {
            let (work, gate) = (OwnedWork(), OneShot<Void>())
            if isEarly { work.cancel() }
            let task = Task {
                await work.runInTask {
                    // A handler of direct work is not for work in a task.
                    OwnedWork.onDirectCancel { Issue.record("the work is not direct") }
                    await withTaskCancellationHandler {
                        await gate.value
                    } onCancel: {
                        gate.set(())
                    }
                    return Task.isCancelled
                }
            }
            work.cancel()
            await work.ended()
            #expect(await task.value)
            #expect(!task.isCancelled)
        }
    }

    @Test func `code of the work, a child and a task of it do not wait for its end`() async {
        let work = OwnedWork()
        await work.runInTask {
            await work.ended()
            async let child: Void = work.ended()
            await child
            await Task { await work.ended() }.value
            await OwnedWork().run { await work.ended() }
        }
        await work.ended()
    }

    @Test func `code outside of the work waits for its end`() async {
        let (work, gate) = (OwnedWork(isDirect: true), OneShot<Void>())
        let running = Task { await work.run { await gate.value } }
        let waiting = Task {
            await work.ended()
            return gate.valueNow != nil
        }
        gate.set(())
        await running.value
        #expect(await waiting.value)
    }
}

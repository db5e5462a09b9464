import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct OwnedWorkTests {
    @Test func `work is cancelled, also before it begins`() async {
        for isEarly in [true, false] {
            let (work, gate, wasCancelled) = (OwnedWork(), OneShot<Void>(), OneShot<Bool>())
            if isEarly { work.cancel() }
            work.start {
                await withTaskCancellationHandler {
                    await gate.value
                } onCancel: {
                    gate.set(())
                }
                wasCancelled.set(Task.isCancelled)
            }
            work.cancel()
            await work.ended()
            #expect(wasCancelled.valueNow == true)
        }
    }

    @Test func `code of the work, a child and a task of it do not wait for its end`() async {
        let work = OwnedWork()
        work.start {
            await work.ended()
            async let child: Void = work.ended()
            await child
            await Task { await work.ended() }.value
        }
        await work.ended()
    }

    @Test func `code outside of the work waits for its end`() async {
        let (work, gate) = (OwnedWork(), OneShot<Void>())
        work.start { await gate.value }
        let waiting = Task {
            await work.ended()
            return gate.valueNow != nil
        }
        gate.set(())
        #expect(await waiting.value)
    }
}

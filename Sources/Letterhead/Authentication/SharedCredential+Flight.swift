import Synchronization

extension SharedCredential {
    /// Gets a credential for all who wait.
    func fly(_ flight: Int, for need: CredentialNeed<Provider.Credential>) async {
        let result: Result<Provider.Credential?, any Error>
        do {
            result = .success(try await provider.credential(for: need))
        } catch {
            result = .failure(error)
        }
        let (waiters, outcome) = state.withLock { $0.machine.finish(flight, with: result) }
        for waiter in waiters { waiter.set(outcome) }
    }

    /// Begins a reset, or joins the one that is under way.
    func forget() -> Task<Void, Never> {
        let (reset, waiters) = state.withLock { state -> (Task<Void, Never>, [Waiter]) in
            if let running = state.reset { return (running, []) }
            let waiters = state.machine.beginReset()
            let reset = Task { [flight = state.flight] in
                flight?.cancel()
                await flight?.value
                await self.provider.reset()
                self.state.withLock { state in
                    state.machine.endReset()
                    (state.flight, state.reset) = (nil, nil)
                }
            }
            state.reset = reset
            return (reset, waiters)
        }
        for waiter in waiters { waiter.set(.failure(.reset)) }
        return reset
    }
}

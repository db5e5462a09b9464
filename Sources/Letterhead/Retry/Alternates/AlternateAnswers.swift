/// The latest response to each alternate request. A response is kept while an attempt is running that began before the
/// response arrived.
///
/// The type has no lock; its owner must hold one. Methods return the values that they remove, so that the caller can
/// release them after it has released the lock.
struct AlternateAnswers {
    typealias Key = AlternateFlights.Key
    typealias Answer = AlternateFlights.Answer

    /// The start of an attempt, as the number of responses that had arrived by then.
    struct Mark {
        /// The mark of an attempt that cannot be retried, and therefore needs no response.
        static let withoutRetry = Mark(number: nil)

        fileprivate let number: Int?

        var mayUseAnswers: Bool { number != nil }
    }

    private var answers: [Key: (number: Int, answer: Answer)] = [:]
    /// The keys in the order of their responses. If a key receives a newer response, its earlier element stays in the
    /// list for a while and is ignored.
    private var order: ArraySlice<(number: Int, key: Key)> = []
    /// The number of attempts that began after each response number, in ascending order.
    private var attempts: ArraySlice<(number: Int, count: Int)> = []
    /// The number of entries in `attempts` whose count is zero.
    private var emptyCounts = 0
    private var lastNumber = 0
    /// The number of the last reset. Attempts that began before it receive no responses.
    private var firstNumber = 0

    var count: Int { answers.count }

    mutating func begin() -> Mark {
        if let last = attempts.indices.last, attempts[last].number == lastNumber {
            if attempts[last].count == 0 { emptyCounts -= 1 }
            attempts[last].count += 1
        } else {
            attempts.append((lastNumber, 1))
        }
        return Mark(number: lastNumber)
    }

    /// Returns the latest response that arrived after an attempt began, or nil.
    func lastAnswer(to key: Key, since mark: Mark) -> Answer? {
        guard let start = mark.number, start >= firstNumber, let (number, answer) = answers[key], number > start else {
            return nil
        }
        return answer
    }

    /// Stores a response in place of an earlier one, if a running attempt may need it.
    mutating func add(_ answer: Answer, to key: Key) -> Answer? {
        lastNumber += 1
        guard !attempts.isEmpty else { return nil }
        order.append((lastNumber, key))
        let earlier = answers.updateValue((lastNumber, answer), forKey: key)
        if order.count > 2 * answers.count + 16 {
            order = ArraySlice(order.filter { answers[$0.key]?.number == $0.number })
        }
        return earlier?.answer
    }

    /// Ends an attempt, and returns the responses that no other attempt needs.
    mutating func end(_ mark: Mark) -> [Answer] {
        guard let start = mark.number else { return [] }
        leave(start)
        var dropped: [Answer] = []
        while let (number, key) = order.first, attempts.first.map({ number <= $0.number }) ?? true {
            _ = order.popFirst()
            if answers[key]?.number == number, let answer = answers.removeValue(forKey: key)?.answer {
                dropped.append(answer)
            }
        }
        // A slice keeps the storage of removed elements, and these keys contain the values of secret headers.
        if order.isEmpty { order = [] }
        return dropped
    }

    /// Removes everything. Attempts that are already running receive no later responses.
    mutating func forget() -> [Answer] {
        let dropped = answers.values.map(\.answer)
        (answers, order) = ([:], [])
        lastNumber += 1
        firstNumber = lastNumber
        return dropped
    }

    private mutating func leave(_ number: Int) {
        // The oldest attempts usually end first.
        var index = attempts.startIndex
        if attempts.first?.number != number { index = position(of: number) }
        guard index < attempts.endIndex, attempts[index].number == number else { return }
        attempts[index].count -= 1
        if attempts[index].count == 0 { emptyCounts += 1 }
        while attempts.first?.count == 0 {
            _ = attempts.popFirst()
            emptyCounts -= 1
        }
        if emptyCounts > attempts.count / 2 + 16 {
            attempts = ArraySlice(attempts.filter { $0.count > 0 })
            emptyCounts = 0
        }
        if attempts.isEmpty { attempts.removeAll(keepingCapacity: true) }
    }

    /// Returns the index of the first entry whose response number is at least `number`.
    private func position(of number: Int) -> Int {
        var (low, high) = (attempts.startIndex, attempts.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if attempts[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

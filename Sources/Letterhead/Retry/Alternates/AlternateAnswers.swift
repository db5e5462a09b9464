/// The last answer to each alternate request, kept as long as an attempt is under way that began before the answer.
///
/// Asked under a lock. What it drops is returned, so that the caller releases it after the lock.
struct AlternateAnswers {
    typealias Key = AlternateFlights.Key
    typealias Answer = AlternateFlights.Answer

    /// When an attempt began: after so many answers.
    struct Mark {
        fileprivate let number: Int
    }

    private var answers: [Key: (number: Int, answer: Answer)] = [:]
    /// The keys in the order of their answers, those included that were answered again since.
    private var order: ArraySlice<(number: Int, key: Key)> = []
    /// How many attempts began after so many answers, in order.
    private var attempts: ArraySlice<(number: Int, count: Int)> = []
    /// How many of these counts are zero.
    private var emptyCounts = 0
    private var lastNumber = 0
    /// Attempts that began before it get nothing.
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

    /// The last answer since an attempt began; nil when there was none.
    func lastAnswer(to key: Key, since mark: Mark) -> Answer? {
        guard mark.number >= firstNumber, let (number, answer) = answers[key], number > mark.number else { return nil }
        return answer
    }

    /// Keeps an answer in place of an earlier one, when there is an attempt that may need it.
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

    /// Ends an attempt, and drops the answers that it was the last to need.
    mutating func end(_ mark: Mark) -> [Answer] {
        leave(mark)
        var dropped: [Answer] = []
        while let (number, key) = order.first, attempts.first.map({ number <= $0.number }) ?? true {
            _ = order.popFirst()
            if answers[key]?.number == number, let answer = answers.removeValue(forKey: key)?.answer {
                dropped.append(answer)
            }
        }
        return dropped
    }

    /// Drops everything; attempts that began before get none of the answers to come.
    mutating func forget() -> [Answer] {
        let dropped = answers.values.map(\.answer)
        (answers, order) = ([:], [])
        lastNumber += 1
        firstNumber = lastNumber
        return dropped
    }

    private mutating func leave(_ mark: Mark) {
        // The oldest attempts end first, most of the time.
        var index = attempts.startIndex
        if attempts.first?.number != mark.number { index = position(of: mark.number) }
        guard index < attempts.endIndex, attempts[index].number == mark.number else { return }
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

    /// Where the first attempts are that began after so many answers or more.
    private func position(of number: Int) -> Int {
        var (low, high) = (attempts.startIndex, attempts.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if attempts[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

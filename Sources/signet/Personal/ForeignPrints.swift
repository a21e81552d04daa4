internal import SignetPolicy

/// What is said to whoever has just approved a set, of the foreign prints beside it.
enum ForeignPrints {
    static func text(_ count: Int, atLeast: Bool) -> String {
        switch count {
        case ...0: ""
        case 1 where !atLeast: "The reader's memory also holds a foreign print; it matches for nobody here.\n"
        default:
            "The reader's memory also holds \(words(count, atLeast: atLeast)); they match for nobody here.\n"
        }
    }

    /// "3 foreign prints"; "at least 255 foreign prints" where nobody knows how many more.
    static func words(_ count: Int, atLeast: Bool) -> String {
        "\(atLeast ? "at least " : "")\(count) foreign \(count == 1 ? "print" : "prints")"
    }

    /// What a user's counters know of them, which count no further than `Attempts.foreignPrintsLimit`.
    static func words(counted count: Int) -> String { words(count, atLeast: count >= Attempts.foreignPrintsLimit) }
}

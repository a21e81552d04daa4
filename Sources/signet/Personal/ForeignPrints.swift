/// What is said to whoever has just approved a set, of the foreign prints beside it.
enum ForeignPrints {
    static func text(_ count: Int) -> String {
        switch count {
        case ...0: ""
        case 1: "The reader's memory also holds a foreign print; it matches for nobody here.\n"
        default: "The reader's memory also holds \(count) foreign prints; they match for nobody here.\n"
        }
    }
}

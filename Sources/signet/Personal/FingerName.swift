internal import SignetPolicy

extension Finger {
    /// The name as one argument: "right-index".
    var argument: String { name.split(separator: " ").joined(separator: "-") }

    /// Reads "right index", "right-index" or fprintd's "right-index-finger", in any case.
    init(argument words: [String]) throws(Failure) {
        let typed = words.joined(separator: "-").lowercased()
        var parts = typed.split { $0 == "-" || $0 == "_" || $0 == " " }.map(String.init)
        if parts.last == "finger" { parts.removeLast() }
        guard let finger = Finger.all.first(where: { $0.name == parts.joined(separator: " ") }) else {
            let names = Finger.all.map(\.argument)
            let near = Parser.nearest(to: typed, among: names)
            throw Failure(
                .usage, "\"\(Output.name(typed))\" is no finger",
                hint: near.map { "did you mean \"\($0)\"?" }
                    ?? "left or right, then thumb, index, middle, ring or little: \"right-index\"")
        }
        self = finger
    }
}

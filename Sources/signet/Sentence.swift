internal import SignetPolicy

/// What people read at the terminal.
enum Sentence {
    static func text(of prompt: Prompt) -> String { "\(prompt): " }
    static func text(of notice: Notice) -> String { "\(notice)" }
}

internal import SignetPolicy

/// Who asks, whom, and by which reader: what prompts and sentences name.
///
/// Names come from outside and are shown as `UTF8Text.printable` makes them.
package struct Asked: Equatable, Sendable {
    /// The user whose PIN or finger is asked for.
    package var user: [UInt8]
    /// PAM's name of the program; "signet" for the command line, whose prompts say what they are for by themselves.
    package var service: [UInt8]
    /// What a reader that is not the shipped helper's is called: whoever is asked to touch it is told.
    package var readerName: String?
    /// Who holds the reader: "sudo on pts/3"; nil where nobody knows.
    package var holder: [UInt8]?

    package init(user: [UInt8], service: [UInt8] = Asked.commandLine, readerName: String? = nil, holder: [UInt8]? = nil)
    {
        self.user = user
        self.service = service
        self.readerName = readerName
        self.holder = holder
    }

    package static var commandLine: [UInt8] { Array("signet".utf8) }

    /// "[sudo: alice] ", short enough to leave room for the question on a line of 80 columns.
    var prefix: String {
        guard service != Asked.commandLine else { return "" }
        let program = service.isEmpty ? "" : UTF8Text.printable(service, limit: 16) + ": "
        return "[\(program)\(UTF8Text.printable(user, limit: 32))] "
    }

    /// Before the words that ask for a touch: "(stand-in reader) ".
    var remark: String { readerName.map { "(\($0)) " } ?? "" }

    /// The sentence of a busy reader: "The reader is in use by sudo on pts/3.".
    var busyReader: String {
        holder.map { "The reader is in use by \(UTF8Text.printable($0, limit: 40))." } ?? ReaderProblem.busy.sentence
    }
}

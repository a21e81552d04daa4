internal import SignetEngine
internal import SignetPlatform

/// The journal of the command line: one line an event, in the log that only administrators read.
struct CommandJournal: Journal, ~Copyable {
    private let target: TargetUser

    init(_ target: TargetUser) { self.target = target }

    mutating func record(_ event: JournalEvent) {
        // Events hold no secret: counters, reasons and names of fingers are all there is to them.
        let who = target.byAdministrator ? "administrator" : "user"
        let line = Output.text(Array("user=\(target.text) by=\(who) event=\(event)".utf8))
        SystemLog.send(Array(line.utf8), severity: .info, identifier: "signet")
    }
}

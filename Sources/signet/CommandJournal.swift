internal import CPlatform
internal import SignetEngine

/// The journal of the command line: one line an event, in the log that only administrators read.
struct CommandJournal: Journal, ~Copyable {
    private let target: TargetUser

    init(_ target: TargetUser) { self.target = target }

    mutating func record(_ event: JournalEvent) {
        // Events hold no secret: counters, reasons and names of fingers are all there is to them.
        let who = target.byAdministrator ? "administrator" : "user"
        let line = Output.text(Array("signet: user=\(target.text) by=\(who) event=\(event)".utf8))
        // SAFETY: the line is passed as a C string for the time of the call.
        unsafe signet_syslog(LOG_AUTHPRIV | LOG_INFO, line)
    }
}

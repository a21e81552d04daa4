import Glibc
import Testing

/// fprintd itself, with libfprint's virtual reader, on a system bus of this world's own.
///
/// It listens at the reader's socket only while somebody enrols, so that Signet's helper can have it at other times.
final class Fprintd {
    private static let programs = [
        "/usr/bin/dbus-daemon", "/usr/bin/dbus-send", "/usr/libexec/fprintd", "/usr/lib/polkit-1/polkitd",
        "/usr/bin/fprintd-enroll",
    ]

    /// Whether all of it is installed.
    static let isInstalled = programs.allSatisfy { access($0, X_OK) == 0 }

    /// Where it keeps prints.
    static let store = "/var/lib/fprint"

    /// The bus, and polkit, which lets root do all; they end with the world.
    nonisolated(unsafe) private static let bus: Result<[Child], HarnessError> = {
        do {
            mkdir("/run/dbus", 0o755)
            let daemon = try Child(["dbus-daemon", "--system", "--nofork", "--nopidfile"], attachment: .pipes)
            let end = monotonicMilliseconds() + 10_000
            while access("/run/dbus/system_bus_socket", W_OK) != 0, monotonicMilliseconds() < end { usleep(5000) }
            let polkit = try Child(["/usr/lib/polkit-1/polkitd", "--no-debug"], attachment: .pipes)
            try wait(for: "org.freedesktop.PolicyKit1", toBeThere: true)
            return .success([daemon, polkit])
        } catch { return .failure(HarnessError("there is no bus: \(error)")) }
    }()

    private static let name = "net.reactivated.Fprint"
    private let daemon: Child
    private let reader: VirtualReader

    /// Starts it with this reader.
    init(_ reader: VirtualReader) throws {
        _ = try Fprintd.bus.get()
        try Fprintd.wait(for: Fprintd.name, toBeThere: false)
        // As its unit does (StateDirectory=fprint, StateDirectoryMode=0700).
        mkdir(Fprintd.store, 0o700)
        chmod(Fprintd.store, 0o700)
        var environment = Child.environment
        for (name, value) in reader.variables + [("STATE_DIRECTORY", Fprintd.store)] { environment[name] = value }
        daemon = try Child(["/usr/libexec/fprintd", "--no-timeout"], environment: environment, attachment: .pipes)
        self.reader = reader
        try Fprintd.wait(for: Fprintd.name, toBeThere: true)
    }

    private static func wait(for name: String, toBeThere: Bool) throws {
        let end = monotonicMilliseconds() + 10_000
        let words = [
            "dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/",
            "org.freedesktop.DBus.GetNameOwner", "string:\(name)",
        ]
        while try (Command.run(words).code == 0) != toBeThere {
            guard monotonicMilliseconds() < end else {
                throw HarnessError("\(name) is \(toBeThere ? "not" : "still") on the bus")
            }
            usleep(10_000)
        }
    }

    /// Enrols a finger as the desktop's settings do.
    ///
    /// On a reader that identifies, fprintd looks first whether it knows the finger, which is a sixth stage.
    func enroll(
        _ finger: String, as name: String = "right-index-finger", for user: User, stages: Int = 5
    ) throws {
        reader.forget()
        let terminal = try Terminal(["fprintd-enroll", "-f", name, user.name])
        try terminal.waitFor("Enrolling \(name)")
        try reader.enrol(finger, stages: stages)
        try terminal.waitFor("enroll-completed")
        let code = try terminal.finish()
        guard code == 0 else { throw HarnessError("fprintd-enroll ended with \(code):\n\(terminal.transcript)") }
    }

    /// Has it compare a finger, as a screen lock does.
    func verify(_ finger: String, for user: User) throws {
        reader.forget()
        let terminal = try Terminal(["fprintd-verify", user.name])
        try terminal.waitFor("Verify started!")
        try reader.scan(finger)
        try terminal.waitFor("verify-match")
        _ = try terminal.finish()
    }

    /// Deletes one, as they do.
    func delete(_ name: String, for user: User) throws {
        try Command.must("fprintd-delete", user.name, "-f", name)
    }

    /// The file of a finger by its number in hexadecimal.
    static func file(_ digit: String, of user: User) -> String { "\(store)/\(user.name)/virtual_device/0/\(digit)" }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where fprintd, its bus or polkit are not installed.
    static var withFprintd: Self { .enabled(if: Fprintd.isInstalled, "fprintd, dbus or polkit are not installed") }
}

import CTerminal
import Glibc

/// A reader that does not exist: what makes libfprint in the sensor helper see one.
protocol StandInReader {
    /// The variables with which libfprint, or the recording's replay, runs.
    var variables: [(name: String, value: String)] { get }
    /// Where the reader's files lie.
    var folder: String { get }
}

extension StandInReader {
    /// Writes the root-owned program that the configuration's `sensor_helper` may name, and answers its path.
    ///
    /// It sets the variables, becomes the real helper, and passes on its arguments.
    func wrapper(around helper: String = "/usr/libexec/signet/signet-sensor --allow-virtual") throws -> String {
        let path = folder + "/sensor"
        let exports = variables.map { "export \($0.name)='\($0.value)'" }.joined(separator: "\n")
        try File.write("#!/bin/sh\n\(exports)\nexec \(helper) \"$@\"\n", to: path, mode: 0o755)
        return path
    }

    /// Runs `body` while Signet's configuration names this reader, with further `key = value` lines.
    func configured<Result>(_ lines: String..., body: () throws -> Result) throws -> Result {
        let text = (["sensor_helper = \(try wrapper())"] + lines).joined(separator: "\n") + "\n"
        return try File.replaced("/etc/security/signet.conf", with: text, body)
    }
}

/// libfprint's virtual reader, which does what this tells it through a socket.
///
/// The socket is there only while a program has the reader open, so each command waits for it. libfprint reads one command a
/// connection, without a line's end; a scan that comes before the program asks for one is lost where another operation runs.
final class VirtualReader: StandInReader {
    enum Kind: String {
        /// Keeps prints on the host, verifies only.
        case plain = "FP_VIRTUAL_DEVICE"
        /// Keeps prints on its chip; identifies, lists, deletes, sees duplicates.
        case storage = "FP_VIRTUAL_DEVICE_STORAGE"
        /// The same without the list.
        case storageWithoutList = "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST"
    }

    /// Reasons for another try, numbered as FpDeviceRetry in libfprint's fp-device.h.
    enum Retry: Int { case general = 0, tooShort, centreFinger, removeFinger, tooFast }

    let folder: String
    private let kind: Kind

    init(_ kind: Kind = .plain) throws {
        self.kind = kind
        folder = try World.scratchFolder()
    }

    var socket: String { folder + "/reader" }
    var variables: [(name: String, value: String)] { [(kind.rawValue, socket)] }

    /// Sends a command as libfprint's virtual drivers know it; answers what they say, which is nothing but for `LIST`.
    @discardableResult
    func send(_ command: String, within seconds: Double = 10) throws -> String {
        var answer = [CChar](repeating: 0, count: 4096)
        let length = signet_ask_socket(socket, command, CInt(seconds * 1000), &answer, answer.count)
        guard length >= 0 else { throw HarnessError("the reader did not take “\(command)” (errno \(-length))") }
        return String(decoding: answer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Lays the finger with this identity on the reader.
    func scan(_ finger: String) throws { try send("SCAN \(finger)") }

    /// Lays it on as often as an enrolment of five stages asks.
    func enrol(_ finger: String, stages: Int = 5) throws { for _ in 0..<stages { try scan(finger) } }

    /// Lets the scan fail with a reason for another try.
    func retry(_ reason: Retry) throws { try send("RETRY \(reason.rawValue)") }

    /// Lets the operation fail with an FpDeviceError.
    func fail(error number: Int) throws { try send("ERROR \(number)") }

    /// Lets a finger lie on the reader without being read, or lifts it.
    func lay(finger lies: Bool) throws { try send("FINGER \(lies ? 1 : 0)") }

    /// Makes the next command wait for a program that opens the reader anew, though the last one still has it open.
    func forget() { unlink(socket) }

    /// Takes the reader away.
    func unplug() throws { try send("UNPLUG") }

    /// Puts a print on the chip, or takes it off, behind everybody's back; storage kinds only.
    func insert(_ finger: String) throws { try send("INSERT \(finger)") }
    func remove(_ finger: String) throws { try send("REMOVE \(finger)") }

    /// Lets a list, delete or close go on at once, where it would wait half a second.
    func proceed() throws { try send("CONT ") }

    /// What the chip holds.
    func list() throws -> [String] { try send("LIST").split(separator: "\n").map(String.init) }
}

/// The recorded traffic of a real reader, replayed under the real driver.
///
/// umockdev-run closes descriptors and forks, so it does not run the helper: it keeps one testbed alive, whose variables the
/// wrapper gives the helper.
final class RecordedReader: StandInReader {
    let folder: String
    private(set) var variables: [(name: String, value: String)] = []
    private let testbed: Child

    /// The recordings' folder, or nil where it is not there.
    static let recordings: String? = {
        let path =
            getenv("SIGNET_RECORDINGS").map { String(cString: $0) } ?? World.packageRoot + "/../shared/recordings"
        return access(path, R_OK) == 0 ? path : nil
    }()

    /// Whether recordings can be replayed here.
    static let canReplay = recordings != nil && access("/usr/bin/umockdev-run", X_OK) == 0

    /// What scripts/fetch-recordings gets, and whether this one of it is there.
    static let fetched = World.packageRoot + "/.build-recordings/libfprint"
    static func hasFetched(_ name: String) -> Bool {
        canReplay && access("\(fetched)/\(name)/capture.ioctl", R_OK) == 0
    }

    /// Starts the replay of an ioctl recording, such as `aes3500`; `edited` may put the device elsewhere under /sys.
    init(_ name: String, edited edit: (String) -> String = { $0 }) throws {
        guard let recordings = RecordedReader.recordings else { throw HarnessError("there are no recordings") }
        folder = try World.scratchFolder()
        let isBeside = access("\(recordings)/\(name)", R_OK) == 0
        let source = "\(isBeside ? recordings : RecordedReader.fetched)/\(name)"
        guard let line = try File.read("\(source)/capture.ioctl").split(separator: "\n").first,
            line.hasPrefix("@DEV ")
        else { throw HarnessError("\(name) is no ioctl recording") }
        let device = "\(folder)/device"
        try File.write(edit(try File.read("\(source)/device")), to: device, mode: 0o644)
        var environment = Child.environment
        environment["TMPDIR"] = folder
        let tell =
            "printf '%s\\n' \"$UMOCKDEV_DIR\" \"$LD_PRELOAD\" > \(folder)/new && mv \(folder)/new \(folder)/testbed"
        testbed = try Child(
            [
                "umockdev-run", "-d", device, "-i", "\(line.dropFirst(5))=\(source)/capture.ioctl", "--",
                "sh", "-c", "\(tell) && exec sleep infinity",
            ], environment: environment, attachment: .pipes)
        let end = monotonicMilliseconds() + 10_000
        while access("\(folder)/testbed", R_OK) != 0 {
            guard monotonicMilliseconds() < end, try testbed.wait(within: 5) == nil else {
                throw HarnessError("umockdev-run did not start")
            }
        }
        let values = try File.read("\(folder)/testbed").split(separator: "\n").map(String.init)
        guard values.count == 2 else { throw HarnessError("umockdev-run set no variables") }
        variables = [("UMOCKDEV_DIR", values[0]), ("LD_PRELOAD", values[1])]
        // libfprint's elan leaves out what its recording does not have.
        if !isBeside { variables.append(("FP_DEVICE_EMULATION", "1")) }
    }

    deinit {
        // umockdev-run passes SIGTERM on and takes its testbed down; SIGKILL would leave the program behind.
        kill(testbed.process, SIGTERM)
        _ = try? testbed.wait(within: 5000)
    }
}

import Foundation

/// A chip that keeps prints, with the recorded traffic of a real one: a testbed for each helper, in the order of the steps.
///
/// The replay compares every byte, so each helper finds a reader that expects just what this helper is there for.
final class RecordedChip: StandInReader {
    let folder: String
    let variables: [(name: String, value: String)] = []
    private var testbeds: [Child] = []

    /// Why chips cannot be replayed here, or nil.
    static let canReplay =
        RecordedReader.canReplay && access("/usr/bin/python3", X_OK) == 0
        && access((RecordedReader.recordings ?? "") + "/elanmoc/custom.pcapng", R_OK) == 0

    /// What scripts/fetch-recordings gets.
    private static let fetched = World.packageRoot + "/.build-recordings/libfprint"
    static let hasFetched = canReplay && access(fetched + "/goodixmoc/custom.pcapng", R_OK) == 0

    /// `steps` are those of Tests/Tools/chiprecording.py; `user` has six letters.
    init(_ name: String, user: String, steps: [String]) throws {
        guard let recordings = RecordedReader.recordings else { throw HarnessError("there are no recordings") }
        folder = try World.scratchFolder()
        let isBeside = access("\(recordings)/\(name)", R_OK) == 0
        let source = "\(isBeside ? recordings : RecordedChip.fetched)/\(name)"
        guard let path = try File.read("\(source)/device").split(separator: "\n").first?.dropFirst(3) else {
            throw HarnessError("\(name) names no device")
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd"
        let day = formatter.string(from: Date())
        for (number, step) in steps.enumerated() {
            let traffic = "\(folder)/\(number).pcapng"
            try Command.must(
                "python3", "\(World.packageRoot)/Tests/Tools/chiprecording.py", source, name, step, user, day, traffic)
            var environment = Child.environment
            environment["TMPDIR"] = folder
            let file = "\(folder)/\(number).variables"
            let tell =
                "env | grep -E '^(UMOCKDEV_|LD_PRELOAD)' | sed 's/^/export /' > \(file).new && mv \(file).new \(file)"
            let testbed = try Child(
                [
                    "umockdev-run", "-d", "\(source)/device", "-p", "/sys\(path)=\(traffic)", "--", "sh", "-c",
                    "\(tell) && exec sleep infinity",
                ], environment: environment, attachment: .pipes)
            testbeds.append(testbed)
            let end = monotonicMilliseconds() + 10_000
            while access(file, R_OK) != 0 {
                guard monotonicMilliseconds() < end, try testbed.wait(within: 5) == nil else {
                    throw HarnessError("umockdev-run did not start")
                }
            }
        }
        try File.write("0", to: folder + "/next", mode: 0o600)
    }

    /// The helper's wrapper: each start takes the next testbed.
    func configured<Result>(body: () throws -> Result) throws -> Result {
        let script = """
            #!/bin/sh
            number=$(cat \(folder)/next)
            echo $((number + 1)) > \(folder)/next
            . \(folder)/$number.variables
            export FP_DEVICE_EMULATION=1
            exec \(SensorProcess.program) "$@"

            """
        try File.write(script, to: folder + "/sensor", mode: 0o755)
        // The firmware of the machines where they were recorded calls their ports removable.
        let text = "sensor_helper = \(folder)/sensor\nreaders = any\n"
        return try File.replaced("/etc/security/signet.conf", with: text, body)
    }

    /// How many helpers were started.
    var started: Int { get throws { Int(try File.read(folder + "/next").split(separator: "\n").first ?? "") ?? -1 } }

    deinit {
        for testbed in testbeds {
            kill(testbed.process, SIGTERM)
            _ = try? testbed.wait(within: 5000)
        }
    }
}

import Foundation
import Testing

extension SensorTests {
    /// What is left to whoever takes over a helper that has opened its reader.
    @Suite struct ConfinementTests {
        /// Runs the program that confines itself and tries everything; answers what it says and its exit code.
        private func probe(_ arguments: [String]) throws -> (said: String, code: Int32) {
            let build = ProcessInfo.processInfo.environment["SIGNET_BUILD"] ?? Stage.packageRoot + "/.build/debug"
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: build + "/confinement-probe")
            process.arguments = arguments
            process.standardOutput = output
            try process.run()
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (said, process.terminationStatus)
        }

        /// Catches a call that goes through although an intruder alone has a use for it, one that a driver needs and does
        /// not get, and either of them in the threads that ran before.
        @Test func nothingButTheReaderIsLeft() throws {
            let result = try probe([])
            #expect(result.said == "174 tried, 0 otherwise\n")
            #expect(result.code == 0)
        }

        /// Catches a helper that is safe by its filter only: on a kernel without one, user, capabilities, limits and the
        /// view of the file system are what is left.
        @Test func withoutAFilterTheRestHolds() throws {
            let result = try probe(["--unfiltered"])
            #expect(result.said == "144 tried, 0 otherwise\n")
            #expect(result.code == 0)
        }
    }
}

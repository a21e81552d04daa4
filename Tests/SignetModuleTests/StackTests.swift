import Foundation
import PAMShim
import Testing

/// The shipped module in a whole PAM stack of its own, read from a folder (`pam_start_confdir(3)`), without root.
///
/// Nobody has a record that an ordinary user's process could read, so every one of these ends in a refusal: what is tested is
/// that it is the right one, with the right questions, and that nothing is left behind.
@Suite(.enabled(if: Stack.isBuilt, "scripts/build module tools has not run")) struct StackTests {
    // Would catch a module that does not load, or that lets anybody in.
    @Test func someoneWithoutAPINIsRefusedWithoutAQuestion() throws {
        let answer = try Stack.run("auth required \(Stack.module)", user: "nobody", answers: ["1234"])
        #expect([PAM_AUTHINFO_UNAVAIL, PAM_SERVICE_ERR].contains(answer.code))
        #expect(answer.lines.filter { $0.hasPrefix("prompt: ") }.isEmpty)
        #expect(answer.left == "nothing")
    }

    // Would catch an unknown user who is told apart by a missing question, or by another one.
    @Test func anUnknownUserIsAskedLikeAnybody() throws {
        let answer = try Stack.run("auth required \(Stack.module)", user: "nobody-is-called-this", answers: ["1234"])
        #expect(answer.code == PAM_USER_UNKNOWN)
        #expect(answer.lines.filter { $0.hasPrefix("prompt: ") } == ["prompt: Password: "])
        #expect(answer.left == "nothing")
    }

    // Would catch a crash, a hang or a success where the program's conversation is broken.
    @Test(arguments: ["none", "failing", "null", "huge"]) func brokenConversationsRefuse(kind: String) throws {
        let answer = try Stack.run(
            "auth required \(Stack.module)", user: "nobody-is-called-this", options: ["--conversation", kind])
        #expect(answer.code != PAM_SUCCESS)
        #expect(answer.left == "nothing")
    }

    // Would catch an account check, which could block a user's key login over the network, and a wrong answer of setcred.
    @Test func thereIsNoAccountCheck() throws {
        let answer = try Stack.run(
            "auth required pam_permit.so\naccount required \(Stack.module)", user: "nobody", options: ["--account"])
        #expect(answer.code != PAM_SUCCESS)
    }

    // Would catch an argument of the service file that is read but has no effect: pin=no must not ask for a PIN.
    @Test func withoutAPINNothingIsAsked() throws {
        let answer = try Stack.run(
            "auth required \(Stack.module) pin=no", user: "nobody-is-called-this", answers: ["1234"])
        #expect(answer.code == PAM_USER_UNKNOWN)
        #expect(answer.lines.filter { $0.hasPrefix("prompt: ") }.isEmpty)
    }

    // Would catch a module that another one's success makes ineffective by PAM_IGNORE.
    @Test func aRefusalIsNeverIgnored() throws {
        let answer = try Stack.run(
            "auth required pam_permit.so\nauth [default=ignore ignore=ok user_unknown=bad] \(Stack.module)",
            user: "nobody-is-called-this", answers: ["x"])
        #expect(answer.code == PAM_USER_UNKNOWN)
    }

    // Would catch growth or a crash at the second load: a hundred handles in one process, each of which loads the module.
    @Test func aHundredTransactionsInOneProcess() throws {
        let answer = try Stack.run(
            "auth required \(Stack.module)", user: "nobody-is-called-this",
            answers: [String](repeating: "1234", count: 100), options: ["--rounds", "100"])
        #expect(answer.rounds == [String](repeating: "nothing", count: 100))
    }
}

/// Runs `pamhost` as nobody on a service file of its own.
enum Stack {
    static var root: String {
        let file = URL(fileURLWithPath: #filePath)
        return file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }
    static var module: String { root + "/.build-stage/pam_signet.so" }
    static var host: String { root + "/.build-stage/tools/pamhost" }
    static var isBuilt: Bool {
        FileManager.default.fileExists(atPath: module) && FileManager.default.fileExists(atPath: host)
    }

    struct Answer {
        let code: CInt
        let left: String
        /// What each round left behind.
        let rounds: [String]
        let lines: [String]
    }

    /// A new folder with the service file `signet-test`, the module and `pamhost`; the caller's to remove.
    static func install(_ stack: String) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("signet-stack-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        // The module is copied beside the service file, since an ordinary user may not see into the build folder.
        let here = folder.appendingPathComponent("pam_signet.so")
        try FileManager.default.copyItem(atPath: module, toPath: here.path)
        try FileManager.default.copyItem(atPath: host, toPath: folder.appendingPathComponent("pamhost").path)
        let text = stack.replacingOccurrences(of: module, with: here.path) + "\n"
        try text.write(to: folder.appendingPathComponent("signet-test"), atomically: true, encoding: .utf8)
        return folder
    }

    /// Before a command that is not to run as root.
    static var asNobody: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []
    }

    static func run(
        _ stack: String, user: String, answers: [String] = [], options: [String] = []
    ) throws -> Answer {
        let folder = try install(stack)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments =
            ["--wait"] + asNobody
            + [folder.appendingPathComponent("pamhost").path, "--folder", folder.path] + options + [
                "signet-test", user,
            ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data(answers.map { $0 + "\n" }.joined().utf8))
        try input.fileHandleForWriting.close()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()

        let lines = printed.split(separator: "\n").map(String.init)
        var codes: [CInt] = []
        var rounds: [String] = []
        for line in lines {
            guard let match = line.wholeMatch(of: /round \d+: code (\d+) \(.*\), left (\S+), .*/) else { continue }
            codes.append(CInt(match.1) ?? -1)
            rounds.append(String(match.2))
        }
        return Answer(code: try #require(codes.last), left: try #require(rounds.last), rounds: rounds, lines: lines)
    }
}

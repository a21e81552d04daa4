import Testing

@testable import SignetRecords

@Suite struct PAMStackTests {
    private func parse(_ text: String) throws -> PAMFile { try PAMFile(parsing: Array(text.utf8)) }

    private func calls(_ text: String) throws -> [PAMModuleLine] {
        try parse(text).statements.compactMap { if case .module(let call) = $0.directive { call } else { nil } }
    }

    private func words(_ call: PAMModuleLine?) -> [String] {
        (call?.arguments ?? []).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Would catch a field taken for its neighbour, or a type read in one case only.
    @Test func readsTheFieldsOfALine() throws {
        let call = try #require(try calls("-AUTH  Required\t/lib/security/pam_unix.so nullok  try_first_pass\n").first)
        #expect(call.type == .auth)
        #expect(call.quiet)
        #expect(call.control[.success] == .ok)
        #expect(call.control[.authenticationError] == .bad)
        #expect(call.name.isText("pam_unix.so"))
        #expect(words(call) == ["nullok", "try_first_pass"])
    }

    /// Would catch a control word that stands for other actions than pam.conf(5) gives.
    @Test(arguments: [
        ("required", PAMAction.ok, PAMAction.bad, PAMAction.ignore),
        ("requisite", .ok, .die, .ignore),
        ("sufficient", .done, .ignore, .ignore),
        ("optional", .ok, .ignore, .ignore),
        ("[success=ok default=die]", .ok, .die, .die),
        ("[default=die success=2 ignore=ignore]", .jump(2), .die, .ignore),
        ("[success=done]", .done, .bad, .bad),
        ("[auth_err=reset default=ok]", .ok, .reset, .ok),
    ])
    func readsControls(_ text: String, success: PAMAction, refusal: PAMAction, ignore: PAMAction) throws {
        let control = try #require(PAMControl(Array(text.utf8)))
        #expect(control[.success] == success)
        #expect(control[.authenticationError] == refusal)
        #expect(control[.ignore] == ignore)
    }

    /// Would catch a control that libpam reads as "all bad", or not at all, being taken for something that grants.
    @Test(arguments: [
        "[]", "[success]", "[success=0 default=die]", "[success=yes]", "[sucess=ok default=die]", "[success=-1]",
        "[Success=ok]", "needed", "[success=ok=ok]", "[success=9999]",
    ])
    func refusesControls(_ text: String) { #expect(PAMControl(Array(text.utf8)) == nil) }

    /// Would catch a number that does not belong to the name: `default` filling the wrong answer.
    @Test func numbersAreThoseOfLinuxPAM() {
        #expect(PAMCode.names.count == 32)
        for (code, name) in [
            (PAMCode.success, "success"), (.serviceError, "service_err"), (.permissionDenied, "perm_denied"),
            (.authenticationError, "auth_err"), (.authenticationInformationUnavailable, "authinfo_unavail"),
            (.userUnknown, "user_unknown"), (.maximumTries, "maxtries"), (.newTokenRequired, "new_authtok_reqd"),
            (.ignore, "ignore"), (.moduleUnknown, "module_unknown"),
        ] { #expect(code.name == name) }
    }

    /// Would catch a line hidden from the review by a comment or a backslash, or one that is read though it is commented out.
    @Test func joinsLinesAndDropsComments() throws {
        let text = """
            # auth sufficient pam_permit.so
            auth \\
              required \\
              pam_unix.so nullok # auth sufficient pam_permit.so \\
            auth required pam_deny.so
            """
        let file = try parse(text)
        let found = try calls(text)
        #expect(found.map { String(decoding: $0.name, as: UTF8.self) } == ["pam_unix.so", "pam_deny.so"])
        #expect(words(found.first) == ["nullok"])
        #expect(file.statements.map(\.line) == [1, 2, 5])
        #expect(Array(file.statements.map(\.text).joined()) == Array(text.utf8))
    }

    /// Would catch an argument in brackets that falls apart, or one that swallows the rest of the line.
    @Test func keepsBracketedArguments() throws {
        let call = try calls("auth required pam_pgsql.so [query=select a\\]b from c] next\n").first
        #expect(words(call) == ["query=select a]b from c", "next"])
    }

    /// Would catch an include taken for a module, whose lines then escape the review.
    @Test func readsIncludes() throws {
        let directives = try parse("@include common-auth\nauth include su\nauth substack system-auth\n").statements
            .map(\.directive)
        #expect(
            directives == [
                .includeAll(name: Array("common-auth".utf8)), .include(.auth, name: Array("su".utf8)),
                .substack(.auth, name: Array("system-auth".utf8)),
            ])
    }

    /// Would catch a line that libpam cannot read being passed over in silence.
    @Test(arguments: [
        ("auth required pam_a.so\noauth required pam_b.so\n", PAMFileFault.Reason.unknownType, 2),
        ("auth\n", .controlMissing, 1),
        ("auth must pam_a.so\n", .unknownControl, 1),
        ("auth [success=ok pam_a.so\n", .bracketOpen, 1),
        ("auth required\n", .moduleMissing, 1),
        ("@include\n", .nameMissing, 1),
        ("auth include\n", .nameMissing, 1),
        ("auth required pam_a.so\r\n", .notText, 1),
        ("auth required pam_\u{0}.so\n", .notText, 1),
    ])
    func refusesLines(_ text: String, reason: PAMFileFault.Reason, line: Int) {
        #expect(throws: PAMFileFault(reason: reason, line: line)) { try parse(text) }
    }

    /// Would catch a bound that is not held: a file that keeps the reader busy.
    @Test func holdsItsBounds() {
        #expect(throws: PAMFileFault(reason: .tooLarge, line: 1)) {
            try parse(String(repeating: "#", count: PAMFile.byteLimit + 1))
        }
        #expect(throws: PAMFileFault(reason: .tooManyArguments, line: 1)) {
            try parse("auth required pam_a.so" + String(repeating: " x", count: PAMFile.argumentLimit + 1))
        }
    }

    /// Would catch a trap in the reader: any bytes are either read whole or refused.
    @Test func survivesAnyBytes() {
        var seed: UInt64 = 0x5349_474E_4554
        let alphabet = Array("auth []=\\#\n\t-@include success1 \u{0}\u{7f}/.".utf8)
        for _ in 0..<4000 {
            var bytes: [UInt8] = []
            for _ in 0..<48 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(alphabet[Int(seed >> 33) % alphabet.count])
            }
            if let file = try? PAMFile(parsing: bytes) { #expect(Array(file.statements.map(\.text).joined()) == bytes) }
        }
    }
}

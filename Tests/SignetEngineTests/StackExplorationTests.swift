import Testing

@testable import SignetEngine
@testable import SignetRecords

/// The walk against libpam's own rules: each row is a stack, what its modules answer in turn, and libpam's answer.
@Suite struct StackExplorationTests {
    private func stack(_ text: String, inner: String = "") throws -> AuthenticationStack {
        let files = ServiceFiles(files: ["s": text, "inner": inner])
        return try AuthenticationStack(service: Array("s".utf8), read: files.read)
    }

    /// `yes` and `no` by the module's name: pam_y… succeeds, pam_n… refuses, pam_i… answers "ignore".
    private func succeeds(_ stack: AuthenticationStack) -> Bool {
        StackExploration(stack) { place in
            switch stack.modules[place].call.name.dropFirst(4).first {
            case UInt8(ascii: "y"): [.success]
            case UInt8(ascii: "i"): [.ignore]
            default: [.authenticationError]
            }
        }.success != nil
    }

    /// Would catch an action that the walk takes differently from libpam, so that a bypass looks closed.
    @Test(arguments: [
        ("auth required pam_y.so", true),
        ("auth required pam_n.so\nauth required pam_y.so", false),
        ("auth requisite pam_n.so\nauth sufficient pam_y.so", false),
        ("auth sufficient pam_y.so\nauth required pam_n.so", true),
        ("auth required pam_n.so\nauth sufficient pam_y.so", false),
        ("auth sufficient pam_n.so\nauth required pam_y.so", true),
        ("auth sufficient pam_n.so", false),
        ("auth optional pam_n.so", false),
        ("auth optional pam_y.so", true),
        ("auth required pam_i.so", false),
        ("auth required pam_i.so\nauth required pam_y.so", true),
        ("auth [success=1 default=ignore] pam_y.so\nauth requisite pam_n.so\nauth required pam_yes.so", true),
        ("auth [success=1 default=ignore] pam_n.so\nauth requisite pam_n2.so\nauth required pam_yes.so", false),
        // A jump alone says neither yes nor no; at the end of the stack that is a no.
        ("auth [success=1 default=ignore] pam_y.so\nauth requisite pam_n.so", false),
        // Too far a jump refuses.
        ("auth required pam_y.so\nauth [success=3 default=ignore] pam_y.so\nauth optional pam_y.so", false),
        ("auth required pam_n.so\nauth [success=reset default=die] pam_y.so\nauth required pam_y.so", true),
        ("auth [default=bad] pam_n.so\nauth [success=done default=die] pam_y.so\nauth optional pam_y.so", false),
        ("auth [default=done] pam_n.so\nauth required pam_y.so", false),
        ("auth [default=ok] pam_n.so\nauth required pam_y.so", false),
        ("auth [default=ignore] pam_n.so\nauth required pam_y.so", true),
    ])
    func answersAsLibpam(_ text: String, expected: Bool) throws {
        #expect(succeeds(try stack(text)) == expected)
    }

    /// Would catch a substack that ends the whole stack, or that counts as more than one module under a jump.
    @Test(arguments: [
        ("auth substack inner\nauth required pam_n.so", "auth sufficient pam_y.so\nauth required pam_n.so", false),
        ("auth include inner\nauth required pam_n.so", "auth sufficient pam_y.so\nauth required pam_n.so", true),
        ("auth substack inner\nauth required pam_y.so", "auth requisite pam_n.so\nauth required pam_y.so", false),
        (
            "auth [success=1 default=ignore] pam_y.so\nauth substack inner\nauth required pam_y.so",
            "auth requisite pam_n.so\nauth requisite pam_n.so", true
        ),
        (
            "auth [success=1 default=ignore] pam_y.so\nauth include inner\nauth required pam_y.so",
            "auth requisite pam_n.so\nauth requisite pam_n.so", false
        ),
        (
            "auth [success=2 default=ignore] pam_y.so\nauth substack inner\nauth substack inner\nauth required pam_y.so",
            "auth requisite pam_n.so", true
        ),
        ("auth required pam_y.so\nauth substack inner", "auth required pam_n.so\nauth [default=reset] pam_y.so", true),
    ])
    func answersAsLibpamInSubstacks(_ text: String, _ inner: String, expected: Bool) throws {
        #expect(succeeds(try stack(text, inner: inner)) == expected)
    }

    /// Would catch a walk that goes round for ever, or a circle of includes that does.
    @Test func endsOnCirclesAndLongStacks() throws {
        let circle = ServiceFiles(files: ["s": "auth include s\n"])
        #expect(throws: StackFault.tooDeep(file: Array("s".utf8))) {
            try AuthenticationStack(service: Array("s".utf8), read: circle.read)
        }
        let long = String(repeating: "auth [success=1 auth_err=2 default=reset] pam_x.so\n", count: 128)
        let all = StackExploration(try stack(long)) { _ in [.success, .authenticationError, .ignore] }
        #expect(all.visited.count == 128)
        let tooLong = String(repeating: "auth required pam_x.so\n", count: 129)
        #expect(throws: StackFault.tooLong(file: Array("s".utf8))) { try stack(tooLong) }
    }
}

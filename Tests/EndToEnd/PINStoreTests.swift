import Glibc
import Testing

/// A configuration that cannot be used, and disks that are full or may not be written.
@Suite(.serialized, .inWorld, .withProduct) struct PINStoreTests {
    private static let file = "/etc/security/signet.conf"

    // Would catch a configuration whose mistakes shut people out, or pass unnoticed (rule 11).
    @Test(arguments: [
        (nil as String?, 0o644 as mode_t, nil as String?),
        ("frobnicate = yes\n", 0o644, "line 1"),
        ("finger = maybe\n", 0o644, "line 1"),
        ("# fine\npin_limit = 99\n", 0o644, "line 2"),
        ("finger = yes\n", 0o666, "signet.conf"),
    ])
    func thePINWorksUnderAnyConfiguration(_ text: String?, _ mode: mode_t, _ cause: String?) throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let journal = try JournalListener()
            try File.replaced(Self.file, with: text, mode: mode) { () throws in
                #expect(try Sudo.answer(user, [Signet.wrongPIN(1), Signet.pin]).isGranted)
            }
            let told = journal.lines.filter { $0.contains("event=configuration_unusable") }
            #expect(told.isEmpty == (cause == nil))
            if let cause { #expect(told.allSatisfy { $0.contains(cause) }, "\(told)") }
        }
    }

    // Would catch an unusable configuration that loosens the limits.
    @Test func anUnusableConfigurationMeansTheStrictestLimits() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            try File.replaced(Self.file, with: "pin_limit = 10\nfrobnicate = yes\n") { () throws in
                #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
                #expect(try Sudo.answer(user, [4, 5].map(Signet.wrongPIN)).count(of: "Your PIN is disabled.") == 1)
            }
        }
    }

    // Would catch a full disk, or one without inodes, that shuts everybody out, or that stops the counting.
    @Test(arguments: [
        ("size=16m", "dd if=/dev/zero of=$S/ballast bs=64k 2> /dev/null || true; ! echo more >> $S/ballast2"),
        (
            "size=16m,nr_inodes=8000",
            "n=0; while true > $S/ballast$n; do n=$((n + 1)); done 2> /dev/null; ! mkdir $S/more"
        ),
    ])
    func aFullDiskStillAuthenticates(_ options: String, _ fill: String) throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            try onOtherDisk(options) {
                // With a record that a right PIN would replace, were there room.
                try Signet.setPINAsAdministrator(user)
                try Command.must("sh", "-uc", "S=\(Signet.store); (\(fill)) 2> /dev/null")
                #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
                #expect(try Signet.lockout(user).pinFailures == 3)
                #expect(try Sudo.accepts(user))
                #expect(try Signet.lockout(user).pinFailures == 0)
            }
        }
    }

    // Would catch guesses that are free because they cannot be written down.
    @Test func aReadOnlyDiskRefuses() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            try onOtherDisk("size=16m") {
                try Command.must("mount", "-o", "remount,ro", Signet.store)
                let journal = try JournalListener()
                let refused = try Sudo.answer(user, [])
                #expect(refused.isRefused && refused.count(of: "Signet cannot check this just now.") == 1, "\(refused)")
                #expect(refused.count(of: "PIN: ") == 0)
                try journal.waitFor("event=store_refused", "errno=\(EROFS)", "user=\(user.name)")
                #expect(try Sudo.answerOnPipes(user, [Signet.pin]).code == 1)
            }
            #expect(try Sudo.accepts(user))
        }
    }

    /// Runs `body` while the store lies on a disk of its own, which starts as a copy.
    private func onOtherDisk(_ options: String, _ body: () throws -> Void) throws {
        let script = """
            S=\(Signet.store) && mkdir -p /run/disk && mount -t tmpfs -o mode=700,\(options) signet-disk /run/disk \
            && cp -a $S/. /run/disk && mount --move /run/disk $S
            """
        try Command.must("sh", "-euc", script)
        defer { _ = try? Command.must("umount", Signet.store) }
        try body()
    }
}

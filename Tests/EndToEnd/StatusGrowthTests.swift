import Testing

/// What `status --all` costs with many users, counted and not timed.
@Suite(.serialized, .inWorld, .withProduct) struct StatusGrowthTests {
    /// System calls of `status --all`, and how often /etc/passwd was opened.
    private func calls() throws -> (all: Int, accounts: Int) {
        let log = try World.scratchFolder() + "/calls"
        let result = try Command.run(["strace", "-f", "-qq", "-o", log, "signet", "status", "--all"], within: 60)
        #expect(result.error == "")
        let lines = try File.read(log).split(separator: "\n")
        return (lines.count, lines.count { $0.contains("\"/etc/passwd\"") })
    }

    // Would catch a cost that grows faster than the number of users: the accounts read anew for each, the store opened
    // for each, all the users looked at for each.
    @Test func eachUserCostsTheSame() throws {
        let model = try Signet.user()
        let accounts = try File.read("/etc/passwd")
        let lines = (1...240).map { "bench\($0):x:\(100_000 + $0):100:::/bin/sh\n" }.joined()
        try File.replaced("/etc/passwd", with: accounts + lines) {
            defer { _ = try? Command.must("sh", "-c", "rm -rf \(Signet.store)/users/100???") }
            var found: [(all: Int, accounts: Int)] = []
            for first in [1, 81, 161] {
                try Command.must(
                    World.packageRoot + "/.build/debug/bench-users", model.name, "\(model.uid)", "\(first)", "80")
                found.append(try calls())
            }
            #expect(Set(found.map(\.accounts)).count == 1)
            let (earlier, later) = (found[1].all - found[0].all, found[2].all - found[1].all)
            #expect(earlier >= 80)
            // The store is opened once more for some of them, by chance in one of the steps.
            #expect(Double(later) <= Double(earlier) * 1.15)
        }
    }
}

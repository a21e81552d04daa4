import SignetPlatform
import Testing

@testable import signet

@Suite struct TargetUserTests {
    private let accounts: [KnownAccount] = [("root", 0), ("alice", 1000), ("bob", 1001)].map {
        KnownAccount(uid: $0.1, name: Array($0.0.utf8))
    }

    private func resolve(
        _ option: String?, root: Bool = true, sudoUID: String? = nil, sudoUser: String? = nil
    ) -> Result<TargetUser, Failure> {
        let accounts = accounts
        let surroundings = Surroundings(
            effectiveUser: root ? 0 : 1000, realUser: root ? 0 : 1000, sudoUID: sudoUID, sudoUser: sudoUser,
            accountNamed: { (name) throws(AccountsUnreadable) in accounts.first { $0.name == name } },
            accountWithID: { (uid) throws(AccountsUnreadable) in accounts.first { $0.uid == uid } })
        do throws(Failure) { return .success(try TargetUser.resolve(option: option, surroundings)) } catch {
            return .failure(error)
        }
    }

    private func refused(_ result: Result<TargetUser, Failure>) -> ExitCode? {
        if case .failure(let failure) = result { failure.exit } else { nil }
    }

    /// Catches a command that goes on without root, or that says nothing of sudo.
    @Test func onlyRootMay() {
        let result = resolve(nil, root: false)
        #expect(
            result
                == .failure(
                    Failure(.notPermitted, "the store belongs to root", hint: "run it as \"sudo signet …\"")))
    }

    /// Catches a person who is taken for an administrator, or the other way round.
    @Test func whoeverCalledSudoIsMeant() throws {
        let own = try resolve(nil, sudoUID: "1000", sudoUser: "alice").get()
        #expect(own.uid == 1000 && own.text == "alice" && !own.byAdministrator && own.caller == .person)
        let named = try resolve("alice", sudoUID: "1000", sudoUser: "alice").get()
        #expect(!named.byAdministrator)
        let other = try resolve("bob", sudoUID: "1000", sudoUser: "alice").get()
        #expect(other.byAdministrator && other.caller == .anotherPerson)
        let byRoot = try resolve("bob").get()
        #expect(byRoot.byAdministrator && byRoot.caller == .person)
        #expect(try !resolve("root").get().byAdministrator)
    }

    /// Catches guesses about whom root means, and an environment that is believed where it contradicts itself.
    @Test func nobodyIsGuessed() {
        #expect(refused(resolve(nil)) == .usage)
        #expect(refused(resolve("mallory")) == .usage)
        #expect(refused(resolve(nil, sudoUID: "1000", sudoUser: "bob")) == .usage)
        #expect(refused(resolve(nil, sudoUID: "4711", sudoUser: "alice")) == .usage)
        for odd in ["", "-1", "1000x", "4294967296"] { #expect(refused(resolve(nil, sudoUID: odd)) == .usage) }
    }
}

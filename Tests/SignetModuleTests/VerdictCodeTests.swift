import PAMShim
import SignetEngine
import SignetModule
import SignetPolicy
import Testing

@Suite struct VerdictCodeTests {
    /// Catches a code that differs from the design's table; what sudo, su and login do depends on each.
    @Test(arguments: [
        (Refusal.authenticationFailed, PAM_AUTH_ERR, false),
        (.cancelled, PAM_AUTH_ERR, true),
        (.timedOut, PAM_AUTH_ERR, true),
        (.background, PAM_AUTH_ERR, true),
        (.pinNotSet, PAM_AUTHINFO_UNAVAIL, true),
        (.fingerPathClosed(.remote), PAM_AUTHINFO_UNAVAIL, true),
        (.pinLockout(.waiting(seconds: 60)), PAM_MAXTRIES, true),
        (.pinLockout(.disabled), PAM_MAXTRIES, true),
        (.pinLockout(.shareUsedUp), PAM_MAXTRIES, true),
        (.unknownUser, PAM_USER_UNKNOWN, false),
        (.recordUnusable, PAM_SERVICE_ERR, true),
    ])
    func refusalsHaveTheirCodes(refusal: Refusal, code: CInt, ends: Bool) {
        #expect(Verdict.refused(refusal).code == code)
        #expect(Verdict.refused(refusal).endsTransaction == ends)
        #expect(Verdict.refused(refusal).code != PAM_SUCCESS)
        #expect(Verdict.refused(refusal).code != PAM_IGNORE)
    }

    /// Catches a grant that is not PAM_SUCCESS; only the machine can make one.
    @Test func theMachinesGrantIsSuccess() {
        var machine = AuthenticationMachine(pinAllowed: true, fingerTries: 3, terminal: true)
        let facts = AuthenticationMachine.Facts(
            record: .usable, pin: .open(triesLeft: 5), recovery: nil, finger: .remote)
        var last = machine.handle(.facts(facts))
        for event in [AuthenticationEvent.answered, .charged, .matched, .settled] { last = machine.handle(event) }
        guard case .end(let verdict) = last.action else {
            Issue.record("not ended")
            return
        }
        #expect(verdict.code == PAM_SUCCESS)
        #expect(!verdict.endsTransaction)
    }
}

@Suite struct ModuleArgumentsTests {
    private func parse(_ words: String...) -> ModuleArguments { ModuleArguments(words.map { Array($0.utf8) }) }

    /// Catches a default that opens or closes a factor by itself.
    @Test func defaults() {
        let arguments = parse()
        #expect(arguments.fingerAllowed && arguments.pinAllowed && !arguments.debug && !arguments.conversationOnly)
        #expect(!arguments.shuffledKeypad)
        #expect(arguments.configuration == nil && arguments.unknown.isEmpty)
    }

    /// Catches an argument that is taken for another.
    @Test func eachArgument() {
        #expect(parse("finger=no").fingerAllowed == false)
        #expect(parse("pin=no").pinAllowed == false)
        #expect(parse("debug").debug)
        #expect(parse("prompt=conversation").conversationOnly)
        #expect(parse("prompt=conversation", "prompt=auto").conversationOnly == false)
        #expect(parse("keypad=shuffled").shuffledKeypad)
        #expect(parse("keypad=shuffled", "keypad=no").shuffledKeypad == false)
        #expect(parse("conf=/etc/x.conf").configuration == Array("/etc/x.conf".utf8))
    }

    /// Catches a list of the arguments, as "signet pam check" gives it to people, that the parser does not agree with.
    @Test func theListForPeopleIsWhatIsUnderstood() {
        let words = ModuleArguments.known.replacing(" and ", with: ", ").split(separator: ", ").map(String.init)
        #expect(words.count == 8)
        for word in words { #expect(parse(word.replacing("PATH", with: "/x")).unknown.isEmpty, "\(word)") }
    }

    /// Catches a mistake that is passed over in silence: a typo, a relative path, a value of another case.
    @Test(arguments: [
        "finger=off", "conf=", "conf=/", "conf=x", "PIN=no", "pin=no ", "", "nullok", "keypad", "keypad=yes", "prompt=",
    ])
    func whatIsNotKnownIsKept(word: String) {
        #expect(parse(word).unknown == [Array(word.utf8)])
        #expect(parse(word).fingerAllowed && parse(word).pinAllowed)
    }
}

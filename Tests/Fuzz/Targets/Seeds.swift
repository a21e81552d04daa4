import SignetPolicy
import SignetRecords

/// Valid inputs of each target, made by our own encoders from records that are nobody's, for the fuzzer to start from.
package enum Seeds {
    /// The seeds of a target; a decoder accepts each, so that a corpus which is no longer read shows.
    package static func of(_ target: String) throws -> [[UInt8]] {
        switch target {
        case "identity": try [identity(whole: true).encoded(), identity(whole: false).encoded()]
        case "prints": [try prints()]
        case "chips": [try chips().encoded()]
        case "attempts": try [attempts(whole: true).encoded(), attempts(whole: false).encoded()]
        case "header":
            try [(UInt8(1), "alice"), (5, "")].map { kind, name in
                try SealedHeader(kind: kind, uid: 1000, keyID: bytes(16), userName: Array(name.utf8)).encoded() + [
                    9, 9,
                ]
            }
        case "enclave-key": [try EnclaveKeyRecord(primaryName: bytes(34), masterKey: try object(false)).encoded()]
        case "enclave-state":
            try [
                EnclaveMigration(nil), EnclaveMigration(.init(id: bytes(16), direction: .toFile)),
                EnclaveMigration(.init(id: bytes(16), direction: .toTPM)),
            ].map { try $0.encoded() }
        case "template": templates
        case "sensor-request": try sensorRequests().map { try packet($0.encode) }
        case "sensor-event": try sensorEvents.map { try packet($0.encode) }
        case "enclave-request": try enclaveRequests().map { try packet($0.encode) }
        case "enclave-reply": try enclaveReplies().map { try packet($0.encode) }
        default: texts(target).map { Array($0.utf8) }
        }
    }

    private static func texts(_ target: String) -> [String] {
        switch target {
        case "configuration":
            [
                KeyDescription.all.map { "\($0.name) = \($0.defaultText)\n" }.joined(),
                "# finger\r\nfinger = no\r\npin_min_length = 8\n\ntpm = swtpm:path=/run/tpm\nreaders = any\n",
            ]
        case "pam-file":
            [
                "#%PAM-1.0\nauth [success=ok default=die] pam_signet.so keypad=shuffled\n@include common-account\n",
                "-session optional pam_systemd.so \\\n  debug # why\nauth\tsubstack system-auth\npassword include x\n",
                "auth sufficient /lib/security/pam_a.so [two \\] words] three\n",
            ]
        case "pam-control":
            ["required", "[success=2 new_authtok_reqd=done ignore=ignore user_unknown=reset default=die]"]
        case "fprintd-name": ["7", "a", "virtual_device", "FP1-0000-é"]
        case "keys":
            ["\u{0}123456\u{7F}\r", "\u{3}\u{1B}[200~12\u{1B}[201~\u{1B}OA\u{1B}]11;rgb:0/0/0\u{1B}\\é\u{1B}[I\r"]
        default: []
        }
    }

    private static func bytes(_ count: Int, from first: UInt8 = 1) -> [UInt8] {
        (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
    }

    /// What a seed cannot be made of; the tests show it.
    private struct Impossible: Error {}

    private static func some<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Impossible() }
        return value
    }

    private static let reader = ReaderIdentity(driver: Array("elan".utf8), device: Array("0".utf8))
    private static let digests = [UInt8(5), 6].compactMap { Digest(bytes(32, from: $0).span) }
    private static let instant = BootInstant(boot: BootIdentity(high: 1, low: 2), seconds: 99)

    private static func wrapped(_ first: UInt8) throws -> WrappedKey {
        try some(
            WrappedKey(
                cost: .floor, salt: bytes(16, from: first), nonce: bytes(24, from: first),
                sealed: bytes(80, from: first)))
    }

    private static func identity(whole: Bool) throws -> IdentityRecord {
        let place = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0/usb2/9".utf8))
        let prints = try [PrintPresence.host, .onReader].enumerated().map { index, presence in
            ApprovedPrint(
                digest: try some(Digest(bytes(32, from: UInt8(index)).span)), presence: presence)
        }
        let approval = Approval(
            reader: reader, place: place, others: digests, generation: 7, prints: prints, signature: bytes(64),
            madeAt: 1)
        return IdentityRecord(
            uid: 1000, userName: Array("alice".utf8), instance: bytes(16), publicKey: bytes(32), pin: try wrapped(1),
            recovery: whole ? try wrapped(2) : nil, pinChangedAt: 5, recoveryMadeAt: -1, pinSetByAdministrator: whole,
            approvals: whole ? [approval] : [])
    }

    private static func prints() throws -> [UInt8] {
        let fingers = try [7, 2].map { try some(Finger(number: $0)) }
        let record = PrintsRecord(
            generation: 9,
            entries: [
                PrintEntry(finger: fingers[0], reader: reader, onReader: false, enrolledAt: 5, template: 0..<8),
                PrintEntry(finger: fingers[1], reader: reader, onReader: true, enrolledAt: 6, template: 8..<12),
            ])
        var target = [UInt8](repeating: 0, count: try record.encodedCount())
        var span = target.mutableSpan
        try record.encode(templates: bytes(12).span, into: &span)
        return target
    }

    private static func chips() -> ChipIndex {
        var index = ChipIndex()
        for (uid, digest) in zip([UInt32(1000), 1001], digests) {
            let entry = ChipIndex.Entry(uid: uid, isLoose: false, reader: reader, digest: digest, handle: bytes(12))
            index.loosen([entry])
            if uid == 1000 { index.settle(uid, [entry]) }
        }
        return index
    }

    private static func attempts(whole: Bool) -> AttemptsRecord {
        var attempts = Attempts()
        guard whole else { return AttemptsRecord(uid: 0, instance: bytes(16), sequence: 0, attempts: attempts) }
        attempts.pin.byPerson = 5
        attempts.pin.wait = Wait(since: instant, seconds: 60)
        attempts.finger.count = 4
        attempts.lastPIN = instant
        attempts.change = EnrollmentChange(added: 1, removed: 2)
        attempts.counter = EnclaveCounter(index: 0x0180_5301, value: 3)
        attempts.enclaveFailures = EnclaveFailures(count: 2, since: instant)
        return AttemptsRecord(uid: 1000, instance: bytes(16), sequence: 12, attempts: attempts)
    }

    private static func object(_ countsFailures: Bool) throws -> EnclaveObject {
        try some(EnclaveObject(publicArea: bytes(24), privateArea: bytes(40), countsFailures: countsFailures))
    }

    private typealias Encode = (Span<UInt8>, inout MutableSpan<UInt8>) throws -> Int

    private static func packet(_ encode: Encode) throws -> [UInt8] {
        var memory = [UInt8](repeating: 0, count: 2048)
        var span = memory.mutableSpan
        let length = try encode(bytes(80).span, &span)
        return Array(memory[..<length])
    }

    private static func sensorRequests() throws -> [SensorRequest] {
        let enroll = SensorRequest.enroll(try some(Finger(number: 7)), userName: Array("alice".utf8), day: 20_786)
        return [
            .list, .begin(reader, path: Array("pci0/usb2/9".utf8)), .galleryPrint(template: 0..<8), .open, .arm,
            .cancel, enroll, .delete(index: 3), .close,
        ]
    }

    private static let sensorEvents: [SensorEvent] = [
        .reader(
            ReaderDescription(
                identity: reader, place: .virtual, name: Array("Elan".utf8), stages: 5, swipes: false,
                identifies: true, storesPrints: true, listsPrints: false)),
        .listed(count: 1, virtualRefused: true), .opened(presence: [.host, .missing], others: digests), .armed,
        .fingerSeen, .matched(index: 1), .notMatched, .retry(.tooShort), .stage(done: 1, of: 5),
        .enrolled(template: 0..<8, onReader: true), .cancelled(fingerSeen: true), .deleted, .closed,
    ]

    private static func enclaveRequests() throws -> [EnclaveRequest] {
        let index = EnclaveMessage.counterIndices.lowerBound
        return [
            .look, .open(primaryName: bytes(34)), .seal(secret: 0..<32), .unseal(try object(false)),
            .sealUnder(secret: 0..<32, authorization: 32..<64, countsFailures: true), .load(try object(true)),
            .unsealUnder(authorization: 0..<32), .makeCounter(authorization: 0..<32),
            .readCounter(index: index, authorization: 0..<32), .bumpCounter(index: index, authorization: 0..<32),
            .removeCounter(index: index), .resetLockout(authorization: 0..<8), .close,
            .setLockout(authorization: 0..<8, limit: 32, healSeconds: 600, recoverySeconds: 86_400),
        ]
    }

    private static func enclaveReplies() throws -> [EnclaveReply] {
        let state = DictionaryAttackState(
            failures: 1, limit: 32, healSeconds: 7200, recoverySeconds: 86_400, inLockout: false,
            hasLockoutAuthorization: true)
        let description = EnclaveDescription(
            maker: Array("IFX".utf8), firmware: 7, dictionaryAttack: state, hasOwnerAuthorization: false,
            countersLeft: 9)
        return [
            .facts(description), .opened(primaryName: bytes(34)), .object(try object(true)), .secret(0..<32),
            .wrong(counted: true), .done, .failed(.stalled),
            .counter(EnclaveCounter(index: EnclaveMessage.counterIndices.lowerBound, value: 3)),
        ]
    }

    /// A print of libfprint's form: "FP3" and a GVariant, with a user name and without.
    private static let templates: [[UInt8]] = [true, false].map { hasName in
        var body: [UInt8] = [2, 0, 0, 0] + Array("elan\00\0".utf8)
        var ends: [UInt8] = [9, 11]
        body += [0, 7]
        if hasName { body += Array("alice\0\0".utf8) }
        ends += [UInt8(body.count), UInt8(body.count)]
        while body.count % 4 != 0 { body.append(0) }
        body += [0x6E, 0x4A, 0x0B, 0]
        while body.count % 8 != 0 { body.append(0) }
        ends.append(UInt8(body.count))
        return Array("FP3".utf8) + body + Array("minutiae\0(ay)".utf8) + ends.reversed()
    }
}

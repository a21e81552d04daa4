internal import CPlatform
package import SignetEngine
package import SignetRecords
package import SignetSecrets

/// Seals and opens records under keys derived from the master key.
///
/// A file is header, nonce, ciphertext and tag; the header is the associated data. What is opened goes to
/// `SecretBytes`. While a store moves from one master key to another, what is sealed under either is opened; sealed is
/// under the new one alone.
package struct RecordSealer: ~Copyable {
    private let keys: Keys
    /// The keys of the other master key that counts while a migration lasts.
    private let former: Keys?

    /// What one master key derives.
    private struct Keys: ~Copyable {
        let seal: SecretBytes
        let slot: SecretBytes
        let id: [UInt8]

        init?(_ masterKey: borrowing SecretBytes) {
            guard let seal = KeyedHash.deriveKey(from: masterKey, context: "signet record seal 1"),
                let slot = KeyedHash.deriveKey(from: masterKey, context: "signet attempts slot 1"),
                let id = RecordSealer.keyID(of: masterKey)
            else { return nil }
            self.seal = seal
            self.slot = slot
            self.id = id
        }
    }

    /// The length of a slot's authentication, in bytes.
    package static let slotTagCount = 32
    /// What a sealed file is longer than its content, at most.
    package static let overhead =
        SealedHeader.byteLimit + AuthenticatedEncryption.nonceCount + AuthenticatedEncryption.tagCount

    /// Derives the keys from a 32-byte master key; nil where memory is short.
    package init?(masterKey: borrowing SecretBytes) {
        guard let keys = Keys(masterKey) else { return nil }
        self.keys = keys
        former = nil
    }

    /// Derives the keys of a store that may be on its way from one master key to another; nil where memory is short.
    package init?(_ store: borrowing StoreKeys) {
        guard let keys = Keys(store.current) else { return nil }
        switch store.former {
        case .none: former = nil
        case .some(let key):
            guard let other = Keys(key) else { return nil }
            former = consume other
        }
        self.keys = keys
    }

    /// Names the master key in headers, 16 bytes; it tells nothing about it.
    package var keyID: [UInt8] { keys.id }

    /// Names the other master key that is accepted, while there is one.
    package var formerKeyID: [UInt8]? {
        switch former {
        case .none: nil
        case .some(let keys): keys.id
        }
    }

    /// What `keyID` is for a master key; nil for a key of a wrong length.
    package static func keyID(of masterKey: borrowing SecretBytes) -> [UInt8]? {
        KeyedHash.digest(
            of: KeyedHash.bytes(of: "signet key id 1").span, key: masterKey, count: SealedHeader.keyIDCount)
    }

    /// The header that a file of this kind and user has on this machine.
    package borrowing func header(_ kind: RecordKind, uid: UInt32, userName: [UInt8]) -> SealedHeader {
        SealedHeader(kind: kind.rawValue, uid: uid, keyID: keyID, userName: userName)
    }

    /// The bytes of a sealed file; nil where a field does not fit the header.
    package borrowing func seal(_ content: Span<UInt8>, header: SealedHeader) -> [UInt8]? {
        guard let associated = try? header.encoded() else { return nil }
        let nonce = AuthenticatedEncryption.nonce()
        guard
            let sealed = AuthenticatedEncryption.seal(
                content, associated: associated.span, nonce: nonce.span, key: keys.seal)
        else { return nil }
        return associated + nonce + sealed
    }

    /// Opens a sealed file whose header must be exactly `header`, or, during a migration, `header` with the former key's id.
    package borrowing func open(_ file: Span<UInt8>, header: SealedHeader) throws(StoreError) -> SecretBytes {
        do throws(StoreError) {
            return try RecordSealer.open(file, header: header, key: keys.seal)
        } catch {
            guard case .fault(_, .foreign) = error else { throw error }
            switch former {
            case .none: throw error
            case .some(let keys):
                let older = SealedHeader(
                    kind: header.kind, uid: header.uid, keyID: keys.id, userName: header.userName,
                    version: header.version)
                return try RecordSealer.open(file, header: older, key: keys.seal)
            }
        }
    }

    private static func open(
        _ file: Span<UInt8>, header: SealedHeader, key: borrowing SecretBytes
    ) throws(StoreError) -> SecretBytes {
        let kind = RecordKind(rawValue: header.kind) ?? .store
        let headerCount: Int
        do throws(SealedHeader.Mismatch) {
            headerCount = try header.match(file)
        } catch {
            throw .fault(kind, isDamage(error, of: file, header, key) ? .damaged : RecordFault(error))
        }
        switch opened(file, headerCount: headerCount, associated: file.extracting(0..<headerCount), key) {
        case .content(let content): return content
        case .refused: throw .fault(kind, .damaged)
        case .outOfMemory: throw .system(errno: ENOMEM)
        }
    }

    /// Whether a header that does not match is not a wrong one, but the right one with other bytes in it.
    ///
    /// One bit of a header makes another user, name, key or version of it, and sends an administrator the wrong way. The
    /// seal knows better: what opens under the header that should be there was written with it, and what is really another
    /// user's opens under its own.
    private static func isDamage(
        _ mismatch: SealedHeader.Mismatch, of file: Span<UInt8>, _ header: SealedHeader, _ key: borrowing SecretBytes
    ) -> Bool {
        guard let expected = try? header.encoded() else { return false }
        let isOurs: Bool
        switch opened(file, headerCount: expected.count, associated: expected.span, key) {
        case .content: isOurs = true
        case .refused: isOurs = false
        case .outOfMemory: isOurs = false
        }
        guard !isOurs, mismatch == .otherUser || mismatch == .renamed else { return isOurs }
        guard let count = SealedHeader.claimedCount(in: file) else { return true }
        switch opened(file, headerCount: count, associated: file.extracting(0..<count), key) {
        case .refused: return true
        case .content: return false
        case .outOfMemory: return false
        }
    }

    /// Opens what comes after the first `headerCount` bytes: nonce, ciphertext and tag.
    private static func opened(
        _ file: Span<UInt8>, headerCount: Int, associated: Span<UInt8>, _ key: borrowing SecretBytes
    ) -> AuthenticatedEncryption.Opened {
        let contentStart = headerCount + AuthenticatedEncryption.nonceCount
        guard file.count >= contentStart + AuthenticatedEncryption.tagCount else { return .refused }
        return AuthenticatedEncryption.open(
            file.extracting(contentStart..<file.count), associated: associated,
            nonce: file.extracting(headerCount..<contentStart), key: key)
    }

    /// The authentication of a slot's bytes under the key that `id` names, 32 bytes; nil for a key that does not count.
    package borrowing func slotTag(over bytes: Span<UInt8>, keyID id: [UInt8]) -> [UInt8]? {
        if id == keys.id { return KeyedHash.digest(of: bytes, key: keys.slot, count: RecordSealer.slotTagCount) }
        switch former {
        case .none: return nil
        case .some(let keys):
            guard id == keys.id else { return nil }
            return KeyedHash.digest(of: bytes, key: keys.slot, count: RecordSealer.slotTagCount)
        }
    }

    /// The same under the key that is written with.
    package borrowing func slotTag(over bytes: Span<UInt8>) -> [UInt8]? { slotTag(over: bytes, keyID: keys.id) }
}

extension RecordFault: Error {
    /// The journal's word for a header that does not match.
    init(_ mismatch: SealedHeader.Mismatch) {
        switch mismatch {
        case .damaged: self = .damaged
        case .foreign: self = .foreign
        case .otherUser: self = .otherUser
        case .renamed: self = .renamed
        case .newer: self = .newer
        }
    }

    /// The journal's word for content that does not decode.
    init(_ error: RecordError) { self = error == .newer ? .newer : .damaged }
}

extension StoreError {
    /// What a file's fault means for a record of this kind.
    init(_ kind: RecordKind, _ fault: FileFault) {
        switch fault {
        case .missing: self = .fault(kind, .missing)
        case .unsafe: self = .fault(kind, .unsafe)
        case .unsafeAbove: self = .fault(kind, .unsafeAbove)
        case .wrongSize: self = .fault(kind, .damaged)
        case .system(let errno): self = .system(errno: errno)
        }
    }
}

/// Runs `body`, whose faults are the store's as a whole.
func inStore<Result: ~Copyable>(_ body: () throws(FileFault) -> Result) throws(StoreError) -> Result {
    do throws(FileFault) {
        return try body()
    } catch {
        throw StoreError(.store, error)
    }
}

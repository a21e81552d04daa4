internal import CPlatform
package import SignetEngine
package import SignetRecords
package import SignetSecrets

/// Seals and opens records under a key derived from the master key.
///
/// A file is header, nonce, ciphertext and tag; the header is the associated data. What is opened goes to
/// `SecretBytes`.
package struct RecordSealer: ~Copyable {
    private let sealKey: SecretBytes
    private let slotKey: SecretBytes
    /// Names the master key in headers, 16 bytes.
    package let keyID: [UInt8]

    /// The length of a slot's authentication, in bytes.
    package static let slotTagCount = 32
    /// What a sealed file is longer than its content, at most.
    package static let overhead =
        SealedHeader.byteLimit + AuthenticatedEncryption.nonceCount + AuthenticatedEncryption.tagCount

    /// Derives the keys from a 32-byte master key; nil where memory is short.
    package init?(masterKey: borrowing SecretBytes) {
        guard let sealKey = KeyedHash.deriveKey(from: masterKey, context: "signet record seal 1"),
            let slotKey = KeyedHash.deriveKey(from: masterKey, context: "signet attempts slot 1"),
            let keyID = KeyedHash.digest(
                of: KeyedHash.bytes(of: "signet key id 1").span, key: masterKey, count: SealedHeader.keyIDCount)
        else { return nil }
        self.sealKey = sealKey
        self.slotKey = slotKey
        self.keyID = keyID
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
                content, associated: associated.span, nonce: nonce.span, key: sealKey)
        else { return nil }
        return associated + nonce + sealed
    }

    /// Opens a sealed file whose header must be exactly `header`.
    package borrowing func open(_ file: Span<UInt8>, header: SealedHeader) throws(StoreError) -> SecretBytes {
        let headerCount: Int
        do throws(SealedHeader.Mismatch) {
            headerCount = try header.match(file)
        } catch {
            throw .fault(kind(of: header), RecordFault(error))
        }
        let contentStart = headerCount + AuthenticatedEncryption.nonceCount
        guard file.count >= contentStart + AuthenticatedEncryption.tagCount else {
            throw .fault(kind(of: header), .damaged)
        }
        let opened = AuthenticatedEncryption.open(
            file.extracting(contentStart..<file.count), associated: file.extracting(0..<headerCount),
            nonce: file.extracting(headerCount..<contentStart), key: sealKey)
        switch consume opened {
        case .content(let content): return content
        case .refused: throw .fault(kind(of: header), .damaged)
        case .outOfMemory: throw .system(errno: ENOMEM)
        }
    }

    private borrowing func kind(of header: SealedHeader) -> RecordKind { RecordKind(rawValue: header.kind) ?? .store }

    /// The authentication of a slot's bytes, 32 bytes.
    package borrowing func slotTag(over bytes: Span<UInt8>) -> [UInt8]? {
        KeyedHash.digest(of: bytes, key: slotKey, count: RecordSealer.slotTagCount)
    }
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
        case .wrongSize: self = .fault(kind, .damaged)
        case .system(let errno): self = .system(errno: errno)
        }
    }
}

internal import CSodium
internal import SignetSecrets

/// What was typed, encrypted in place between keys.
///
/// Content and key lie in guarded pages of their own; the content is in clear only while a character is put in or taken
/// out, and is sealed each time under a new key: a stream cipher's key must never meet two contents. Whoever reads one of
/// the two pages learns nothing, the number of characters included, for all of the capacity is encrypted.
struct SealedText: ~Copyable {
    /// Two whole blocks of ChaCha20: libsodium copies a block that is not whole to its stack.
    static let capacity = 128

    private var content: SecretBytes
    /// Key and nonce.
    private var key: SecretBytes
    /// The byte just read.
    private var inbox: SecretBytes
    /// The characters that were typed: 0 to the capacity.
    private(set) var length = 0

    private static let keyLength = Int(crypto_stream_chacha20_KEYBYTES)
    private static let nonceLength = Int(crypto_stream_chacha20_NONCEBYTES)

    /// Nothing typed yet; nil where memory is short.
    init?() {
        guard let content = SecretBytes(count: SealedText.capacity),
            let key = SecretBytes(count: SealedText.keyLength + SealedText.nonceLength),
            let inbox = SecretBytes(count: 1)
        else { return nil }
        self.content = content
        self.key = key
        self.inbox = inbox
        seal()
    }

    /// Reads the next byte of `device` into guarded memory, for `decode` and `append`.
    mutating func read(from device: borrowing TerminalDevice) -> TerminalDevice.Reading {
        device.readByte(into: &inbox)
    }

    /// Lets `decoder` look at the byte just read.
    borrowing func decode(with decoder: inout KeyDecoder) -> Key? { decoder.decode(inbox.withBytes { $0[0] }) }

    /// Lets `body` put another character in the place of the byte just read: a keypad's choice.
    mutating func replaceByte(_ body: (inout MutableSpan<UInt8>) -> Void) { inbox.withMutableBytes(body) }

    /// Appends the byte just read and wipes it where it was; false where the text is full.
    mutating func append() -> Bool {
        guard length < SealedText.capacity else {
            wipeInbox()
            return false
        }
        open()
        content.withMutableBytes { content in inbox.withBytes { content[length] = $0[0] } }
        length += 1
        seal()
        wipeInbox()
        return true
    }

    /// Keeps the first `count` characters.
    mutating func truncate(to count: Int) {
        guard count >= 0, count < length else { return }
        open()
        content.withMutableBytes { content in for index in count..<content.count { content[index] = 0 } }
        length = count
        seal()
    }

    /// Takes the last character off.
    mutating func removeLast() { truncate(to: length - 1) }

    /// Wipes all of it.
    mutating func clear() {
        wipeInbox()
        content.withMutableBytes { content in for index in 0..<content.count { content[index] = 0 } }
        length = 0
        seal()
    }

    /// Gives out what was typed, and wipes it here; nil where memory is short.
    mutating func take() -> SecretBytes? {
        open()
        var taken: SecretBytes?
        content.withBytes { content in taken = SecretBytes(copying: content.extracting(0..<length)) }
        clear()
        return taken
    }

    /// Lets a test look at what lies in the content's page.
    borrowing func withSealedBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result { content.withBytes(body) }

    private mutating func wipeInbox() { inbox.withMutableBytes { $0[0] = 0 } }

    /// Decrypts the content where it is.
    private mutating func open() { apply() }

    /// Encrypts the content where it is, under a new key.
    private mutating func seal() {
        // SAFETY: the address is the key's own and good for its length; sodium_init has succeeded, or there were no key.
        key.withMutableBytes { key in
            let count = key.count
            key.withAddress { unsafe randombytes_buf($0, count) }
        }
        apply()
    }

    /// ChaCha20 over all of the content.
    ///
    /// Not XChaCha20: with a key for each sealing a long nonce has no use, and libsodium 1.0.18 leaves the subkey of
    /// its extension on the stack, where it wipes ChaCha20's state.
    private mutating func apply() {
        content.withMutableBytes { content in
            let count = UInt64(content.count)
            content.withAddress { text in
                key.withBytes { key in
                    key.withAddress { key in
                        // SAFETY: `count` bytes, worked on in place as libsodium permits; the key has 32 bytes and the nonce 8
                        // behind them.
                        _ = unsafe crypto_stream_chacha20_xor(text, text, count, key + SealedText.keyLength, key)
                    }
                }
            }
        }
        StackResidue.clear()
    }
}

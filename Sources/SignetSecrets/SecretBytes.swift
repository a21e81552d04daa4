internal import CSodium

/// A secret in guarded, locked memory that is wiped when its one owner lets go of it.
///
/// The pages come from `sodium_malloc`: a guard page on either side, `mlock`, `MADV_DONTDUMP`, a canary, and a wipe in
/// `sodium_free`. A failed `mlock` (a tight RLIMIT_MEMLOCK) leaves all the rest in force. The type has no description
/// and no conversion to a Swift collection, so that no copy is made by accident.
@safe public struct SecretBytes: ~Copyable {
    private let base: UnsafeMutableRawPointer
    /// The number of bytes that belong to the secret.
    package private(set) var count: Int
    /// The number of bytes that were allocated.
    package let capacity: Int

    /// Allocates `count` zero bytes; nil where libsodium cannot start or memory is short.
    package init?(count: Int) {
        guard count >= 0, sodium_init() >= 0 else { return nil }
        // SAFETY: sodium_init has succeeded; sodium_malloc answers null or `max(count, 1)` bytes that are ours alone.
        guard let memory = unsafe sodium_malloc(max(count, 1)) else { return nil }
        // SAFETY: the allocation holds at least `count` bytes.
        unsafe sodium_memzero(memory, max(count, 1))
        unsafe self.base = memory
        self.count = count
        self.capacity = count
    }

    /// Allocates and fills with a copy of `bytes`.
    package init?(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count)
        withMutableBytes { target in
            for index in 0..<min(target.count, bytes.count) { target[index] = bytes[index] }
        }
    }

    /// A second owner of the same bytes; nil where memory is short.
    package borrowing func copy() -> SecretBytes? { withBytes { bytes in SecretBytes(copying: bytes) } }

    /// Allocates `count` bytes from the system's generator.
    package init?(randomCount count: Int) {
        self.init(count: count)
        // SAFETY: the allocation holds `count` bytes.
        unsafe randombytes_buf(base, count)
    }

    /// Lets `body` read the bytes.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: `base` lives as long as `self`, which is borrowed for the call.
        let buffer = unsafe UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe buffer.span)
    }

    /// Lets `body` change the bytes.
    package mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: `base` lives as long as `self`, which is held exclusively for the call.
        let buffer = unsafe UnsafeMutableBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count)
        // SAFETY: the span does not outlive the call, for `body` gets it inout.
        var span = unsafe buffer.mutableSpan
        return try body(&span)
    }

    /// Keeps the first `length` bytes and wipes the rest; a longer length changes nothing.
    package mutating func truncate(to length: Int) {
        guard length >= 0, length < count else { return }
        // SAFETY: `length..<count` lies within the allocation.
        unsafe sodium_memzero(base.advanced(by: length), count - length)
        count = length
    }

    /// Whether both hold the same bytes, in a time that depends on the lengths alone.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        // SAFETY: both allocations hold `count` bytes.
        return unsafe sodium_memcmp(base, other.base, count) == 0
    }

    // SAFETY: `base` came from sodium_malloc and has this one owner; sodium_free wipes before it gives the pages back.
    deinit { unsafe sodium_free(base) }
}

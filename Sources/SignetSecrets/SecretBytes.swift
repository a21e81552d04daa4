internal import CPlatform
internal import CSodium

/// A secret in guarded, locked memory that is wiped when its one owner lets go of it.
///
/// The pages come from `signet_guarded_take`, and for what is larger than one from `sodium_malloc`: a guard page on either
/// side, `mlock`, `MADV_DONTDUMP`, a canary, and a wipe when they are given back. A failed `mlock` (a tight RLIMIT_MEMLOCK)
/// leaves all the rest in force, and `isLocked` tells. The type has no description and no conversion to a Swift collection,
/// so that no copy is made by accident.
@safe public struct SecretBytes: ~Copyable {
    private let base: UnsafeMutableRawPointer
    /// The number of bytes that belong to the secret.
    package private(set) var count: Int
    /// The number of bytes that were allocated.
    package let capacity: Int

    /// Allocates `count` zero bytes; nil where libsodium cannot start or memory is short.
    package init?(count: Int) {
        guard count >= 0, sodium_init() >= 0 else { return nil }
        // SAFETY: both answer null or `max(count, 1)` bytes that are ours alone, the first of them zeros; sodium_init has
        // succeeded.
        if let page = unsafe signet_guarded_take(max(count, 1)) {
            unsafe self.base = page
        } else {
            guard let memory = unsafe sodium_malloc(max(count, 1)) else { return nil }
            unsafe sodium_memzero(memory, max(count, 1))
            unsafe self.base = memory
        }
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

    /// Whether the pages are locked, so that they never reach swap.
    ///
    /// Whoever made them locked them and does not say whether it could: locking them once more tells, and changes nothing
    /// where they are (mlock(2): locks do not stack).
    package borrowing func isLocked() -> Bool {
        // SAFETY: the allocation holds at least one byte.
        unsafe sodium_mlock(base, max(capacity, 1)) == 0
    }

    /// Whether both hold the same bytes, in a time that depends on the lengths alone.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        // SAFETY: both allocations hold `count` bytes.
        return unsafe sodium_memcmp(base, other.base, count) == 0
    }

    // SAFETY: `base` came from one of the two and has this one owner; both wipe before they give pages back.
    deinit { if unsafe signet_guarded_give(base) == 0 { unsafe sodium_free(base) } }
}

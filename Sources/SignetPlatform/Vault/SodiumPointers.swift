// libsodium's functions take pointers that must not be null even where the length is 0; an empty span has none.

extension Span where Element == UInt8 {
    /// Lets `body` have the address of the first byte; where there is none, of one byte that is not to be read.
    @safe borrowing func withAddress<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        // SAFETY: the address is valid for `count` bytes within the call, and `body` keeps to that length.
        unsafe withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { return unsafe body(base) }
            let none: UInt8 = 0
            return unsafe withUnsafePointer(to: none) { unsafe body($0) }
        }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Lets `body` have the address of the first byte; where there is none, of one byte that is not to be written.
    @safe mutating func withAddress<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
        // SAFETY: the address is valid for `count` bytes within the call, and `body` keeps to that length.
        unsafe withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { return unsafe body(base) }
            var none: UInt8 = 0
            return unsafe withUnsafeMutablePointer(to: &none) { unsafe body($0) }
        }
    }
}

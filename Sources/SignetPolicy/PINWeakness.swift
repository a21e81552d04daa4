/// Why a PIN is refused.
package enum PINWeakness: Equatable, Sendable {
    case tooShort(minimum: Int)
    case tooLong(maximum: Int)
    /// A character that is not printable ASCII (0x20–0x7E).
    case notPrintableASCII
    case repeated
    /// A run up or down, whole or in parts.
    case run
    case keypadWalk
    case date
    case containsUserName
    /// Among the most common PINs.
    case common
}

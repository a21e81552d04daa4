/// What a decoder made of some bytes.
package enum Outcome: Equatable, Sendable {
    case refused
    case accepted
    /// A property that holds for all bytes does not hold for these: the decoder is wrong.
    case broken(String)
}

/// A decoder with the property that is asked of it, whatever the bytes are; that it does not trap goes without saying.
package struct FuzzTarget: Sendable {
    /// As `scripts/fuzz` names it, and the folder of its corpus.
    package let name: String
    /// The longest input that can find anything new, in bytes.
    package let longest: Int
    package let examine: @Sendable ([UInt8]) -> Outcome

    init(_ name: String, longest: Int, _ examine: @escaping @Sendable ([UInt8]) -> Outcome) {
        self.name = name
        self.longest = longest
        self.examine = examine
    }

    package static let all = records + messages + texts + [keys]

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Strictness: what is accepted has one form only, so it encodes to exactly the bytes that it was read from.
func strict(_ bytes: [UInt8], _ decodeAndEncode: () throws -> [UInt8]?) -> Outcome {
    do {
        guard let again = try decodeAndEncode() else { return .refused }
        return again == bytes ? .accepted : .broken("encodes to other bytes than it was read from")
    } catch {
        return .broken("is accepted and cannot be encoded: \(error)")
    }
}

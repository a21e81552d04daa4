internal import FoundationEssentials

// Answers for programs. Names are stable within one `schema_version`; new ones may be added.

/// The version that all answers carry.
let schemaVersion = 1

/// An answer with its version beside its own fields.
private struct Versioned<Body: Encodable>: Encodable {
    let body: Body

    private enum CodingKeys: String, CodingKey { case schemaVersion }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(signet.schemaVersion, forKey: .schemaVersion)
        try body.encode(to: encoder)
    }
}

/// What `--json` gives where a command fails.
struct FailureAnswer: Encodable {
    struct Problem: Encodable {
        let code: String
        let exitStatus: Int32
        let message: String
        let hint: String?
    }

    let error: Problem

    init(_ failure: Failure) {
        error = Problem(
            code: failure.code, exitStatus: failure.exit.rawValue, message: failure.message, hint: failure.hint)
    }
}

extension Output {
    /// One line of JSON: keys sorted and in snake_case, `schema_version` among them.
    static func json(_ answer: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        do {
            return String(decoding: try encoder.encode(Versioned(body: answer)), as: UTF8.self) + "\n"
        } catch {
            return "{\"error\":{\"code\":\"internal\"},\"schema_version\":\(schemaVersion)}\n"
        }
    }
}

extension Invocation {
    /// Gives an answer: as JSON where that was asked for, else as `text`.
    func answer(_ answer: some Encodable, text: @autoclosure () -> String) {
        if json { Output.data(Output.json(answer)) } else { Output.page(text()) }
    }
}

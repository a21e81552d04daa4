import Foundation
import SignetPolicy
import Testing

@Suite struct ConfigurationManualTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "pam/man/signet.conf.5")

    /// Catches a key, bound, unit or default that the manual does not tell, or tells differently from the table.
    @Test(arguments: KeyDescription.all.map(\.key)) func tellsTheKey(key: ConfigurationKey) throws {
        let description = KeyDescription.describe(key)
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        var bounds = description.boundsText
        if case .number(_, let unit) = description.bounds, !unit.isEmpty { bounds += " \(unit)" }
        let ending = description.defaultText.isEmpty ? "empty" : description.defaultText
        #expect(text.contains("\n.BR \(description.name) \" (\(bounds); default: \(ending))\"\n"))
    }

    /// Catches a key that the manual has and the table has not.
    @Test func tellsNoOtherKey() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(text.components(separatedBy: "; default: ").count - 1 == KeyDescription.all.count)
    }
}

import Foundation
import FuzzTargets
import Testing

/// The fuzzer's corpus without the fuzzer: what it starts from, and every input that once broke a decoder.
@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/corpus")

    private static func files(_ target: String) throws -> [String: [UInt8]] {
        let folder = folder.appendingPathComponent(target)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.reduce(into: [:]) { files, name in
            files[name] = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
        }
    }

    // Would catch a decoder that does again what the fuzzer once found, by whoever runs the tests.
    @Test(arguments: FuzzTarget.all.map(\.name)) func noInputBreaksItsDecoder(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        for (file, bytes) in try Self.files(name) {
            if case .broken(let how) = target.examine(bytes) { Issue.record("\(name)/\(file) \(how)") }
        }
    }

    // Would catch a format that changed without its seeds (`scripts/fuzz --seeds`): the fuzzer would start from what is refused.
    @Test(arguments: FuzzTarget.all.map(\.name)) func theSeedsAreThoseOfThisFormat(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let files = try Self.files(name)
        let seeds = try Seeds.of(name)
        #expect(!seeds.isEmpty)
        for (index, seed) in seeds.enumerated() {
            #expect(files["seed-\(index)"] == seed, "seed-\(index)")
            #expect(target.examine(seed) == .accepted, "seed-\(index)")
        }
    }

    // Would catch a harness that sees nothing: a property that a wrong decoder would pass as well.
    @Test(arguments: ["identity", "prints", "chips", "attempts", "enclave-key", "sensor-request", "enclave-reply"])
    func aByteTooManyIsRefused(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        for seed in try Seeds.of(name) { #expect(target.examine(seed + [0]) == .refused) }
    }
}

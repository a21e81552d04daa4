import SignetPolicy
import Testing

@testable import SignetRecords

/// Writes what `fp_print_serialize` would, and on demand what it never would.
struct PrintWriter {
    var kind: UInt32 = 2
    var driver = Array("aes3500".utf8)
    var device = Array("0".utf8)
    var stored: UInt8 = 0
    var finger: UInt8 = 7
    var userName: [UInt8]? = Array("alice".utf8)
    var note: [UInt8]?
    var day: UInt32 = 739_950
    var extensions: [UInt8] = []
    var data: [UInt8] = Array("minutiae\0(a(aiaiai))".utf8)
    var padding: UInt8 = 0

    var bytes: [UInt8] {
        var body: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: kind >> (8 * $0)) }
        var ends: [Int] = []
        for name in [driver, device] {
            body += name + [0]
            ends.append(body.count)
        }
        body += [stored, finger]
        for text in [userName, note] {
            if let text { body += text + [0, 0] }
            ends.append(body.count)
        }
        align(&body, to: 4)
        body += (0..<4).map { UInt8(truncatingIfNeeded: day >> (8 * $0)) }
        align(&body, to: 8)
        body += extensions
        ends.append(body.count)
        align(&body, to: 8)
        body += data
        let size = body.count + ends.count <= 255 ? 1 : 2
        for end in ends.reversed() { body += (0..<size).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) } }
        return Array("FP3".utf8) + body
    }

    private func align(_ body: inout [UInt8], to alignment: Int) {
        while body.count % alignment != 0 { body.append(padding) }
    }
}

func parse(_ bytes: [UInt8]) -> Result<PrintTemplate, PrintTemplateError> {
    do throws(PrintTemplateError) { return .success(try PrintTemplate(bytes.span)) } catch { return .failure(error) }
}

/// The identity in a buffer of the size that callers take; what follows it must stay untouched.
func identity(_ bytes: [UInt8]) -> [UInt8]? {
    var target = [UInt8](repeating: 0xEE, count: bytes.count + PrintTemplate.identityOverhead)
    var span = target.mutableSpan
    guard let count = PrintTemplate.writeIdentity(of: bytes.span, into: &span) else { return nil }
    #expect(target[count...].allSatisfy { $0 == 0xEE })
    return Array(target[..<count])
}

@Suite struct PrintTemplateTests {
    /// Catches a reader that misplaces a member of a real print, by alignment, framing or order of offsets.
    @Test(arguments: RealPrints.all) func readsRealPrints(real: RealPrints.Case) throws {
        for bytes in real.forms {
            let template = try parse(bytes).get()
            #expect(template.kind == (real.isMinutiae ? .minutiae : .raw))
            let reader = template.reader(in: bytes.span)
            #expect(reader == ReaderIdentity(driver: Array(real.driver.utf8), device: Array("0".utf8)))
            #expect(template.isStoredOnReader == real.isStoredOnReader)
            #expect(template.data.count == real.dataCount)
        }
        #expect(try parse(real.forms[1]).get().finger == Finger(number: 7))
    }

    /// Catches a name or a day that libfprint did not write, or that belongs to a neighbouring member.
    @Test(arguments: RealPrints.all) func readsWhoseAndWhen(real: RealPrints.Case) throws {
        let named = try parse(real.forms[1]).get()
        let bytes = real.forms[1]
        let name = named.userName(in: bytes.span)
        #expect(name == Array("alice".utf8))
        // 2026-11-30.
        #expect(named.day == 20_787)
        let unnamed = try parse(real.forms[2]).get()
        #expect(unnamed.userName == nil && unnamed.day == 20_787)
        #expect(try parse(real.forms[0]).get().day == (real.driver == "virtual_device" ? 20_787 : nil))
    }

    /// Catches a day before 1970 or after any calendar, which libfprint's "none" is one of.
    @Test(
        arguments: [
            (0, nil), (719_162, nil), (719_163, 0), (3_652_059, 2_932_896), (3_652_060, nil), (0x8000_0000, nil),
            (.max, nil),
        ] as [(UInt32, UInt32?)]) func days(written: UInt32, read: UInt32?) throws
    {
        var writer = PrintWriter()
        writer.day = written
        #expect(try parse(writer.bytes).get().day == read)
    }

    /// Catches a test writer that differs from libfprint, which would make all tests below worthless.
    @Test func writerIsLibfprints() throws {
        for real in RealPrints.all {
            let template = try parse(real.forms[1]).get()
            var writer = PrintWriter()
            writer.kind = real.isMinutiae ? 2 : 1
            writer.driver = Array(real.driver.utf8)
            writer.stored = real.isStoredOnReader ? 1 : 0
            writer.note = Array("right index of alice".utf8)
            writer.data = Array(real.forms[1][template.data])
            #expect(writer.bytes == real.forms[1])
        }
    }

    /// Catches offsets of two bytes that are read as one, and the change from one to two at the wrong size.
    @Test(arguments: [150, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 220, 300, 5000, 32_000])
    func readsEverySize(count: Int) throws {
        var writer = PrintWriter()
        writer.data = [UInt8](repeating: 0x41, count: count) + Array("\0(a(aiaiai))".utf8)
        let template = try parse(writer.bytes).get()
        #expect(Array(writer.bytes[template.data]) == writer.data)
    }

    /// Catches what is not in normal form and could be read in two ways, and what libfprint dies of.
    @Test func refusesWhatIsNotNormal() {
        var cases: [(PrintTemplateError, PrintWriter)] = []
        func add(_ error: PrintTemplateError, _ change: (inout PrintWriter) -> Void) {
            var writer = PrintWriter()
            change(&writer)
            cases.append((error, writer))
        }
        add(.unsupported) { $0.kind = 0 }
        add(.unsupported) { $0.kind = 3 }
        add(.unsupported) { $0.kind = 0x102 }
        add(.malformed) { $0.driver = [] }
        add(.unsupported) { $0.driver = [UInt8](repeating: 0x61, count: 65) }
        add(.unsupported) { $0.device = [UInt8](repeating: 0x61, count: 129) }
        add(.malformed) { $0.driver = [0x61, 0, 0x62] }
        add(.malformed) { $0.device = [0xC3] }
        add(.malformed) { $0.stored = 2 }
        add(.malformed) { $0.finger = 11 }
        add(.malformed) { $0.userName = [0xFF] }
        add(.malformed) { $0.note = [0x61, 0, 0x62] }
        add(.malformed) { $0.padding = 1 }
        add(.unsupported) { $0.extensions = [0] }
        add(.malformed) { $0.data = [] }
        add(.malformed) { $0.data = Array("\0".utf8) }
        add(.malformed) { $0.data = Array("(a(aiaiai))".utf8) }
        add(.malformed) { $0.data = Array("x\0".utf8) }
        add(.malformed) { $0.data = Array("x\0S".utf8) }
        for (error, writer) in cases { #expect(parse(writer.bytes) == .failure(error)) }
        #expect(parse(PrintWriter().bytes + [UInt8](repeating: 0, count: 40_000)) == .failure(.tooLarge))
        #expect(parse(Array("FP2".utf8) + PrintWriter().bytes.dropFirst(3)) == .failure(.otherFormat))
    }

    /// Catches a read beyond the end: a print that was cut anywhere is refused.
    @Test(arguments: RealPrints.all) func refusesEveryTruncation(real: RealPrints.Case) {
        for bytes in real.forms {
            for count in 0..<bytes.count {
                if case .success(let template) = parse(Array(bytes.prefix(count))) {
                    Issue.record("\(count) of \(bytes.count) bytes gave \(template)")
                }
            }
        }
    }

    /// Catches a trap and a range outside the bytes, whatever is changed.
    @Test(arguments: RealPrints.all) func mutationsNeitherTrapNorEscape(real: RealPrints.Case) {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<6_000 {
            var bytes = real.forms[round % real.forms.count]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                // The last bytes, the framing offsets, are the most worth changing.
                let tail = Int.random(in: 0..<3, using: &generator) == 0
                let place = tail ? bytes.count - 1 - Int.random(in: 0..<8) : Int.random(in: 0..<bytes.count)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(.random(in: 0...255), at: place)
                case 2: bytes += [UInt8](repeating: .random(in: 0...255), count: Int.random(in: 1...300))
                default: bytes[place] = .random(in: 0...255)
                }
            }
            guard case .success(let template) = parse(bytes) else { continue }
            for range in [template.driver, template.device, template.data] {
                #expect(range.lowerBound >= 0 && range.upperBound <= bytes.count)
            }
            #expect(identity(bytes)?.count == template.identityCount)
        }
    }
}

@Suite struct PrintIdentityTests {
    /// Catches an identity that depends on what the reader's list tells otherwise than the enrollment did.
    @Test(arguments: RealPrints.all) func metadataDoesNotMatter(real: RealPrints.Case) {
        let identities = real.forms.map(identity)
        #expect(identities[0] != nil)
        #expect(identities[1] == identities[0])
        #expect(identities[2] == identities[0])
    }

    /// Catches a byte of driver, device or data that is left out: each one, changed, changes the identity.
    @Test(arguments: RealPrints.all) func everyByteMatters(real: RealPrints.Case) throws {
        for bytes in real.forms {
            let template = try parse(bytes).get()
            let places = [Array(template.driver), Array(template.device), Array(template.data)].joined()
            for place in places {
                var changed = bytes
                changed[place] ^= 0x01
                #expect(identity(changed) != identity(bytes))
            }
            var kind = bytes
            kind[3] = real.isMinutiae ? 1 : 2
            #expect(identity(kind) != nil)
            #expect(identity(kind) != identity(bytes))
        }
    }

    /// Catches parts that run into each other, so that two prints share one identity.
    @Test func partsAreSeparated() {
        var one = PrintWriter()
        one.driver = Array("ab".utf8)
        one.device = Array("c".utf8)
        var other = PrintWriter()
        other.driver = Array("a".utf8)
        other.device = Array("bc".utf8)
        #expect(identity(one.bytes) != identity(other.bytes))
    }

    /// Catches a change of the form, after which no approval would be valid any more.
    @Test func goldenVector() {
        var expected = CanonicalBytes(domain: "signet print identity v1")
        expected.append(1)
        expected.append(Array("virtual_device".utf8))
        expected.append([0x30])
        expected.append([0x66, 0x31, 0, 0, 0x73, 0, 0x76])
        #expect(identity(RealPrints.all[0].forms[0]) == expected.content)
        #expect(expected.content.starts(with: [0, 0, 0, 0, 0, 0, 0, 24] + Array("signet print identity v1".utf8)))
    }

    /// Catches a writer that leaves its target, or stops at a target that is just long enough.
    @Test func refusesShortTargets() throws {
        let bytes = PrintWriter().bytes
        let needed = try parse(bytes).get().identityCount
        for (count, expected) in [(0, nil), (needed - 1, nil), (needed, needed), (needed + 1, needed)] {
            var target = [UInt8](repeating: 0, count: count)
            var span = target.mutableSpan
            let written = PrintTemplate.writeIdentity(of: bytes.span, into: &span)
            #expect(written == expected)
        }
        #expect(identity(Array("FP3".utf8)) == nil)
    }
}

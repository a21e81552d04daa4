import CTerminal
import Foundation
import SignetSecrets
import Testing

@testable import SignetPlatform

@Suite struct SealedTextTests {
    private let terminal = FieldTerminal()

    private func type(_ byte: UInt8, into text: inout SealedText, _ device: borrowing TerminalDevice) -> Bool {
        terminal.type([byte])
        while true {
            switch text.read(from: device) {
            case .byte: return text.append()
            case .nothing: _ = terminal.awaitInput()
            case .end: return false
            }
        }
    }

    private func bytes(_ text: borrowing SealedText) -> [UInt8] {
        text.withSealedBytes { page in (0..<page.count).map { page[$0] } }
    }

    /// Catches text that lies in clear between keys, a key that is used for two contents, and a page that tells the length.
    @Test func nothingIsInClearBetweenKeys() throws {
        let device = try one(TerminalDevice(path: terminal.path))
        terminal.makeRaw()
        var text = try one(SealedText())
        var before = bytes(text)
        #expect(before.count == 128)
        let typed = Array("4927310586".utf8)
        for (index, byte) in typed.enumerated() {
            #expect(type(byte, into: &text, device))
            #expect(text.length == index + 1)
            let now = bytes(text)
            // The tail was zero before and after: the difference of two sealings under one key would show it as zeros.
            let same = zip(before, now).filter { $0 == $1 }.count
            #expect(same < 16, "\(same) of 128 bytes stayed what they were")
            #expect(now.filter { $0 == 0 }.count < 16)
            for offset in 0..<(now.count - 2) {
                #expect(!(now[offset] == typed[0] && now[offset + 1] == typed[1] && now[offset + 2] == typed[2]))
            }
            before = now
        }
        text.removeLast()
        text.truncate(to: 8)
        text.truncate(to: 20)
        let taken = try one(text.take())
        #expect(taken.withBytes { span in (0..<span.count).map { span[$0] } } == Array(typed[..<8]))
        #expect(text.length == 0)
    }

    /// Catches a text that grows past its memory, or that loses what it has when it is full.
    @Test func theCapacityIsTheEnd() throws {
        let device = try one(TerminalDevice(path: terminal.path))
        terminal.makeRaw()
        var text = try one(SealedText())
        for index in 0..<128 { #expect(type(0x30 + UInt8(index % 10), into: &text, device)) }
        #expect(!type(0x39, into: &text, device))
        #expect(text.length == 128)
        text.removeLast()
        #expect(type(0x41, into: &text, device))
        let taken = try one(text.take())
        #expect(taken.count == 128)
        #expect(taken.withBytes { $0[0] } == 0x30 && taken.withBytes { $0[127] } == 0x41)
        // Empty again, and nothing to take off.
        text.removeLast()
        text.clear()
        let nothing = try one(text.take())
        #expect(nothing.count == 0)
    }
}

import SignetPlatform

extension FuzzTarget {
    /// What a terminal sends, its answers to other programs among it; the first byte chooses where time passes.
    static let keys = FuzzTarget("keys", longest: 1536) { bytes in
        var decoder = KeyDecoder()
        var found = 0
        for (index, byte) in bytes.dropFirst().enumerated() {
            if decoder.decode(byte) != nil { found += 1 }
            if let first = bytes.first, first != 0, index % Int(first) == 0, decoder.expire() != nil { found += 1 }
            // Whatever came before, Ctrl-C leaves the prompt.
            var interrupted = decoder
            guard interrupted.decode(0x03) == .interrupt else { return .broken("swallows Ctrl-C") }
        }
        guard found <= bytes.count else { return .broken("makes keys of nothing") }
        // No sequence swallows what is typed for ever: an unfinished one has an end of its own.
        var typed = decoder
        guard (0..<600).contains(where: { _ in typed.decode(0x31) != nil }) else { return .broken("swallows typing") }
        _ = decoder.expire()
        guard !decoder.isWaiting, decoder.decode(0x0D) == .enter else { return .broken("does not expire") }
        return .accepted
    }
}

import SignetRecords

extension FuzzTarget {
    /// What goes between Signet and its helpers; either may have been taken over by what it talks to.
    static let messages = [
        FuzzTarget("sensor-request", longest: 512) { bytes in
            strict(bytes) {
                guard let request = try? SensorRequest(decoding: bytes.span) else { return nil }
                return try packet(SensorMessage.packetLimit) { span in
                    try request.encode(templateFrom: bytes.span, into: &span)
                }
            }
        },
        FuzzTarget("sensor-event", longest: 768) { bytes in
            strict(bytes) {
                guard let event = try? SensorEvent(decoding: bytes.span) else { return nil }
                return try packet(SensorMessage.packetLimit) { span in
                    try event.encode(templateFrom: bytes.span, into: &span)
                }
            }
        },
        FuzzTarget("enclave-request", longest: 1280) { bytes in
            strict(bytes) {
                guard let request = try? EnclaveRequest(decoding: bytes.span) else { return nil }
                return try packet(EnclaveMessage.packetLimit) { span in
                    try request.encode(secretsFrom: bytes.span, into: &span)
                }
            }
        },
        FuzzTarget("enclave-reply", longest: 1280) { bytes in
            strict(bytes) {
                guard let reply = try? EnclaveReply(decoding: bytes.span) else { return nil }
                return try packet(EnclaveMessage.packetLimit) { span in
                    try reply.encode(secretsFrom: bytes.span, into: &span)
                }
            }
        },
    ]

    /// What `encode` writes into memory of `limit` bytes.
    private static func packet(_ limit: Int, _ encode: (inout MutableSpan<UInt8>) throws -> Int) throws -> [UInt8] {
        // A longer packet than these inputs can hold would be another message than the one that was read.
        var memory = [UInt8](repeating: 0, count: min(limit, 2048))
        var span = memory.mutableSpan
        let length = try encode(&span)
        return Array(memory[..<length])
    }
}

import Foundation
import SignetPolicy
import SignetRecords

// `enclave-stand-in --tcti FOLDER`: the TPM helper's part of the conversation on descriptor 3, with a folder for a TPM.

extension EnclaveRequest {
    var name: String {
        let text = "\(self)"
        return String(text.prefix { $0.isLetter })
    }
}

extension StandInTPM {
    mutating func answer(_ request: EnclaveRequest, _ packet: [UInt8]) -> EnclaveReply {
        switch request {
        case .look:
            return .facts(
                EnclaveDescription(
                    maker: Array("TEST".utf8), firmware: 1, dictionaryAttack: state, hasOwnerAuthorization: false,
                    countersLeft: 7))
        case .open(let wanted):
            guard wanted.isEmpty || wanted == name else { return .failed(.foreign) }
            isOpen = true
            return .opened(primaryName: name)
        case _ where !isOpen && request != .close: return .failed(.other)
        case .seal(let secret):
            return store(Stored(secret: Array(packet[secret]), authorization: [], counts: false))
        case .unseal(let object):
            guard let found = find(object) else { return .failed(.foreign) }
            secret = found.secret
            return .secret(0..<secret.count)
        case .sealUnder(let secret, let authorization, let counts):
            return store(
                Stored(secret: Array(packet[secret]), authorization: Array(packet[authorization]), counts: counts))
        case .load(let object):
            loaded = find(object)
            return loaded == nil ? .failed(.foreign) : .done
        case .unsealUnder(let authorization): return authorize(Array(packet[authorization]))
        case .makeCounter(let authorization): return makeCounter(Array(packet[authorization]))
        case .readCounter(let index, let authorization): return count(index, Array(packet[authorization]), by: 0)
        case .bumpCounter(let index, let authorization): return count(index, Array(packet[authorization]), by: 1)
        case .removeCounter(let index):
            try? FileManager.default.removeItem(atPath: "\(folder)/counter-\(index)")
            return .done
        case .setLockout(_, let limit, _, _):
            guard !state.hasLockoutAuthorization else { return .failed(.lockoutAuthSet) }
            keep("attack", [attack[0], UInt8(clamping: limit), 1])
            return .done
        case .resetLockout:
            keep("attack", [0] + attack.dropFirst())
            return .done
        case .close: return .done
        }
    }

    mutating func serve() {
        while true {
            var buffer = [UInt8](repeating: 0, count: EnclaveMessage.packetLimit)
            let count = read(3, &buffer, buffer.count)
            guard count > 0 else { return }
            let packet = Array(buffer[..<count])
            guard let request = try? EnclaveRequest(decoding: packet.span) else { return }
            log(request.name)
            var out = [UInt8](repeating: 0, count: EnclaveMessage.packetLimit)
            var length: Int?
            switch fault(for: request.name) {
            case .die:
                log("died")
                return
            case .stall:
                sleep(60)
                return
            case .nonsense: length = 9
            case .problem(let problem):
                var span = out.mutableSpan
                length = try? EnclaveReply.failed(problem).encode(into: &span)
            case nil:
                let reply = answer(request, packet)
                var span = out.mutableSpan
                length = try? reply.encode(secretsFrom: secret.span, into: &span)
            }
            guard let length, write(3, out, length) == length else { return }
        }
    }
}

var tpm = StandInTPM(folder: CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "/nonexistent")
tpm.serve()

package import SignetPolicy

// Fields that more than one record holds.

extension ReaderIdentity {
    /// The longest driver name and device id, in bytes.
    package static let driverLimit = 64
    package static let deviceLimit = 128
}

extension ByteWriter {
    /// Writes driver and device id.
    package mutating func reader(_ value: ReaderIdentity) throws(RecordError) {
        try counted(value.driver, limit: ReaderIdentity.driverLimit)
        try counted(value.device, limit: ReaderIdentity.deviceLimit)
    }

    /// Writes where a reader is.
    package mutating func place(_ value: ReaderPlace) throws(RecordError) {
        byte(value.bus.rawValue)
        byte(value.attachment.rawValue)
        try counted(value.path, limit: ReaderPlace.pathLimit)
    }

    /// Writes an instant on the boot clock.
    package mutating func instant(_ value: BootInstant) {
        uint64(value.boot.high)
        uint64(value.boot.low)
        uint64(value.seconds)
    }

    /// Writes digests, each greater than the one before it.
    package mutating func ascending(_ digests: [Digest]) throws(RecordError) {
        var last: Digest?
        for digest in digests {
            if let last, digest <= last { throw .malformed }
            last = digest
            try fixed(digest.bytes, count: Digest.byteCount)
        }
    }

    /// Writes a TPM's sealed object.
    package mutating func object(_ value: EnclaveObject) throws(RecordError) {
        try counted(value.publicArea, limit: EnclaveObject.areaLimit)
        try counted(value.privateArea, limit: EnclaveObject.areaLimit)
        flag(value.countsFailures)
    }
}

extension ByteReader {
    /// Reads driver and device id.
    package mutating func reader() throws(RecordError) -> ReaderIdentity {
        let driver = try counted(limit: ReaderIdentity.driverLimit)
        return ReaderIdentity(driver: driver, device: try counted(limit: ReaderIdentity.deviceLimit))
    }

    /// Reads where a reader is.
    package mutating func place() throws(RecordError) -> ReaderPlace {
        guard let bus = ReaderBus(rawValue: try byte()), let attachment = PortAttachment(rawValue: try byte()) else {
            throw .malformed
        }
        return ReaderPlace(bus: bus, attachment: attachment, path: try counted(limit: ReaderPlace.pathLimit))
    }

    /// Reads an instant on the boot clock.
    package mutating func instant() throws(RecordError) -> BootInstant {
        let high = try uint64()
        let low = try uint64()
        return BootInstant(boot: BootIdentity(high: high, low: low), seconds: try uint64())
    }

    /// Reads a TPM's sealed object.
    package mutating func object() throws(RecordError) -> EnclaveObject {
        let publicArea = try counted(limit: EnclaveObject.areaLimit)
        let privateArea = try counted(limit: EnclaveObject.areaLimit)
        guard
            let object = EnclaveObject(
                publicArea: publicArea, privateArea: privateArea, countsFailures: try flag())
        else { throw .malformed }
        return object
    }

    /// Reads `count` digests, each greater than the one before it: a set has one form.
    package mutating func ascendingDigests(_ count: Int) throws(RecordError) -> [Digest] {
        var digests: [Digest] = []
        for _ in 0..<count {
            let next = try digest()
            if let last = digests.last, next <= last { throw .malformed }
            digests.append(next)
        }
        return digests
    }

    /// Reads a digest.
    package mutating func digest() throws(RecordError) -> Digest {
        let raw = try bytes(Digest.byteCount)
        guard let digest = Digest(raw.span) else { throw .malformed }
        return digest
    }
}

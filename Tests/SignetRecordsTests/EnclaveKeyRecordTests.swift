import SignetRecords
import Testing

/// The files of a store that is bound to a TPM.
@Suite struct EnclaveKeyRecordTests {
    let object = EnclaveObject(publicArea: bytes(48), privateArea: bytes(160, from: 9), countsFailures: false)!

    /// Catches a change of the format of `key.tpm`.
    @Test func golden() throws {
        let short = EnclaveObject(publicArea: [1], privateArea: [2, 3], countsFailures: false)!
        let record = EnclaveKeyRecord(primaryName: [0, 11, 7], masterKey: short)
        let golden: [UInt8] = [
            0x53, 0x47, 0x4E, 0x4B, 6, 1, 3, 0, 0, 11, 7, 1, 0, 1, 2, 0, 2, 3, 0,
        ]
        #expect(try record.encoded() == golden)
        #expect(try EnclaveKeyRecord(decoding: golden.span) == record)
    }

    /// Catches a length that is not looked at, a byte too many, or an input that traps.
    @Test func strictness() throws {
        let valid = try EnclaveKeyRecord(primaryName: bytes(34), masterKey: object).encoded()
        #expect(valid.count <= EnclaveKeyRecord.byteLimit)
        for count in valid.indices {
            #expect(throws: RecordError.self) { try EnclaveKeyRecord(decoding: Array(valid[..<count]).span) }
        }
        #expect(throws: RecordError.trailing) { try EnclaveKeyRecord(decoding: (valid + [0]).span) }
        var newer = valid
        newer[5] = 2
        #expect(throws: RecordError.newer) { try EnclaveKeyRecord(decoding: newer.span) }
    }

    /// Catches "any TPM" in place of a Name, and a master key that a lockout of the TPM would shut.
    @Test func whatNoRecordMaySay() throws {
        #expect(throws: RecordError.malformed) { try EnclaveKeyRecord(primaryName: [], masterKey: object).encoded() }
        let counting = EnclaveObject(publicArea: [1], privateArea: [2], countsFailures: true)!
        #expect(throws: RecordError.malformed) {
            try EnclaveKeyRecord(primaryName: [1], masterKey: counting).encoded()
        }
        let anyTPM: [UInt8] = [0x53, 0x47, 0x4E, 0x4B, 6, 1, 0, 0, 1, 0, 1, 2, 0, 2, 3, 0]
        #expect(throws: RecordError.malformed) { try EnclaveKeyRecord(decoding: anyTPM.span) }
        let shut: [UInt8] = [0x53, 0x47, 0x4E, 0x4B, 6, 1, 1, 0, 9, 1, 0, 1, 2, 0, 2, 3, 1]
        #expect(throws: RecordError.malformed) { try EnclaveKeyRecord(decoding: shut.span) }
    }

    /// Catches a note of a migration that reads as another one.
    @Test func migrationNotes() throws {
        let id = bytes(16)
        for note in [
            EnclaveMigration(nil), EnclaveMigration(.init(id: id, direction: .toFile)),
            EnclaveMigration(.init(id: id, direction: .toTPM)),
        ] {
            let encoded = try note.encoded()
            #expect(encoded.count <= EnclaveMigration.byteLimit)
            #expect(try EnclaveMigration(decoding: encoded.span) == note)
            for count in encoded.indices {
                #expect(throws: RecordError.self) { try EnclaveMigration(decoding: Array(encoded[..<count]).span) }
            }
        }
        #expect(try EnclaveMigration(.init(id: id, direction: .toTPM)).encoded() == [7, 1, 1] + id + [2])
        let neither: [UInt8] = [7, 1, 1] + id + [3]
        #expect(throws: RecordError.malformed) { try EnclaveMigration(decoding: neither.span) }
        #expect(throws: RecordError.malformed) { try EnclaveMigration(.init(id: [1], direction: .toTPM)).encoded() }
    }
}

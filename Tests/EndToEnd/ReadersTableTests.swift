import Testing

/// What `signet readers` says of readers that are there.
@Suite(.serialized, .inWorld, .withProduct) struct ReadersTableTests {
    // Would catch prints of somebody else that are called yours, a foreign print that nobody is told of, and one of yours
    // that is gone from the reader's memory.
    @Test func whosePrintsThereAre() throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            // A new process of the virtual reader starts with an empty memory.
            alice.reader.forget()
            let table = try Terminal(["signet", "readers"], environment: alice.asUser)
            try alice.reader.insert("stranger")
            #expect(try table.finish(within: 20) == 0)
            let said = table.transcript
            #expect(said.contains("1 gone, 1 foreign"), "\(said)")
            #expect(said.contains("a print is gone from its memory"), "\(said)")
            #expect(said.contains("sudo signet delete right-index --user \(alice.user.name)"), "\(said)")
            #expect(said.contains("chip, lists") && said.contains("nobody"), "\(said)")

            let bob = try alice.another(finger: nil)
            let others = try Command.run(["signet", "readers", "--json"], environment: bob.asUser)
            #expect(
                others.output.contains("\"your_prints\":0")
                    && others.output.contains("\"owner\":\"\(alice.user.name)\""),
                "\(others.output)")
        }
    }

    // Would catch a deletion that leaves a print on the chip and does not say who has the reader, or says so for ever.
    @Test func whoKeepsAPrintOnTheChip() throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let deletion = try alice.signet("delete", "right-index", byAdministrator: true)
            #expect(deletion.code == 0 && deletion.output.contains("in use by sudo on pts/"), "\(deletion)")
            let leftovers = try Command.run(["signet", "delete", "--leftovers"])
            #expect(leftovers.code == 7 && leftovers.output.contains("in use by sudo on pts/"), "\(leftovers)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            // A new process of the virtual reader starts with an empty memory.
            let free = try Command.run(["signet", "delete", "--leftovers"])
            #expect(free.code == 0 && free.output.contains("Not there any more: 1 print."), "\(free)")
        }
    }

    // Would catch a list that takes the reader away from a prompt, or does not say who has it.
    @Test(arguments: [VirtualReader.Kind.plain, .storage]) func whoUsesIt(_ kind: VirtualReader.Kind) throws {
        try Enrolled.with(kind) { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let table = try Command.run(["signet", "readers"], environment: alice.asUser)
            #expect(table.output.contains("sudo on pts/"), "\(table.output)")
            #expect(table.output.contains("virtual") && table.output.contains("1 yours"), "\(table.output)")
            let status = try alice.signet("status").output.replacing(/\s+/, with: " ")
            #expect(status.contains("on, but not asked for here: the reader is in use by sudo on pts/"), "\(status)")
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a person with another reader than before who is told that there is none, and a way out that is none.
    @Test func anotherReaderIsTold() throws {
        try Enrolled.with(.storage) { alice in
            let other = try VirtualReader(.plain)
            try other.configured {
                let now = Enrolled(user: alice.user, reader: other, kind: .plain)
                let terminal = try now.sudo()
                try now.typePIN(terminal, at: "enroll\": ")
                let sentence = "Your fingerprints are for another reader than this one (Virtual device for debugging)."
                #expect(terminal.transcript.contains(sentence), "\(terminal.transcript)")
                #expect(!terminal.transcript.contains("storage"), "the absent one is not named at a prompt")
                #expect(try now.status().fingerprint.reason == "reader_exchanged")
                let activation = try now.signetOnTerminal("activate")
                #expect(try activation.finish() == 5)
                let said = activation.transcript
                #expect(said.contains("virtual_device_storage") && said.contains("debugging"), "\(said)")
                #expect(said.contains("enroll") && !said.contains("PIN"), "\(said)")
                let enrolling = try now.beginEnrolling(as: "left-index")
                try other.enrol("left")
                try now.confirm(enrolling, "left", chip: [])
                #expect(try enrolling.finish() == 0, "\(enrolling.transcript)")
                #expect(try now.acceptsFinger("left"))
                #expect(try now.status().fingerprint.on)
            }
        }
    }
}

import Testing

/// Virtual and recorded readers through the stock libfprint, before Signet's own helper is asked.
@Suite(.serialized, .inWorld) struct ReaderTests {
    // Would catch commands that the virtual reader does not take, and a wrapper that does not set its variable.
    @Test(arguments: [VirtualReader.Kind.plain, .storage, .storageWithoutList])
    func aVirtualReaderEnrolsAndTellsFingersApart(_ kind: VirtualReader.Kind) throws {
        for (finger, answer) in [("right-index", "match"), ("someone-else", "no match")] {
            let reader = try VirtualReader(kind)
            let probe = try Terminal([reader.wrapper(around: World.tools + "/readerprobe")])
            try probe.waitFor("driver virtual_device")
            try reader.enrol("right-index")
            try probe.waitFor("enrolled")
            try reader.scan(finger)
            try probe.waitFor("\n\(answer)\r\n")
            #expect(try probe.finish() == 0)
        }
    }

    // Would catch a reader that stays when it is unplugged, and retry reasons that end an enrolment.
    @Test func aVirtualReaderRetriesAndGoesAway() throws {
        let reader = try VirtualReader()
        let probe = try Terminal([reader.wrapper(around: World.tools + "/readerprobe")])
        try reader.scan("f")
        try reader.retry(.centreFinger)
        try reader.enrol("f", stages: 4)
        try probe.waitFor("enrolled")
        try reader.unplug()
        try probe.waitFor("verify: ")
        #expect(try probe.finish() == 1)
    }

    // Would catch a replay that works only in umockdev-run's own child, or only once.
    @Test(.enabled(if: RecordedReader.recordings != nil, "there are no recordings beside this repository"))
    func aRecordedReaderServesSeveralProcesses() throws {
        let reader = try RecordedReader("aes3500")
        for _ in 1...3 {
            let result = try Command.run([reader.wrapper(around: World.tools + "/readerprobe")])
            #expect(result.output == "driver aes3500\nenrolled\nmatch\n", "\(result.error)")
        }
    }
}

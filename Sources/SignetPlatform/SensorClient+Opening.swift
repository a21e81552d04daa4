package import SignetEngine
package import SignetPolicy
internal import SignetRecords

// Listing and opening: nothing is charged yet, so whatever happens at the field ends it at once.

extension SensorClient {
    package mutating func prepare() {
        if rest?.problem == nil { try? start() }
    }

    package mutating func readers<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription] {
        let resting = rest?.problem
        isResting = resting != nil
        if let resting { throw .problem(resting) }
        do throws(SensorStop) {
            measureSleep()
            let found = try listingAfterSleep(beside: &watch)
            if found.isEmpty { rest?.failed(.noReader) }
            return found
        } catch {
            throw noted(error)
        }
    }

    /// The same stop, with the reader's failure written down.
    private func noted(_ stop: SensorStop) -> SensorStop {
        if case .problem(let problem) = stop { rest?.failed(problem) }
        return stop
    }

    mutating func listing<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription] {
        let isPrepared = phase == .idle && helper != nil
        do throws(SensorStop) { return try list(beside: &watch) } catch {
            // One that was started early may have met its end while the person read; then its successor is asked.
            guard isPrepared, error == .problem(.helperFailed) else { throw error }
            return try list(beside: &watch)
        }
    }

    /// Lists the readers and keeps the helper, which can open one of them next.
    private mutating func list<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription] {
        try ask(.list)
        let deadline = Deadline(seconds: openSeconds)
        var found: [ReaderDescription] = []
        while true {
            switch try answer(until: deadline, beside: &watch) {
            case .reader(let description) where found.count < SensorMessage.readerLimit: found.append(description)
            case .listed(let count, let virtualRefused):
                guard count == found.count else { throw .problem(refuse()) }
                if found.isEmpty, virtualRefused { throw .problem(.virtualRefused) }
                return found
            default: throw .problem(refuse())
            }
        }
    }

    package mutating func open<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        do throws(SensorStop) {
            return try openAfterSleep(reader, at: place, for: set, gallery: gallery, beside: &watch)
        } catch {
            throw noted(error)
        }
    }

    /// Opens it, or says why not, without waiting for another program that has it.
    mutating func openAtOnce<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader {
        holder = nil
        claimIsRefused = false
        guard gallery.count <= SensorMessage.galleryLimit else { throw .problem(.unsupported) }
        for index in gallery {
            guard set.entries.indices.contains(index), set.entries[index].reader == reader else {
                throw .problem(.unsupported)
            }
        }
        do throws(ReaderProblem) {
            // One that still closes this reader lets go of it first.
            try start()
            try claim(reader)
        } catch {
            throw .problem(error)
        }
        let deadline = Deadline(seconds: openSeconds)
        try ask(.begin(reader, path: place.path))
        for index in gallery {
            try set.withTemplate(of: set.entries[index]) { (template) throws(SensorStop) in
                try send(.galleryPrint(template: 0..<template.count), templateFrom: template, beside: &watch)
            }
        }
        try ask(.open)
        guard case .reader(let description) = try answer(until: deadline, beside: &watch),
            description.identity == reader, place.path.isEmpty || description.place.path == place.path,
            case .opened(let presence, let others) = try answer(until: deadline, beside: &watch),
            presence.count == gallery.count
        else { throw .problem(refuse()) }
        helper?.grace = SensorClient.closingGrace
        self.presence = presence
        identity = reader
        lastOpened = reader
        phase = .opened
        fingerSeen = false
        tryGoesOn = false
        return OpenedReader(description: description, presence: presence, others: others)
    }

    /// Gives the helper the reader for itself, where readers are claimed at all.
    private mutating func claim(_ reader: ReaderIdentity) throws(ReaderProblem) {
        guard let claims else { return }
        do throws(ClaimRefusal) {
            helper?.claim = try ReaderClaim(reader, in: claims)
        } catch {
            guard case .held(let holder) = error else { return }
            self.holder = holder
            claimIsRefused = true
            throw .busy
        }
    }

    /// Starts a helper where there is none, and sends it a request without a template.
    private mutating func ask(_ request: SensorRequest) throws(SensorStop) {
        do throws(ReaderProblem) {
            try start()
            try send(request)
        } catch {
            throw .problem(error)
        }
    }

    /// The helper's next event; all else ends the wait.
    private mutating func answer<Watch: FieldWatch & ~Copyable>(
        until deadline: Deadline, beside watch: inout Watch
    ) throws(SensorStop) -> SensorEvent {
        let reply: Reply
        do throws(ReaderProblem) { reply = try next(until: deadline, beside: &watch, watchingSignals: false) } catch {
            throw .problem(error)
        }
        switch reply {
        case .event(.failed(let problem)):
            end()
            throw .problem(problem)
        case .event(let event): return event
        case .field(let event): throw setAside(event)
        case .signal, .sleep: throw .problem(refuse())
        case .deadline:
            abandon()
            throw .problem(.timedOut)
        }
    }
}

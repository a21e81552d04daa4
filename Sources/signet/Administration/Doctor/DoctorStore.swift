internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetSecrets

// The store: its folder, the key, and everybody's records.

extension Doctor {
    /// Owner and mode of the folder and of each of its parents, and the key.
    func storeLines(_ enclave: EnclaveReport) -> [DoctorLine] {
        let path = Output.text(root)
        if let problem = SafePath.problem(with: root, .folder) {
            if problem.matter == .missing, problem.path == root {
                return [
                    DoctorLine(
                        .note, "store", "there is none yet: nobody has a PIN", remedy: "sudo signet pin set --user NAME"
                    )
                ]
            }
            return [Doctor.storeLine(problem, StoreInspection.leak(root: root, uid: 0))]
        }
        do throws(FileFault) { _ = try SecureFolder(path: root) } catch {
            let text = "others than root can look into \(path)"
            return [DoctorLine(.fail, "store", text, remedy: "sudo chmod 700 \(path)")]
        }
        return [.ok("store", "\(path) is root's alone")] + roomLines() + frozenLines()
            + (enclave.isClosed ? [] : keyLines(enclave))
    }

    /// Whether a PIN can be set, or a try be counted, on the store's file system.
    private func roomLines() -> [DoctorLine] { Doctor.lines(StoreInspection.room(at: root), Output.text(root)) }

    /// What somebody made immutable: the sentences of who meets it cannot know why.
    private func frozenLines() -> [DoctorLine] {
        let uids = (try? UserStore.users(root: root)) ?? []
        return StoreInspection.frozen(root: root, uids: uids).map { path in
            let path = Output.text(path)
            return DoctorLine(
                .fail, "store", "\(path) is immutable or append-only: nothing can be counted or changed there",
                remedy: StoreInspection.thawing(path))
        }
    }

    static func lines(_ room: StoreInspection.Room, _ path: String) -> [DoctorLine] {
        switch room {
        case .some, .unknown: []
        case .none:
            [
                DoctorLine(
                    .fail, "store", "no space is left on the file system of \(path): nothing can be set or changed",
                    remedy: "make room, as \"df \(path)\" shows")
            ]
        case .readOnly:
            [
                DoctorLine(
                    .fail, "store",
                    "the file system of \(path) is read-only: no try can be counted, and nobody gets in",
                    remedy: "mount it for writing; \"findmnt --target \(path)\" shows it")
            ]
        }
    }

    private func keyLines(_ enclave: EnclaveReport) -> [DoctorLine] {
        let path = Output.text(root) + "/key"
        // Without its key or values nothing in the store can ever be opened again, not even to purge one user.
        let lost =
            "restore \(Output.text(root)) from a backup; else \"rm -r \(Output.text(root))\", and set each PIN anew"
        do throws(StoreError) {
            let keys = try StoreOpening.open(root: root, loaded.configuration.enclaveSettings).takeKeys()
            _ = try StoreValues(root: root, keys: keys)
            // Of the TPM's the lines of the enclave tell.
            return enclave.store == .tpm ? [] : [.ok("key", "the master key is a file that only root can read")]
        } catch {
            switch error {
            case .fault(.store, .keyLost), .fault(.store, .missing):
                // Making the store was interrupted: the key comes last, and nobody's records depend on it yet.
                if (try? UserStore.users(root: root).isEmpty) ?? true {
                    let text = "there is no master key yet, and nobody has a PIN"
                    return [DoctorLine(.note, "key", text, remedy: "sudo signet pin set --user NAME")]
                }
                let text = "the master key is missing: no record can be opened"
                return [DoctorLine(.fail, "key", text, remedy: lost)]
            case .fault(.store, .unsafe):
                let text = "the master key is a link, or others than root can read it"
                let remedy = "sudo chown root:root \(path) && sudo chmod 400 \(path)"
                return [DoctorLine(.fail, "key", text, remedy: remedy)]
            case .fault(.values, let fault):
                let text = "the store's own secrets are \(fault.words)"
                return [
                    DoctorLine(
                        .fail, "key", text,
                        remedy: lost)
                ]
            case .fault(_, let fault):
                return [
                    DoctorLine(
                        .fail, "key", "the master key is \(fault.words)", remedy: "restore \(path) from a backup")
                ]
            case .busy, .system:
                return [DoctorLine(.fail, "key", "the master key cannot be read", remedy: "look into the system's log")]
            }
        }
    }

    /// Whose records there are, whether they can be read, and what somebody must do.
    func recordLines() -> [DoctorLine] {
        // A store that is not safe is not opened, and nothing can be said of what lies in it.
        guard (try? SecureFolder(path: root)) != nil else { return [] }
        let owners: [RecordOwner]
        do throws(StoreError) { owners = try AdministratorLedger.owners() } catch {
            return [Doctor.usersLine(StoreInspection.leak(root: root, uid: 0))]
        }
        var lines: [DoctorLine] = []
        var usable = 0
        for owner in owners {
            let status = AdministratorLedger.status(
                of: TargetUser(owner), loaded.configuration, readers: readers)
            let found = Doctor.lines(owner, status, leak: StoreInspection.leak(root: root, uid: owner.uid))
            if found.isEmpty { usable += 1 }
            lines += found
        }
        // What a line tells already as no file of its kind need not be told once more.
        let told = owners.compactMap { StoreInspection.leak(root: root, uid: $0.uid)?.path }
        lines += StoreInspection.strays(root: root).filter { !told.contains($0.path) }.map { stray in
            DoctorLine(
                stray.matter == .leftover ? .warn : .note, "records", stray.words, remedy: stray.remedy)
        }
        if usable > 0 {
            lines.insert(.ok("records", usable == 1 ? "1 user's can be read" : "\(usable) users' can be read"), at: 0)
        }
        return lines
    }

    /// What is to be said of one user's records; nothing where they are usable.
    ///
    /// `leak` is what others than root can open of them.
    static func lines(_ owner: RecordOwner, _ status: UserStatus, leak: StoreLeak? = nil) -> [DoctorLine] {
        switch owner {
        case .orphan(let uid):
            return [
                DoctorLine(
                    .warn, "records", "no account has the uid \(uid) any more",
                    remedy: "sudo signet user purge --user \(uid)")
            ]
        case .unknown(let uid):
            return [
                DoctorLine(
                    .warn, "records", "the account of uid \(uid) cannot be looked up", remedy: "getent passwd \(uid)")
            ]
        case .user: break
        }
        switch status.record {
        case .usable: break
        // An emptied folder stays where somebody's lock was taken before there was a record.
        case .notSetUp: return []
        case .busy, .refused, .clockUnreadable:
            return [
                DoctorLine(
                    .warn, "records", "\(status.label): \(status.record.words)",
                    remedy: Doctor.remedy(for: status.record, uid: status.uid))
            ]
        case .faulty: break
        }
        if case .faulty(_, .unsafe) = status.record, let leak {
            return [DoctorLine(.fail, "user \(status.label)", leak.words, remedy: leak.remedy)]
        }
        return status.attention.compactMap { attention in
            let level: DoctorLine.Level
            switch attention {
            case .recordFaulty, .renamed: level = .fail
            case .pinDisabled, .enrollmentChanged, .printsGone, .foreignPrints, .readerNotTrusted, .noCounter,
                .fprintdUnusable:
                level = .warn
            case .notApproved, .fingerLockedOut, .pinSetByAdministrator, .noRecoveryCode, .pinToBeRenewed,
                .readerExchanged, .readerRefused:
                level = .note
            case .notSetUp: return nil
            }
            return DoctorLine(
                level, "user \(status.label)", attention.words,
                remedy: Doctor.remedy(for: attention, uid: status.uid, user: status.argument))
        }
    }
}

extension StoreLeak {
    private var name: String { Output.text(path) }

    private var isLock: Bool { path.suffix(5).elementsEqual("/lock".utf8) }

    /// What is the matter with it.
    var words: String {
        switch matter {
        case .wrongKind where isFolder:
            "\(name) is a link, or no folder; once that is moved away, put the real one back from a backup, or set PINs anew"
        case .wrongKind: "\(name) is a link, or no file"
        case .folder: "\(name) is a folder, and must be a file"
        case .foreignOwner: "\(name) is not root's"
        case .openMode: "others than root may open \(name)"
        }
    }

    /// The command that closes it.
    var remedy: String {
        let mode = "sudo chmod \(isFolder ? "700" : "600") \(name)"
        switch matter {
        // It is empty, and made anew where it is missing.
        case .wrongKind where isLock, .folder where isLock: return "sudo rm -r \(name)"
        case .wrongKind where isFolder: return "sudo mv \(name) /root/"
        case .wrongKind, .folder: return "put back the real file from a backup"
        case .foreignOwner: return "sudo chown root:root \(name) && \(mode)"
        case .openMode: return mode
        }
    }
}

internal import SignetPlatform
internal import SignetPolicy

extension StoreStray {
    private var name: String { Output.text(path) }

    /// What is the matter with it.
    var words: String {
        switch matter {
        case .file: "\(name) is none of Signet's files; it goes when the user's records are deleted"
        case .folder: "\(name) is a folder, where none belongs; it stays when the user's records are deleted"
        case .leftover: "\(name) is left of a user's records that were deleted"
        case .unknown: "\(name) is nothing of Signet's, and can go where nobody needs it"
        }
    }

    /// The command that takes it away, or that shows what it is where its name cannot be typed.
    var remedy: String {
        let slash = (path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
        let (folder, last) = (Output.text(Array(path[..<slash])), Array(path[slash...]))
        // Begins like an option, and does not where it stands behind its folder.
        let word = ShellWord.quoted(last.first == UInt8(ascii: "-") ? Array("./".utf8) + last : last)
        if word == "USER", !last.elementsEqual(word.utf8) { return "sudo ls -lab \(folder)" }
        return "sudo rm \(matter == .file ? "" : "-r ")\(folder)\(word)"
    }

    /// What is left of a user who was deleted just now or before; nil where nothing is.
    static func leftover(of target: TargetUser) -> StoreStray? {
        StoreInspection.strays(root: UserStore.standardRoot, uid: target.uid).first { $0.matter == .leftover }
    }
}

extension Failure {
    /// What keeps a user's records from being deleted; nil where nothing does that can be seen.
    static func obstacle(to target: TargetUser) -> Failure? {
        let root = UserStore.standardRoot
        let frozen = StoreInspection.frozen(root: root, uids: [target.uid]).first.map { path in
            ("\(Output.text(path)) is immutable or append-only", StoreInspection.thawing(Output.text(path)))
        }
        let leak = StoreInspection.leak(root: root, uid: target.uid).map { ($0.words, $0.remedy) }
        let leftover = StoreStray.leftover(of: target).map { ($0.words, $0.remedy) }
        guard let (words, remedy) = frozen ?? leak ?? leftover else { return nil }
        return Failure(
            .stateDamaged, "the records of \(target.label) cannot be deleted: \(words)",
            hint: "mend that with \"\(remedy)\", and run it again")
    }
}

extension StoreInspection {
    /// The command after which a path can be changed again.
    static func thawing(_ path: String) -> String { "sudo chattr -i -a \(path)" }
}

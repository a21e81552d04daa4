package import SignetEngine
package import SignetRecords

/// Something in fprintd's store that is not as fprintd writes it.
package struct FprintdProblem: Error, Equatable, Sendable {
    package enum Matter: Equatable, Sendable {
        /// It cannot be opened, is a link or of another kind, or is not root's alone.
        case path(PathProblem.Matter)
        /// No name that fprintd gives: it reads no such file, and neither does Signet.
        case unknownName
        /// More folders, files or prints than one person can have.
        case tooMany
        /// A file of no bytes, or one that changed while it was read.
        case notWhole
        case template(PrintTemplateError)
        /// The print is another finger's than the file's name says, or of none.
        case otherFinger
        /// The print is another user's than the folder's name says, or of nobody.
        case otherUser
        /// The print is another reader's than the folders' names say.
        case otherReader
    }

    package let path: [UInt8]
    package let matter: Matter

    init(_ path: [UInt8], _ matter: Matter) {
        self.path = path
        self.matter = matter
    }

    init(_ problem: PathProblem) { self.init(problem.path, .path(problem.matter)) }

    /// Whether it makes the store as a whole unfit to be an enrollment set.
    ///
    /// A file that fprintd itself would pass over stands for no print.
    package var isGrave: Bool { matter != .unknownName }

    /// Whether it says nothing of what is in the store: the system refused, and may not do so at the next try.
    var isShortage: Bool { if case .path(.system) = matter { true } else { false } }

    /// What a person is told, without the path.
    package var sentence: String {
        switch matter {
        case .path(let matter): PathProblem(path: path, matter: matter).sentence
        case .unknownName: "is no name that fprintd gives"
        case .tooMany: "holds more than one person's fingers can be"
        case .notWhole: "is empty, or changed while it was read"
        case .template(.unsupported): "was written by a later libfprint than this Signet knows"
        case .template: "is no print of libfprint's"
        case .otherFinger: "is another finger's print than its name says"
        case .otherUser: "is another user's print than its folder says"
        case .otherReader: "is another reader's print than its folders say"
        }
    }

    /// What it means for the enrollment set.
    var storeError: StoreError {
        switch matter {
        case .path(.system(let number)): .system(errno: number)
        case .path: .fault(.prints, .unsafe)
        case .otherUser: .fault(.prints, .otherUser)
        case .template(.unsupported): .fault(.prints, .newer)
        case .unknownName, .tooMany, .notWhole, .template, .otherFinger, .otherReader: .fault(.prints, .damaged)
        }
    }
}

internal import CPlatform

/// The permission to keep the TPM while a person types: a few for each real user.
///
/// A TPM has 64 sessions at most, and three objects where no resource manager stands before it: somebody who starts `su`
/// a hundred times must not use them up. Without a slot the helper ends and is started anew when the PIN has come. A lock
/// on a file in a folder that is root's alone: it ends with the value or with its process, whatever that dies of.
public struct WaitingSlot: ~Copyable {
    private let file: FileDescriptor

    /// As many prompts of one real user keep the TPM.
    static let limit = 4

    /// Takes a free slot of `user`; nil where there is none, or nowhere to take one.
    init?(user: uid_t = getuid(), in folder: [UInt8]) {
        guard let slots = try? SecureFolder(path: folder, creating: true) else { return nil }
        for number in 0..<WaitingSlot.limit {
            guard let name = FileName(Array("enclave-\(user)-\(number)".utf8)), let file = try? slots.lockFile(name)
            else { return nil }
            if signet_lock_try(file.raw) == 0 {
                self.file = file
                return
            }
        }
        return nil
    }

    deinit { signet_lock_release(file.raw) }
}

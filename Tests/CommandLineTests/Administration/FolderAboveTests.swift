import Foundation
import SignetEngine
import SignetPlatform
import Testing

@testable import signet

/// What is told where a folder above the store is not root's alone.
@Suite(.enabled(if: getuid() == 0, "the folders have to be root's")) struct FolderAboveTests {
    // Would catch: a record called damaged where a folder above it is open, and a command that closes another folder.
    @Test func `it is named with the command`() throws {
        let folder = "/run/signet-above-\(getpid())"
        let root = Array("\(folder)/above/signet".utf8)
        for path in [folder, "\(folder)/above", "\(folder)/above/signet"] { #expect(mkdir(path, 0o700) == 0) }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(chmod("\(folder)/above", 0o775) == 0)

        var refused: StoreError?
        do throws(StoreError) { _ = try UserStore.users(root: root) } catch { refused = error }
        #expect(refused == .fault(.store, .unsafeAbove))
        let failure = Failure.folderAbove(of: root)
        #expect(failure.message == "\(folder)/above can be changed by others than root (mode 0775)")
        #expect(failure.hint == "mend that with \"sudo chmod go-w \(folder)/above\", and run it again")
        #expect(chmod("\(folder)/above", 0o755) == 0)
        do throws(StoreError) { _ = try UserStore.users(root: root) } catch { refused = error }
        #expect(refused == .fault(.store, .missing))
    }
}

import CPlatform
import SignetEngine
import SignetPolicy
import Testing

@testable import SignetPlatform

@Suite(.enabled(if: SafeFolderForTests.isPossible, "only root can make files that belong to root"))
struct ConfigurationLoaderTests {
    private func load(_ path: String) -> LoadedConfiguration { ConfigurationLoader.load(Array(path.utf8)) }

    // Would catch: a fresh machine without the file being shut out of its fingers.
    @Test func `a missing file means the defaults`() throws {
        let folder = try SafeFolderForTests()
        let loaded = load("\(folder.path)/signet.conf")
        #expect(loaded == LoadedConfiguration(configuration: Configuration(), problem: nil, hasFile: false))
        #expect(load("\(folder.path)/folder/signet.conf").problem == nil)
    }

    // Would catch: settings that never arrive.
    @Test func `a good file rules`() throws {
        let folder = try SafeFolderForTests()
        let loaded = load(folder.file("signet.conf", "finger_limit = 2\n"))
        #expect(loaded.problem == nil && loaded.hasFile)
        #expect(loaded.configuration.fingerLimit == 2)
    }

    // Would catch: half of a wrong file ruling, or its mistake being kept silent.
    @Test func `a mistake closes the finger path and says where`() throws {
        let folder = try SafeFolderForTests()
        let loaded = load(folder.file("signet.conf", "finger_limit = 2\nfinger_limt = 3\n"))
        #expect(loaded.configuration == .strictest)
        guard case .text(let problems) = loaded.problem else {
            Issue.record("no problem: \(loaded)")
            return
        }
        #expect(problems.map(\.line) == [2])
        #expect(loaded.problem?.sentence.contains("line 2, column 1") == true)
    }

    // Would catch: a file, or a place for one, that somebody else than root controls being believed.
    @Test func `what others can change is not believed`() throws {
        let folder = try SafeFolderForTests()
        let writable = folder.file("a.conf", "finger_limit = 2\n", mode: 0o664)
        #expect(load(writable).problem == problem(writable, .writableByOthers(mode: 0o664)))
        #expect(load(writable).configuration == .strictest)

        let owned = folder.file("b.conf", "finger_limit = 2\n")
        unsafe chown(owned, 1234, 0)
        #expect(load(owned).problem == problem(owned, .notRoots(owner: 1234)))

        let open = folder.folder("open", mode: 0o777)
        let inside = folder.file("open/signet.conf", "finger_limit = 2\n")
        #expect(load(inside).problem == problem(open, .writableByOthers(mode: 0o777)))
    }

    // Would catch: a link, a folder, a pipe or an endless file in the file's place: followed, waited for, or read for ever.
    @Test func `only a plain file of bounded size is read`() throws {
        let folder = try SafeFolderForTests()
        let target = folder.file("a.conf", "finger_limit = 2\n")
        let link = folder.link("link", to: target)
        #expect(load(link).problem == problem(link, .wrongKind))

        let directory = folder.folder("folder", mode: 0o755)
        #expect(load(directory).problem == problem(directory, .wrongKind))

        let pipe = "\(folder.path)/pipe"
        unsafe mkfifo(pipe, 0o600)
        #expect(load(pipe).problem == problem(pipe, .wrongKind))

        let large = folder.file("b.conf", String(repeating: "#\n", count: 40_000))
        #expect(load(large).problem == problem(large, .tooLarge))
        #expect(load("signet.conf").configuration == .strictest)
        #expect(load("\(folder.path)/../signet.conf").configuration == .strictest)
    }

    // Would catch: a linked folder on the way being followed after another one was checked.
    @Test func `a linked parent is refused`() throws {
        let folder = try SafeFolderForTests()
        _ = folder.folder("open", mode: 0o755)
        let file = folder.file("open/signet.conf", "finger_limit = 2\n")
        #expect(load(file).problem == nil)
        let link = folder.link("link", to: "open")
        #expect(load("\(link)/signet.conf").problem == problem(link, .wrongKind))
    }

    // Would catch: doctor calling a helper safe that cannot be run, or naming the wrong parent.
    @Test func `a program must be executable`() throws {
        let folder = try SafeFolderForTests()
        let program = folder.file("prog", "x", mode: 0o644)
        #expect(SafePath.problem(with: Array(program.utf8), .program)?.matter == .wrongKind)
        unsafe chmod(program, 0o755)
        #expect(SafePath.problem(with: Array(program.utf8), .program) == nil)
        #expect(SafePath.problem(with: Array("/tmp/x".utf8), .program)?.path == Array("/tmp".utf8))
    }

    private func problem(_ path: String, _ matter: PathProblem.Matter) -> ConfigurationTrouble {
        .path(PathProblem(path: Array(path.utf8), matter: matter))
    }
}

import CPlatform
import Foundation
import Testing

struct MappedCodeTests {
    /// Whether the kernel has MADV_POPULATE_READ (Linux 5.14).
    private static let isKnown: Bool = {
        let page = mmap(nil, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        defer { munmap(page, 4096) }
        return madvise(page, 4096, 22) == 0
    }()

    /// The kilobytes of this process's code and of its libraries', and how many of them are in the page table
    /// (`proc_pid_smaps(5)`).
    private static func code() -> (size: Int, mapped: Int) {
        let text = (try? String(contentsOfFile: "/proc/self/smaps", encoding: .utf8)) ?? ""
        var code = (size: 0, mapped: 0)
        var isCode = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let range = words.first, range.contains("-") { isCode = words.count > 5 && words[1] == "r-xp" }
            guard isCode, let kilobytes = words.dropFirst().first.flatMap({ Int($0) }) else { continue }
            if words[0] == "Size:" { code.size += kilobytes }
            if words[0] == "Rss:" { code.mapped += kilobytes }
        }
        return code
    }

    // Would catch: code that a helper still fetches page by page while a finger lies on the reader.
    @Test(.enabled(if: isKnown)) func `all code is mapped`() async {
        await #expect(processExitsWith: .success) {
            let before = Self.code()
            guard before.mapped > 0, before.mapped < before.size else { exit(1) }
            signet_map_code()
            let after = Self.code()
            guard after.size == before.size else { exit(2) }
            // The kernel's own page for getting the time is no file's.
            guard after.size - after.mapped < 64 else { exit(3) }
        }
    }
}

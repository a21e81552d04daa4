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

    /// The kilobytes of GIO's code, and how many of them are in the page table (`proc_pid_smaps(5)`).
    private static func code() -> (size: Int, mapped: Int) {
        let bytes = try? FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd()
        let text = String(decoding: bytes ?? Data(), as: UTF8.self)
        var code = (size: 0, mapped: 0)
        var isCode = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let range = words.first, range.contains("-") {
                isCode = words.count > 5 && words[1] == "r-xp" && words[5].contains("/libgio-")
            }
            guard isCode, let kilobytes = words.dropFirst().first.flatMap({ Int($0) }) else { continue }
            if words[0] == "Size:" { code.size += kilobytes }
            if words[0] == "Rss:" { code.mapped += kilobytes }
        }
        return code
    }

    // Would catch: code that a helper still fetches page by page while a finger lies on the reader.
    @Test(.enabled(if: isKnown)) func `all code is mapped`() async {
        await #expect(processExitsWith: .success) {
            // libfprint needs it, so that it is there wherever this is built; nothing of it has run in this process.
            guard dlopen("libgio-2.0.so.0", RTLD_NOW) != nil else { exit(3) }
            let before = Self.code()
            guard before.mapped < before.size else { exit(1) }
            signet_map_code()
            let after = Self.code()
            guard after.size == before.size, after.mapped == after.size else { exit(2) }
        }
    }
}

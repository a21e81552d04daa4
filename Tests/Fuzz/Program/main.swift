import CFuzzer
import FuzzTargets
import Glibc

// `signet-fuzz --list`, `signet-fuzz --seeds FOLDER`, which writes the corpus that the fuzzer starts from, or
// `signet-fuzz TARGET` with the options and folders of libFuzzer.

private let words = CommandLine.arguments.dropFirst()
if words.first == "--list" {
    for target in FuzzTarget.all { print(target.name, target.longest) }
    exit(0)
}
if words.first == "--seeds", let folder = words.last {
    for target in FuzzTarget.all {
        mkdir("\(folder)/\(target.name)", 0o755)
        for (index, seed) in try Seeds.of(target.name).enumerated() {
            let file = fopen("\(folder)/\(target.name)/seed-\(index)", "w")
            guard let file, fwrite(seed, 1, seed.count, file) == seed.count, fclose(file) == 0 else { exit(1) }
        }
    }
    exit(0)
}
guard let name = words.first, let target = FuzzTarget.named(name) else {
    print("signet-fuzz: say a target, one of", FuzzTarget.all.map(\.name).joined(separator: ", "))
    exit(2)
}

/// The target of this process; libFuzzer's callback is a C function and can carry nothing along.
private let examine = target.examine

private var arguments = ([CommandLine.arguments[0]] + words.dropFirst()).map { strdup($0) } + [nil]
private var count = Int32(arguments.count - 1)
let status = arguments.withUnsafeMutableBufferPointer { buffer in
    var base = buffer.baseAddress
    return LLVMFuzzerRunDriver(&count, &base) { data, size in
        // A copy of its own exactly as long as the input, so that the address sanitizer sees a read past its end.
        let bytes = data.map { Array(UnsafeBufferPointer(start: $0, count: size)) } ?? []
        if case .broken(let how) = examine(bytes) { fatalError("the input \(how)") }
        return 0
    }
}
exit(status)

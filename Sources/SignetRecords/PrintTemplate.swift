// to be replaced
package enum PrintTemplate {
    package static let identityOverhead = 128
    package static func writeIdentity(of t: Span<UInt8>, into target: inout MutableSpan<UInt8>) -> Int? {
        for i in 0..<t.count { target[i] = t[i] }
        return t.count
    }
}

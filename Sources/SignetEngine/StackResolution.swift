package import SignetRecords

/// One module of a service's authentication stack, after all includes.
package struct StackModule: Equatable, Sendable {
    package let call: PAMModuleLine
    /// The service file it stands in, without folder.
    package let file: [UInt8]
    package let line: Int
    /// 0 in the service itself, one more in each substack.
    package let level: Int
    package let kind: StackModuleKind
}

/// Why a stack could not be put together; libpam refuses such a service, or uses `other`.
package enum StackFault: Error, Equatable, Sendable {
    case unreadable(file: [UInt8])
    case malformed(file: [UInt8], PAMFileFault)
    /// Includes in a circle, or more than libpam follows.
    case tooDeep(file: [UInt8])
    case tooLong(file: [UInt8])
}

/// The authentication stack of a service, as libpam builds it.
package struct AuthenticationStack: Equatable, Sendable {
    package let modules: [StackModule]

    /// libpam's `PAM_SUBSTACK_MAX_LEVEL`.
    package static let depthLimit = 16
    /// The most modules that are looked at.
    package static let moduleLimit = 128

    package init(modules: [StackModule]) { self.modules = modules }

    /// Follows the service's includes; `read` gives a service file's bytes by its name, nil where there is none.
    ///
    /// A service without a file or without an `auth` line has the stack of `other`, as in libpam.
    package init(service: [UInt8], read: ([UInt8]) -> [UInt8]?) throws(StackFault) {
        var found: [StackModule] = []
        if let bytes = read(service) {
            try AuthenticationStack.add(bytes, of: service, depth: 0, level: 0, to: &found, read: read)
        }
        if found.isEmpty {
            let other = Array("other".utf8)
            guard let bytes = read(other) else { throw .unreadable(file: service) }
            try AuthenticationStack.add(bytes, of: other, depth: 0, level: 0, to: &found, read: read)
        }
        modules = found
    }

    /// The lines that an include of this file brings, possibly none.
    package init(included file: [UInt8], read: ([UInt8]) -> [UInt8]?) throws(StackFault) {
        var found: [StackModule] = []
        guard let bytes = read(file) else { throw .unreadable(file: file) }
        try AuthenticationStack.add(bytes, of: file, depth: 1, level: 0, to: &found, read: read)
        modules = found
    }

    /// The place of Signet's first line.
    package var firstSignet: Int? { modules.firstIndex { $0.kind == .signet } }

    private static func add(
        _ bytes: [UInt8], of file: [UInt8], depth: Int, level: Int, to modules: inout [StackModule],
        read: ([UInt8]) -> [UInt8]?
    ) throws(StackFault) {
        let parsed: PAMFile
        do { parsed = try PAMFile(parsing: bytes) } catch { throw .malformed(file: file, error) }
        for statement in parsed.statements {
            var included: (name: [UInt8], level: Int)?
            switch statement.directive {
            case .module(let call) where call.type == .auth:
                guard modules.count < moduleLimit else { throw .tooLong(file: file) }
                modules.append(
                    StackModule(
                        call: call, file: file, line: statement.line, level: level, kind: StackModuleKind(call)))
            case .include(.auth, let name), .includeAll(let name): included = (name, level)
            case .substack(.auth, let name):
                included = (name, level + 1)
                let entry = PAMModuleLine(
                    type: .auth, quiet: false, control: .required, controlText: [], module: name, arguments: [])
                modules.append(
                    StackModule(call: entry, file: file, line: statement.line, level: level, kind: .substack))
            case .module, .include, .substack, .nothing: break
            }
            guard let included else { continue }
            guard depth + 1 < depthLimit else { throw .tooDeep(file: file) }
            guard let inner = read(included.name) else { throw .unreadable(file: included.name) }
            try add(inner, of: included.name, depth: depth + 1, level: included.level, to: &modules, read: read)
        }
    }
}

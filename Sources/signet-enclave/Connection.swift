internal import CPlatform
internal import CTSS2
import SignetSecrets

/// No session, where a call takes one.
let noSession: ESYS_TR = ESYS_TR_NONE

/// tss2's context, for the length of one call.
@safe struct Context {
    let pointer: OpaquePointer
}

/// A value of a C type in memory of ours, for the length of a closure.
@safe struct Scratch<Value> {
    let pointer: UnsafeMutablePointer<Value>
}

/// The connection to a TPM, and the only owner of tss2's contexts.
///
/// Whatever lives in the TPM holds on to it: Swift may end values in any order, and the contexts must go last.
@safe final class Connection {
    private let esys: OpaquePointer
    private let tcti: OpaquePointer
    /// Whether a resource manager stands between us and the TPM.
    let isManaged: Bool
    /// What the connection was lost with; there is no second one.
    private var loss: ReturnCode?
    /// The TPM's own numbers of what lives in it for us.
    private var ours: [TPM2_HANDLE] = []

    /// Milliseconds to wait before a command is tried again that a TPM put off (TPM_RC_RETRY, TPM_RC_NV_RATE).
    private static let pauses: [UInt32] = [50, 75, 100, 150, 200]

    private init(esys: OpaquePointer, tcti: OpaquePointer, isManaged: Bool) {
        self.isManaged = isManaged
        unsafe self.esys = unsafe esys
        unsafe self.tcti = unsafe tcti
    }

    /// Connects; nil where there is no TPM.
    static func open(_ interface: Interface) -> Connection? {
        var tcti: OpaquePointer?
        // SAFETY: the configuration ends with a zero; both pointers are good for the call.
        let code = unsafe interface.configuration.withUnsafeBufferPointer { text -> TSS2_RC in
            guard let base = text.baseAddress else { return 1 }
            return unsafe signet_connect(interface.isSoftware, base, &tcti)
        }
        guard code == 0, let tcti = unsafe tcti else { return nil }
        var esys: OpaquePointer?
        // SAFETY: the connection was just made and outlives the context.
        guard unsafe Esys_Initialize(&esys, tcti, nil) == 0, let esys = unsafe esys else {
            unsafe signet_disconnect(tcti)
            return nil
        }
        return unsafe Connection(esys: esys, tcti: tcti, isManaged: interface.isManaged)
    }

    deinit {
        var context: OpaquePointer? = unsafe esys
        // SAFETY: both have this one owner, and nothing uses them afterwards; the context goes before its connection.
        unsafe Esys_Finalize(&context)
        unsafe signet_disconnect(tcti)
    }

    /// Makes one call of tss2, again where the TPM puts it off or is full.
    func call(_ command: (Context) -> TSS2_RC) throws(ReturnCode) {
        for pause in Connection.pauses {
            do throws(ReturnCode) { return try callOnce(command) } catch {
                // A resource manager makes room by itself.
                guard error.isTransient || error.isFull && !isManaged else { throw error }
                usleep(pause * 1000)
            }
        }
        do throws(ReturnCode) { try callOnce(command) } catch {
            guard error.isFull, !isManaged else { throw error }
            try flushLeftovers()
            try callOnce(command)
        }
    }

    /// Makes one call of tss2.
    func callOnce(_ command: (Context) -> TSS2_RC) throws(ReturnCode) {
        if let loss { throw loss }
        let code = ReturnCode(raw: command(unsafe Context(pointer: esys)))
        guard code.raw == 0 else {
            // tss2 only complains of the order of calls afterwards.
            if code.isLoss { loss = code }
            throw code
        }
    }

    /// Flushes what is not ours, in a TPM without a resource manager that stayed full: a helper that was killed left its
    /// objects there, or another program uses the TPM without one and holds three places for longer than it should.
    private func flushLeftovers() throws(ReturnCode) {
        for first in [signet_first_transient, signet_first_session] {
            for handle in try handles(from: first) where !ours.contains(handle) {
                try callOnce { esys in
                    var system: OpaquePointer?
                    // SAFETY: the context lives, and its system context with it.
                    let code = unsafe Esys_GetSysContext(esys.pointer, &system)
                    return code == 0 ? unsafe Tss2_Sys_FlushContext(system, handle) : code
                }
            }
        }
    }

    /// Notes what lives in the TPM for us.
    fileprivate func note(_ number: ESYS_TR) {
        var handle: TPM2_HANDLE = 0
        // SAFETY: the context lives; the handle is good for the call.
        if unsafe Esys_TR_GetTpmHandle(esys, number, &handle) == 0 { ours.append(handle) }
    }

    /// Takes an object or a session out of the TPM.
    fileprivate func flush(_ number: ESYS_TR) {
        var handle: TPM2_HANDLE = 0
        // SAFETY: the context lives; the handle is good for the call.
        if unsafe Esys_TR_GetTpmHandle(esys, number, &handle) == 0 { ours.removeAll { $0 == handle } }
        // SAFETY: the context lives; an unknown number is an error that changes nothing.
        _ = unsafe Esys_FlushContext(esys, number)
    }

    /// Lets go of what tss2 knows of an NV index.
    fileprivate func forget(_ number: ESYS_TR) {
        var number = number
        // SAFETY: as in `flush`.
        _ = unsafe Esys_TR_Close(esys, &number)
    }
}

/// An object or a session that lives in the TPM for us alone; flushed when its owner lets go of it.
struct Handle: ~Copyable {
    let number: ESYS_TR
    private let connection: Connection

    init(_ number: ESYS_TR, in connection: Connection) {
        self.number = number
        self.connection = connection
        connection.note(number)
    }

    deinit { connection.flush(number) }
}

/// What tss2 knows of an NV index, which itself lives on in the TPM.
///
/// One at a time for an index: tss2 3 gives the same number twice and does not count.
struct IndexHandle: ~Copyable {
    let number: ESYS_TR
    private let connection: Connection

    init(_ number: ESYS_TR, in connection: Connection) {
        self.number = number
        self.connection = connection
    }

    deinit { connection.forget(number) }
}

/// What a call of tss2 put into memory of its own; wiped before it is freed, for it may be a secret.
@safe struct Output<Value>: ~Copyable {
    let pointer: UnsafeMutablePointer<Value>

    /// Takes what a successful call answered.
    init?(_ pointer: UnsafeMutablePointer<Value>?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        // SAFETY: tss2 allocated a whole value, which has this one owner.
        unsafe explicit_bzero(pointer, MemoryLayout<Value>.size)
        unsafe Esys_Free(pointer)
    }
}

/// Lets `body` use a zeroed value of a C type in guarded memory; nil where memory is short.
func withScratch<Value: BitwiseCopyable, Result: ~Copyable, Failure: Error>(
    _ type: Value.Type, _ body: (Scratch<Value>) throws(Failure) -> Result
) throws(Failure) -> Result? {
    // libsodium puts an allocation at the end of a page, so that a size that is a multiple of the alignment is aligned.
    guard var memory = SecretBytes(count: MemoryLayout<Value>.stride) else { return nil }
    return try memory.withMutableBytes { (bytes) throws(Failure) -> Result? in
        // SAFETY: the memory holds one value, is aligned for it, and all zero is a value of each of these C types.
        try unsafe bytes.withUnsafeMutableBytes { (buffer) throws(Failure) -> Result? in
            guard let base = buffer.baseAddress else { return nil }
            return try body(unsafe Scratch(pointer: base.assumingMemoryBound(to: Value.self)))
        }
    }
}

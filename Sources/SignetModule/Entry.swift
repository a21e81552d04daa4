internal import PAMShim

/// Runs one authentication and answers a PAM code; the shim's header declares it.
@c @implementation
public func signet_authenticate(
    _ handle: OpaquePointer, _ flags: CInt, _ argc: CInt, _ argv: UnsafePointer<UnsafePointer<CChar>?>?
) -> CInt {
    PAM_SERVICE_ERR
}

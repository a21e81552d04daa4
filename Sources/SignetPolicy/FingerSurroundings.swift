/// What of the caller's surroundings makes a finger no answer; prompts and reports judge by it alike.
package struct FingerSurroundings: Equatable, Sendable {
    /// Why no finger is asked for at any reader: a remote caller, another seat, a background job.
    package var closure: FingerClosure?
    /// Whether a lid is closed, which covers readers that are inside.
    package var lidClosed: Bool

    package init(closure: FingerClosure? = nil, lidClosed: Bool = false) {
        self.closure = closure
        self.lidClosed = lidClosed
    }

    /// Why no reader need be looked for, where the user's were approved at `places`; nil where one may be asked.
    package func closure(besideApproved places: [ReaderPlace]) -> FingerClosure? {
        if let closure { return closure }
        // An approved reader at an outside port lies beside the closed machine; else nobody need be asked to touch.
        return lidClosed && places.allSatisfy { $0.mayBeInside } ? .lidClosed : nil
    }

    /// Why a reader at `place` is not asked; nil where it may be.
    package func closure(at place: ReaderPlace) -> FingerClosure? { lidClosed && place.mayBeInside ? .lidClosed : nil }
}

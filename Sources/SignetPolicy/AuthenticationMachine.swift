/// Evidence that the deciding machine granted: nothing else can make one.
package struct Proof: Equatable, Sendable {
    package let factor: Factor

    fileprivate init(factor: Factor) { self.factor = factor }
}

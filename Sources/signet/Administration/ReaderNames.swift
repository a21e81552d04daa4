internal import SignetEngine
internal import SignetPolicy

// What a reader is called where prints of several are told apart.

extension ReaderIdentity {
    /// "elanmoc"; with the device, "elanmoc:0", where another one of `readers` has the same driver.
    func label(among readers: [ReaderIdentity]) -> String {
        let isAlone = !readers.contains { $0.driver == driver && $0.device != device }
        return isAlone ? Output.text(driver) : "\(Output.text(driver)):\(Output.text(device))"
    }
}

extension UserStatus {
    /// Whether the prints are of more than one reader, so that a finger's name alone does not tell one.
    var hasSeveralReaders: Bool { fingers.contains { $0.reader != fingers.first?.reader } }

    /// The name of an enrolled finger's reader; its driver where it is not there to say its name.
    func name(of reader: ReaderIdentity) -> String {
        let others = fingers.map(\.reader).filter { $0 != reader }
        let label = reader.label(among: others)
        guard let name = ownName(of: reader) else { return label }
        return others.contains { ownName(of: $0) == name } ? "\(name) (\(label))" : name
    }

    private func ownName(of reader: ReaderIdentity) -> String? {
        guard case .present(let found) = readers, let here = found.first(where: { $0.identity == reader }) else {
            return nil
        }
        return Output.text(here.name)
    }
}

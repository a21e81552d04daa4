internal import SignetPolicy

/// Prints that are enrolled and gone from their reader's memory: what is said of them, and how they are cleaned up.
enum GonePrints {
    /// Where fprintd keeps what is enrolled, its own programs change it.
    static let remedyOfFprintd = "delete it in the settings of GNOME or KDE, or with fprintd-delete"

    /// The command for the first of them, with `option` as the rest of it.
    ///
    /// Without any it is one that nobody can run as it stands.
    static func remedy(_ fingers: [Finger], _ option: String) -> String {
        "sudo signet delete \(fingers.first?.argument ?? "…")\(option)"
    }

    /// Sentences behind what a task says; nothing where none is gone.
    static func text(_ fingers: [Finger], _ option: String, keptElsewhere: Bool) -> String {
        fingers.map { finger in
            let remedy =
                keptElsewhere ? "Better \(remedyOfFprintd)" : "Delete it with \"\(remedy([finger], option))\""
            return "The \(finger.name) is gone from the reader's memory, and matches no more. \(remedy).\n"
        }.joined()
    }
}

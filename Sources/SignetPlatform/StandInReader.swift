package import SignetPolicy

/// A program that an administrator put in the place of the shipped reader helper: a test's virtual or recorded reader.
///
/// Such a reader may say "match" for anybody, so whatever speaks of a reader says so while it is configured.
package enum StandInReader {
    /// The words for it: in prompt, journal, status and doctor alike.
    package static var label: String { "stand-in reader" }

    /// Whether one is configured.
    package static func isConfigured(_ configuration: Configuration) -> Bool { configuration.sensorHelper != nil }
}

package import SignetPolicy

/// One print of the enrollment set, without its template.
package struct PrintEntry: Equatable, Sendable {
    package let finger: Finger
    package let reader: ReaderIdentity
    /// Whether the template lies in the reader's memory and the host holds only its handle.
    package let onReader: Bool
    /// Wall time in seconds since 1970, for people to read only.
    package let enrolledAt: Int64
    /// Where the template, libfprint's serialized form, lies in the bytes that hold all of them.
    package let template: Range<Int>

    /// The longest template accepted, in bytes; NBIS templates of five scans are about 4 kB.
    package static let templateLimit = 32_768

    package init(finger: Finger, reader: ReaderIdentity, onReader: Bool, enrolledAt: Int64, template: Range<Int>) {
        self.finger = finger
        self.reader = reader
        self.onReader = onReader
        self.enrolledAt = enrolledAt
        self.template = template
    }
}

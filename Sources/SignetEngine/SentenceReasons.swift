package import SignetPolicy

extension RetryReason {
    /// What to do at the next touch.
    package var sentence: String {
        switch self {
        case .general: "That touch could not be read. Touch again."
        case .tooShort: "Swipe a little further and try again."
        case .centreFinger: "Centre your finger and touch again."
        case .removeFinger: "Lift your finger and touch again."
        case .tooFast: "Swipe more slowly and try again."
        }
    }
}

extension RetryReason {
    /// The same before an open field, in two forms that follow each other.
    func label(again: Bool) -> String {
        switch self {
        case .general:
            "That touch could not be read\(again ? " either" : ""). Touch again or type your PIN: "
        case .tooShort: "Swipe \(again ? "still" : "a little") further, or type your PIN: "
        case .centreFinger: "Centre your finger \(again ? "more " : "")and touch again, or type your PIN: "
        case .removeFinger: "Lift your finger \(again ? "fully " : "")and touch again, or type your PIN: "
        case .tooFast: "Swipe \(again ? "still " : "")more slowly, or type your PIN: "
        }
    }
}

extension ReaderDistrust {
    /// Why the reader is not used.
    package var sentence: String {
        switch self {
        case .outside: "The reader is at an outside port, which is not allowed here."
        case .moved: "The reader is at another port than when you approved it."
        case .approvedOutside: "You approved the reader at an outside port, which is not allowed here."
        case .unplaced: "Where the reader is connected cannot be told, so it is not used."
        case .chip: "The reader compares by itself, which is not allowed here."
        case .virtual: "Your fingerprints are for a stand-in reader, and none is configured."
        }
    }
}

extension ReaderExchange {
    /// What is the matter.
    ///
    /// It stands where anybody may read it, so that it names the reader that they see, and not the one that they do not.
    var sentence: String {
        "Your fingerprints are for another reader than this one (\(UTF8Text.printable(present, limit: 40)))."
    }

    /// What makes fingers count again, in the middle of a sentence.
    var remedy: String {
        isKeptElsewhere
            ? "enrol in the desktop's settings and run \"sudo signet activate\"" : "run \"sudo signet enroll\""
    }
}

extension PINWeakness {
    /// Why the PIN is refused, and what to choose.
    package var sentence: String {
        switch self {
        case .tooShort(let minimum): "That PIN is too short. Use at least \(minimum) characters."
        case .tooLong(let maximum): "That PIN is too long. Use at most \(maximum) characters."
        case .notPrintableASCII: "Use only digits, letters without accents, spaces and common signs."
        case .repeated: "That PIN repeats itself. " + PINWeakness.advice
        case .run: "That PIN is a run of neighbouring characters. " + PINWeakness.advice
        case .keypadWalk: "That PIN follows the keys. " + PINWeakness.advice
        case .date: "That PIN reads as a date. " + PINWeakness.advice
        case .containsUserName: "That PIN holds a part of the user name. " + PINWeakness.advice
        case .common: "That PIN is among the most common. " + PINWeakness.advice
        }
    }

    private static let advice = "Choose one that is harder to guess."
}

package import SignetPolicy

// What a reader can go through, and what is said of it: the one table.
//
// The cause is found by the helper (signet-sensor/Problems.swift) or by whoever talks to it (SignetPlatform/SensorClient):
//
//  what happens                                      what tells it
//  the machine sleeps while the reader is armed      CLOCK_BOOTTIME runs on, CLOCK_MONOTONIC does not (SleepMeter)
//  unplugged while it is armed                       FP_DEVICE_ERROR_REMOVED, G_USB_DEVICE_ERROR_NO_DEVICE
//  listed, but gone when it is opened: a ghost       the same, on opening, from each of its entries
//  another program has it                            a claim, FP_DEVICE_ERROR_BUSY, a descriptor of somebody's
//  too hot                                           FP_DEVICE_ERROR_TOO_HOT
//  does not answer while it opens, or a transfer     openSeconds, G_USB_DEVICE_ERROR_TIMED_OUT, G_IO_ERROR_TIMED_OUT
//  the helper is stuck in its driver                 no answer to `cancel` within a second; it is killed
//  the driver ignores the cancel                     the helper's word, after 0.7 s; it is killed
//
// Plugging in needs no event: each prompt looks anew. After a sleep the reader is waited for (SensorClient+Sleep).

/// What is said of one problem.
struct ReaderProblemWords {
    /// The word in the journal, after `problem=`.
    let journal: StaticString
    /// What is the matter, as a sentence without its full stop.
    let fact: String
    /// What the person can do, as a whole sentence; empty where there is nothing to be said.
    let advice: String

    init(_ journal: StaticString, _ fact: String, advice: String = "") {
        self.journal = journal
        self.fact = fact
        self.advice = advice
    }
}

extension ReaderProblem {
    var described: ReaderProblemWords {
        switch self {
        case .noReader: ReaderProblemWords("no_reader", "No reader was found")
        case .slept: ReaderProblemWords("slept", "The reader was lost while the machine slept")
        case .removed: ReaderProblemWords("removed", "The reader was unplugged")
        case .ghost:
            ReaderProblemWords("ghost", "The reader is listed and no longer there", advice: "Plug it in again.")
        case .busy: ReaderProblemWords("busy", "The reader is in use by another program")
        case .tooHot: ReaderProblemWords("too_hot", "The reader is too hot and needs a few minutes")
        case .timedOut: ReaderProblemWords("timed_out", "The reader did not answer")
        case .stalled: ReaderProblemWords("stalled", "The reader stopped answering")
        case .cancelIgnored:
            ReaderProblemWords("cancel_ignored", "The reader was not touched in time, and did not stop waiting")
        case .notPermitted: ReaderProblemWords("not_permitted", "The reader may not be used")
        case .faulty: ReaderProblemWords("faulty", "The reader reported a fault")
        case .helperFailed: ReaderProblemWords("helper_failed", "The program that drives the reader failed")
        case .storageFull: ReaderProblemWords("storage_full", "The reader's memory is full")
        case .duplicate: ReaderProblemWords("duplicate", "The reader knows this finger already")
        case .unsupported: ReaderProblemWords("unsupported", "The reader cannot do this")
        case .printNotFound: ReaderProblemWords("print_not_found", "The reader no longer has this fingerprint")
        case .virtualRefused:
            ReaderProblemWords("virtual_refused", "Only a virtual reader was found, and those are refused")
        }
    }

    /// What is the matter, without a full stop: for a line that goes on.
    package var fact: String { described.fact }

    /// What is the matter, and what to do where a person can do something; "Type your PIN" may follow.
    package var sentence: String {
        let words = described
        return words.advice.isEmpty ? words.fact + "." : words.fact + ". " + words.advice
    }
}

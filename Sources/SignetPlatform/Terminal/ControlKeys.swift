internal import CPlatform

/// The control characters that a terminal's owner has given a meaning (`stty(1)`, `termios(3)`: c_cc).
///
/// Only control characters count: a terminal whose erase key is a letter could type no PIN with that letter.
package struct ControlKeys: Equatable, Sendable {
    /// Takes one character.
    var erase: UInt8?
    /// Take all: VKILL, VWERASE.
    var kill: UInt8?
    var wordErase: UInt8?
    /// Cancel and interrupt the job: VINTR, VQUIT.
    ///
    /// nil where the terminal makes no signals of keys: a program that has switched that off, a locker for one, must not
    /// get from us what it shuts out (termios(3), ISIG).
    var interrupt: UInt8? = 0x03
    var quit: UInt8? = 0x1C
    /// Cancels: VEOF.
    var endOfFile: UInt8?
    /// Stops the program: VSUSP; nil as above.
    var suspend: UInt8? = 0x1A

    /// What a terminal has that was never set up otherwise.
    package init() {}

    init(_ modes: termios) {
        var copy = modes
        self = ControlKeys.withCharacters(of: &copy) { characters in
            func control(_ index: Int32) -> UInt8? {
                let character = characters[Int(index)]
                // 0 is _POSIX_VDISABLE: no key.
                return (character > 0 && character < 0x20) || character == 0x7F ? character : nil
            }
            var keys = ControlKeys()
            keys.erase = control(VERASE)
            keys.kill = control(VKILL)
            keys.wordErase = control(VWERASE)
            let signals = modes.c_lflag & tcflag_t(ISIG) != 0
            keys.interrupt = signals ? control(VINTR) : nil
            keys.quit = signals ? control(VQUIT) : nil
            keys.endOfFile = control(VEOF)
            keys.suspend = signals ? control(VSUSP) : nil
            return keys
        }
    }

    /// Lets `body` see the control characters, which are an array in C and a tuple in Swift.
    static func withCharacters<Result>(
        of modes: inout termios, _ body: (inout MutableSpan<UInt8>) -> Result
    ) -> Result {
        unsafe withUnsafeMutableBytes(of: &modes.c_cc) { bytes in
            // SAFETY: cc_t is an unsigned char; the span covers the array and does not outlive the call.
            var span = unsafe bytes.bindMemory(to: UInt8.self).mutableSpan
            return body(&span)
        }
    }
}

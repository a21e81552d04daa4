import CConfinement
import CPlatform
import Foundation
import Testing

/// Whether a call was refused as not permitted.
private func isRefused(_ answer: Int) -> Bool { answer == -1 && signet_errno() == EPERM }

extension SensorTests {
    /// What is left to whoever takes over a helper that has opened its reader.
    @Suite struct ConfinementTests {
        /// Catches a filter that lets a call through which it names, or refuses what the reader needs.
        @Test func refusesWhatAnIntruderNeeds() async {
            await #expect(processExitsWith: .exitCode(77)) {
                guard signet_confine(65_534, 65_534) == 0, signet_filter_calls() == 0 else { exit(1) }
                let arguments: [UnsafeMutablePointer<CChar>?] = [nil]
                guard isRefused(Int(execve("/bin/true", arguments, arguments))) else { exit(2) }
                guard isRefused(Int(fork())) else { exit(3) }
                guard isRefused(Int(socket(AF_UNIX, 1, 0))), isRefused(Int(socket(AF_INET, 1, 0))) else { exit(4) }
                guard isRefused(Int(signet_openat(AT_FDCWD, "/dev/null", O_RDWR, 0))) else { exit(5) }
                guard isRefused(Int(signet_openat(AT_FDCWD, "/tmp/x", O_RDONLY | O_CREAT, 0o600))) else { exit(6) }
                guard isRefused(Int(kill(getpid(), 0))) else { exit(7) }
                guard isRefused(Int(unlink("/tmp/x"))), isRefused(Int(setuid(0))) else { exit(8) }
                // The same effect by another number is the same effect.
                guard isRefused(Int(rename("/x", "/y"))), isRefused(Int(renameat(AT_FDCWD, "/x", AT_FDCWD, "/y")))
                else { exit(10) }
                // Reading stays possible: drivers and libraries look at /sys.
                guard signet_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0) >= 0 else { exit(9) }
                exit(77)
            }
        }

        /// Catches a filter that keeps libfprint from finding the minutiae, which it does in a thread.
        @Test func threadsStayPossible() async {
            await #expect(processExitsWith: .exitCode(77)) {
                guard signet_confine(65_534, 65_534) == 0, signet_filter_calls() == 0 else { exit(1) }
                Thread.detachNewThread { exit(77) }
                sleep(10)
                exit(3)
            }
        }
    }
}

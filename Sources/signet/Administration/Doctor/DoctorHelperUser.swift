internal import CPlatform
internal import SignetPlatform

// The system user that both helpers give up root for.

extension Doctor {
    /// The line on the helpers' user, as /etc/passwd has it and the name services see it.
    func helperUserLines() -> [DoctorLine] {
        var user = uid_t(SIGNET_NOBODY)
        var group = gid_t(SIGNET_NOBODY)
        // SAFETY: both pointers are good for the call.
        let answer = unsafe signet_helper_user(&user, &group)
        let name = ((try? Accounts.numbered(user)) ?? nil)?.name
        return [Doctor.helperUserLine(answer, user: user, names: (name, Groups.name(of: group)))]
    }

    /// `names` are what the name services find by the numbers of user and group; nil where they find none.
    static func helperUserLine(
        _ answer: signet_user_answer, user: UInt32, names: (user: [UInt8]?, group: [UInt8]?)
    ) -> DoctorLine {
        let name = "signet"
        let meanwhile = "so helpers run as nobody, whose other processes can end them"
        switch answer {
        case SIGNET_USER_OWN:
            if let other = names.user, other != Array(name.utf8) {
                return DoctorLine(
                    .warn, "helper user",
                    "\(Output.text(other)) has the uid \(user) of the helpers too, and can end them",
                    remedy: "give \(name) a uid of its own: sudo usermod --uid NUMBER \(name)")
            }
            if let other = names.group, other != Array(name.utf8) {
                return DoctorLine(
                    .warn, "helper user", "helpers get the group \(Output.text(other)), and may what it may",
                    remedy: "sudo groupadd --system \(name); sudo usermod --gid \(name) \(name)")
            }
            return .ok("helper user", "helpers give up root for \(name), uid \(user), which is theirs alone")
        case SIGNET_USER_MISSING:
            return DoctorLine(
                .warn, "helper user", "/etc/passwd has no user \(name), \(meanwhile)",
                remedy: "sudo useradd --system --user-group --no-create-home --home-dir /nonexistent "
                    + "--shell /usr/sbin/nologin \(name)")
        default:
            return DoctorLine(
                .warn, "helper user",
                "the user \(name) is no system user (uid and gid 1 to 999, no password, no shell), \(meanwhile)",
                remedy: "give that user another name, then run scripts/install")
        }
    }
}

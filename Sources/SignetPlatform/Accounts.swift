internal import CPlatform

/// An account of the machine.
package struct Account: Equatable, Sendable {
    package let uid: UInt32
    /// The login name in bytes, as the account database writes it.
    package let name: [UInt8]
}

/// The account database cannot be asked; that says nothing about whether the user exists.
package struct AccountsUnreadable: Error, Equatable, Sendable {
    package let errno: Int32
}

/// The account database, through the machine's name services.
package enum Accounts {
    /// The account of this name, or nil where there is none.
    package static func named(_ name: [UInt8]) throws(AccountsUnreadable) -> Account? {
        // A zero byte inside would ask for another, shorter name.
        for byte in name where byte == 0 { return nil }
        guard !name.isEmpty, name.count <= 255 else { return nil }
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        // SAFETY: what `look` passes is its own and outlives the call; the name is terminated.
        return try unsafe look { (entry, buffer, count, found) in
            unsafe getpwnam_r(terminated, entry, buffer, count, found)
        }
    }

    /// The account of this uid, or nil where there is none.
    package static func numbered(_ uid: UInt32) throws(AccountsUnreadable) -> Account? {
        // SAFETY: what `look` passes is its own and outlives the call.
        try unsafe look { (entry, buffer, count, found) in
            unsafe getpwuid_r(uid, entry, buffer, count, found)
        }
    }

    /// The accounts of these uids; those that there are not are left out.
    ///
    /// Each question for one uid may read all of /etc/passwd: for each of 10,000 users by itself, that is most of the time.
    /// So it is read from its beginning once, and only who is not found there is asked for alone.
    package static func numbered(_ uids: [UInt32]) throws(AccountsUnreadable) -> [UInt32: Account] {
        setpwent()
        defer { endpwent() }
        return try AccountSearch.find(uids, next: next, one: numbered)
    }

    /// The next account that the name services list; nil at the end, and where they do not go on.
    private static func next() -> Account? {
        // SAFETY: what `look` passes is its own and outlives the call.
        (try? unsafe look { (entry, buffer, count, found) in unsafe getpwent_r(entry, buffer, count, found) }) ?? nil
    }

    private typealias Look = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    /// Asks with a growing buffer; an entry of more than 1 MiB is refused.
    private static func look(_ ask: Look) throws(AccountsUnreadable) -> Account? {
        var size = 1024
        while true {
            var buffer = [CChar](repeating: 0, count: size)
            var account: Account?
            // SAFETY: the entry's name points into `buffer`, terminated, and is copied while the buffer stays in place.
            let code = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
                guard let start = buffer.baseAddress else { return ENOMEM }
                var entry = unsafe passwd()
                var found: UnsafeMutablePointer<passwd>?
                let code = unsafe ask(&entry, start, buffer.count, &found)
                guard code == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return code }
                let bytes = unsafe UnsafeBufferPointer(start: name, count: strlen(name))
                account = unsafe Account(uid: entry.pw_uid, name: bytes.map { UInt8(bitPattern: $0) })
                return code
            }
            switch code {
            // getpwnam_r(3): several answers mean "no such user", depending on the source.
            case 0, ENOENT, ESRCH: return account
            case EINTR: continue
            case ERANGE where size < 1 << 20: size *= 4
            default: throw AccountsUnreadable(errno: code)
            }
        }
    }
}

/// Finds many accounts with few questions.
package enum AccountSearch {
    /// Fewer uids than these are asked for one by one.
    package static let fewest = 8
    /// How many accounts are listed for each uid that is looked for.
    ///
    /// A directory of a whole company may list all that it has, and its server answers a question for one uid as fast as
    /// a hundred lines are read.
    package static let listedPerUID = 100

    /// `next` lists the accounts in the order in which the name services are asked, `one` asks for a single uid.
    package static func find(
        _ uids: [UInt32], next: () -> Account?, one: (UInt32) throws(AccountsUnreadable) -> Account?
    ) throws(AccountsUnreadable) -> [UInt32: Account] {
        var found: [UInt32: Account] = [:]
        if uids.count >= fewest {
            let wanted = Set(uids)
            var listed = 0
            while found.count < wanted.count, listed < wanted.count * listedPerUID, let account = next() {
                listed += 1
                // The first of two with one uid is the one that a question for it answers.
                if wanted.contains(account.uid), found[account.uid] == nil { found[account.uid] = account }
            }
        }
        for uid in uids where found[uid] == nil { found[uid] = try one(uid) }
        return found
    }
}

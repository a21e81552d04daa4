import Testing

@testable import SignetPlatform

@Suite struct AccountSearchTests {
    /// Counts the questions to a database of these uids, of which only `listed` are listed.
    private func search(
        _ uids: [UInt32], in all: Range<UInt32>, listed: Range<UInt32>? = nil
    ) throws -> (found: [UInt32], listed: Int, asked: Int) {
        var list = (listed ?? all).makeIterator()
        var (listedCount, asked) = (0, 0)
        let found = try AccountSearch.find(
            uids,
            next: {
                listedCount += 1
                return list.next().map { Account(uid: $0, name: [1]) }
            },
            one: { uid in
                asked += 1
                return all.contains(uid) ? Account(uid: uid, name: [1]) : nil
            })
        return (found.keys.sorted(), listedCount, asked)
    }

    // Would catch a search whose cost grows with the square: a question that reads the whole database for each user.
    @Test(arguments: [10, 1_000, 10_000]) func asManyQuestionsAsThereAreUsersAtTheMost(_ count: UInt32) throws {
        let uids = Array(1..<count + 1)
        let result = try search(uids, in: 0..<count + 5)
        #expect(result.found == uids)
        #expect(result.listed <= Int(count) + 1)
        #expect(result.asked == 0)
    }

    // Would catch users of a service that lists nobody, or not all, who are taken for gone; or gone ones who are found.
    @Test func whoIsNotListedIsAskedForAlone() throws {
        let uids = Array(UInt32(1)..<21)
        let result = try search(uids, in: 0..<18, listed: 0..<5)
        #expect(result.found == Array(1..<18))
        #expect(result.asked == 16)
    }

    // Would catch a directory of a whole company that is listed to its end for a few.
    @Test func aHugeDirectoryIsNotListedToItsEnd() throws {
        let few = Array(UInt32(900_000)..<900_010)
        let result = try search(few, in: 0..<1_000_000)
        #expect(result.found == few)
        #expect(result.listed <= 10 * AccountSearch.listedPerUID)
        let fewer = try search(Array(few.prefix(AccountSearch.fewest - 1)), in: 0..<1_000_000)
        #expect(fewer.listed == 0)
        #expect(fewer.asked == AccountSearch.fewest - 1)
    }

    // Would catch the later of two accounts with one uid, which no question answers.
    @Test func theFirstOfTwoNamesIsTheOne() throws {
        var list = (0..<20).map { Account(uid: UInt32($0 / 2), name: [UInt8($0)]) }[...]
        let found = try AccountSearch.find(Array(0..<10), next: { list.popFirst() }, one: { _ in nil })
        #expect(found.keys.sorted().map { found[$0]?.name } == (0..<10).map { [UInt8(2 * $0)] })
    }

    // Would catch the machine's own database read wrongly: an account lost, or another's name.
    @Test func theMachinesAccountsAreTheSameOneByOne() throws {
        let uids = Array(UInt32(0)..<40) + [65_534, 4_000_000_000]
        let together = try Accounts.numbered(uids)
        for uid in uids { #expect(try together[uid] == Accounts.numbered(uid)) }
        #expect(together[0]?.name == Array("root".utf8))
    }
}

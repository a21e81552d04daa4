import SignetPolicy
import Testing

@Suite struct ReaderAssessmentTests {
    private func concern(_ driver: String, keepsPrints: Bool = false) -> ReaderConcern {
        let identity = ReaderIdentity(driver: Array(driver.utf8), device: [0x30])
        return ReaderAssessment.concern(
            about: ReaderDescription(
                identity: identity, place: .nowhere, name: [], stages: 5, swipes: false, identifies: true,
                storesPrints: keepsPrints, listsPrints: false))
    }

    /// Catches a weak driver that passes without a warning, and a driver that is found by the beginning of its name.
    @Test(
        arguments: [
            ("aes3500", .lowThreshold(score: 9)), ("aes4000", .lowThreshold(score: 9)),
            ("vfs5011", .lowThreshold(score: 20)), ("elan", .lowThreshold(score: 24)),
            ("elanspi", .lowThreshold(score: 24)), ("egis0570", .lowThreshold(score: 25)),
            ("upektc", .lowThreshold(score: 30)), ("upektc_img", .lowThreshold(score: 20)),
            ("uru4000", .noErrorRates), ("aes2501", .noErrorRates), ("elanmoc", .unauthenticatedChip),
            ("synaptics", .unauthenticatedChip), ("upekts", .unauthenticatedChip), ("elanmo", .unknownDriver),
            ("", .unknownDriver), ("virtual_image", .virtual), ("virtual_device_storage", .virtual),
        ] as [(String, ReaderConcern)])
    func table(driver: String, expected: ReaderConcern) { #expect(concern(driver) == expected) }

    /// Catches a chip whose driver came later and is taken for one that the host compares for.
    @Test func anUnknownDriverThatKeepsPrintsIsAChip() {
        #expect(concern("newmoc", keepsPrints: true) == .unauthenticatedChip)
        #expect(concern("newmoc") == .unknownDriver)
    }

    /// Catches a concern that nobody is warned of.
    @Test func onlyTheUsualIsNoWarning() {
        #expect(!ReaderConcern.noErrorRates.isWarning)
        for concern in [ReaderConcern.lowThreshold(score: 9), .unauthenticatedChip, .unknownDriver, .virtual] {
            #expect(concern.isWarning)
        }
    }
}

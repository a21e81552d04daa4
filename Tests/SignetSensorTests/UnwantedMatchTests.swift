import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests.SetAsideTests {
    /// Catches a match that lets in who has cancelled or left before anybody looked at it.
    @Test(arguments: [("c", FieldEvent.cancelled), ("l", .left)])
    func aMatchThatNobodyWaitsFor(key: String, event: FieldEvent) throws {
        #expect(try touch(afterTheMatch: key) == .setAside(event, fingerSeen: true))
    }

    /// Catches the same where the wait was over by itself, and only the helper's answer was still to come.
    @Test func aMatchLongAfterTheCancel() throws {
        let stage = try Stage()
        let ending = "sleep 0.4; printf '\(try escaped(.matched(index: 0)))' >&3; exec sleep 30"
        var sensor = client(try stage.standIn(Self.opened + [.armed], ending))
        try open(&sensor)
        var field = PipeField()
        try sensor.arm(beside: &field)
        field.stop = 1_300_000
        let typing = field.press("x", after: 100)
        let touch = sensor.awaitTouch(seconds: 0, beside: &field)
        #expect(touch == .timedOut(fingerSeen: true))
        typing.join()
        sensor.stopListening()
    }

    /// Catches a program that was stopped with its reader armed, and takes the touch that was meant for something else
    /// when it goes on.
    @Test func aMatchLongAfterTheDeadline() throws {
        let stage = try Stage()
        let ending = "sleep 0.3; printf '\(try escaped(.matched(index: 0)))' >&3; exec sleep 30"
        var sensor = client(try stage.standIn(Self.opened + [.armed], ending))
        try open(&sensor)
        var field = PipeField()
        try sensor.arm(beside: &field)
        field.stop = 1_300_000
        field.press("x")
        let touch = sensor.awaitTouch(seconds: 0, beside: &field)
        #expect(touch == .timedOut(fingerSeen: true))
        sensor.stopListening()
    }
}

import Foundation

/// Prints that libfprint 1.94.5 itself serialized, each three times: as its driver made it, with user name, finger, day
/// and description set, and with an empty description and no user name.
enum RealPrints {
    struct Case: Sendable {
        let driver: String
        let isStoredOnReader: Bool
        let isMinutiae: Bool
        /// Length of the data with its type string.
        let dataCount: Int
        let forms: [[UInt8]]
    }

    static let all = [
        Case(
            driver: "virtual_device", isStoredOnReader: false, isMinutiae: false, dataCount: 7,
            forms: [
                decode(
                    """
                    RlAzAQAAAHZpcnR1YWxfZGV2aWNlADAAAAdhbGljZQAAAABuSgsAAAAAAGYxAABzAHYoHh4VEw==
                    """),
                decode(
                    """
                    RlAzAQAAAHZpcnR1YWxfZGV2aWNlADAAAAdhbGljZQAAcmlnaHQgaW5kZXggb2YgYWxpY2UAAG5KCwBmMQAAcwB2ODQeFRM=
                    """),
                decode(
                    """
                    RlAzAQAAAHZpcnR1YWxfZGV2aWNlADAAAAcAAAAAAG5KCwBmMQAAcwB2IBkXFRM=
                    """),
            ]),
        Case(
            driver: "elanmoc", isStoredOnReader: true, isMinutiae: false, dataCount: 41,
            forms: [
                decode(
                    """
                    RlAzAQAAAGVsYW5tb2MAMAABAEZQMS0wMDAwMDAwMC0wLTAwMDAwMDAwLW5vYm9keQAAAAAAgAAAAAAAAEZQMS0wMDAwMDAw
                    MC0wLTAwMDAwMDAwLW5vYm9keQAoeXlheSkAdjgwEA4M
                    """),
                decode(
                    """
                    RlAzAQAAAGVsYW5tb2MAMAABB2FsaWNlAAByaWdodCBpbmRleCBvZiBhbGljZQAAAAAAbkoLAAAAAAAAAEZQMS0wMDAwMDAw
                    MC0wLTAwMDAwMDAwLW5vYm9keQAoeXlheSkAdjgtFw4M
                    """),
                decode(
                    """
                    RlAzAQAAAGVsYW5tb2MAMAABBwAAAABuSgsAAABGUDEtMDAwMDAwMDAtMC0wMDAwMDAwMC1ub2JvZHkAKHl5YXkpAHYYEhAO
                    DA==
                    """),
            ]),
        Case(
            driver: "aes3500", isStoredOnReader: false, isMinutiae: true, dataCount: 183,
            forms: [
                decode(
                    """
                    RlAzAgAAAGFlczM1MDAAMAAAAAAAAIAAAAAAEAAAABoAAAAnAAAALAAAADEAAAA5AAAAOQAAAGEAAACaAAAArQAAALcAAADC
                    AAAAyQAAAMkAAACwAAAAOwAAALwAAADTAAAANQAAAKwAAADIAAAA2AAAAI0AAACFAAAAdwAAAJcAAADZAAAA5wAAAJIAAABD
                    AAAAkgAAAJIAAAB5////3v///97////e////hwAAAOn///+SAAAA3v///3wAAADI////cDiqAChhKGFpYWlhaSkpGBAQDgw=
                    """),
                decode(
                    """
                    RlAzAgAAAGFlczM1MDAAMAAAB2FsaWNlAAByaWdodCBpbmRleCBvZiBhbGljZQAAAAAAbkoLAAAAAAAQAAAAGgAAACcAAAAs
                    AAAAMQAAADkAAAA5AAAAYQAAAJoAAACtAAAAtwAAAMIAAADJAAAAyQAAALAAAAA7AAAAvAAAANMAAAA1AAAArAAAAMgAAADY
                    AAAAjQAAAIUAAAB3AAAAlwAAANkAAADnAAAAkgAAAEMAAACSAAAAkgAAAHn////e////3v///97///+HAAAA6f///5IAAADe
                    ////fAAAAMj///9wOKoAKGEoYWlhaWFpKSk4LRcODA==
                    """),
                decode(
                    """
                    RlAzAgAAAGFlczM1MDAAMAAABwAAAABuSgsAEAAAABoAAAAnAAAALAAAADEAAAA5AAAAOQAAAGEAAACaAAAArQAAALcAAADC
                    AAAAyQAAAMkAAACwAAAAOwAAALwAAADTAAAANQAAAKwAAADIAAAA2AAAAI0AAACFAAAAdwAAAJcAAADZAAAA5wAAAJIAAABD
                    AAAAkgAAAJIAAAB5////3v///97////e////hwAAAOn///+SAAAA3v///3wAAADI////cDiqAChhKGFpYWlhaSkpGBIQDgw=
                    """),
            ]),
    ]

    private static func decode(_ base64: String) -> [UInt8] {
        Array(Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
    }
}

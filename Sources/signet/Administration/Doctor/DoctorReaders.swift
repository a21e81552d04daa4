internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// The readers, what there is to say against each, and who else wants them.

extension Doctor {
    func readerLines() -> [DoctorLine] {
        guard SafePath.problem(with: loaded.configuration.sensorHelper ?? Machine.sensorPath, .program) == nil else {
            return []
        }
        var lines: [DoctorLine] = []
        switch readers {
        case .problem(let problem):
            let level: DoctorLine.Level = problem == .helperFailed ? .fail : .warn
            lines.append(DoctorLine(level, "reader", problem.words, remedy: problem.remedy))
        case .present(let readers):
            let reports = ReadersSurvey(loaded.configuration, for: nil).look(at: readers)
            lines += Doctor.lines(reports)
            lines += Doctor.fprintd(
                isInstalled: PlainFile.exists("/usr/share/dbus-1/system-services/net.reactivated.Fprint.service"),
                isRunning: DeviceHolders().runs("fprintd"), holds: reports.contains { $0.holders.contains("fprintd") })
        }
        return lines
    }

    /// A line for each reader, and those on where it is, who has it, and which others are there.
    static func lines(_ reports: [ReaderReport]) -> [DoctorLine] {
        var lines: [DoctorLine] = []
        for (index, report) in reports.enumerated() {
            let label = report.description.label
            lines.append(line(report))
            if let distrust = report.distrust {
                lines.append(
                    DoctorLine(.warn, "reader", "\(label) is not used: \(distrust.words)", remedy: distrust.remedy))
            } else if report.description.place.attachment == .removable {
                lines.append(
                    DoctorLine(
                        .warn, "reader", "\(label) is at an outside port, where another device can stand in for it",
                        remedy: "keep \"readers = internal\" where the machine has a reader of its own"))
            }
            if reports[..<index].contains(where: { $0.description.identity == report.description.identity }) {
                lines.append(
                    DoctorLine(
                        .warn, "reader", "\(label): \(ReaderReport.twin)", remedy: "unplug what does not belong there"))
            } else if index > 0 {
                lines.append(
                    DoctorLine(
                        .note, "reader", "\(label) is another reader beside \(reports[0].description.label)",
                        remedy: "unplug what does not belong there"))
            }
            for gone in report.prints.gone {
                lines.append(
                    DoctorLine(
                        .warn, "reader", "\(label): a print is gone from its memory: \(gone.words)",
                        remedy: gone.remedy))
            }
            // fprintd has a line of its own, and keeps nobody else from being told.
            let others = report.holders.filter { $0 != "fprintd" }
            if !others.isEmpty {
                lines.append(
                    DoctorLine(
                        .note, "reader", "\(label) is in use by \(others.joined(separator: ", "))",
                        remedy: "end that program, or wait for it"))
            }
        }
        return lines
    }

    /// What there is to say against the reader itself.
    private static func line(_ report: ReaderReport) -> DoctorLine {
        let text = "\(report.description.label): \(report.concern.words)"
        switch report.concern {
        case .noErrorRates: return DoctorLine.ok("reader", text)
        // What is built in cannot be exchanged without a screwdriver.
        case .unauthenticatedChip where report.description.place.attachment == .fixed:
            return DoctorLine(.note, "reader", text, remedy: report.concern.remedy)
        default: return DoctorLine(.warn, "reader", text, remedy: report.concern.remedy)
        }
    }

    /// D-Bus starts fprintd whenever a program asks for it, and a reader that it has claimed cannot be opened.
    static func fprintd(isInstalled: Bool, isRunning: Bool, holds: Bool) -> [DoctorLine] {
        let mask = "where nothing else needs it: sudo systemctl mask --now fprintd"
        if holds {
            return [
                DoctorLine(
                    .warn, "fprintd", "has claimed the reader: Signet asks for the PIN until it lets go",
                    remedy: mask)
            ]
        }
        guard isInstalled || isRunning else { return [] }
        let state = isRunning ? "runs too" : "is installed too"
        return [
            DoctorLine(.note, "fprintd", "\(state); while it holds the reader, Signet asks for the PIN", remedy: mask)
        ]
    }
}

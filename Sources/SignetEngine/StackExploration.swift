package import SignetRecords

/// One module's answer on a way through a stack.
package struct StackStep: Equatable, Sendable {
    /// The module's place in the stack.
    package let module: Int
    package let code: PAMCode
}

/// All that a stack can do when each module may answer one of several things, found by walking every state.
///
/// The walk follows `_pam_dispatch_aux` of Linux-PAM (libpam/pam_dispatch.c): an impression that is undecided, positive or
/// negative, a status, and for each substack what both were when it was entered. Of the status only success matters.
package struct StackExploration: Sendable {
    /// A way to success, the shortest in modules asked; nil where there is none.
    package let success: [StackStep]?
    /// Which modules are asked on some way.
    package let visited: [Bool]

    private enum Impression: UInt8 { case undecided, positive, negative }

    private struct Mind: Equatable {
        var impression = Impression.undecided
        var succeeds = false
    }

    private struct State: Equatable {
        var position: Int
        var mind: Mind
        /// What the mind was at the entry of each substack that is open, the outermost first.
        var entered: [Mind]
        /// The state that led here, and how.
        var parent: Int
        var step: StackStep?

        static func == (left: State, right: State) -> Bool {
            left.position == right.position && left.mind == right.mind && left.entered == right.entered
        }
    }

    /// The most states walked; a stack that has more is answered as if it could succeed, so that a person looks.
    private static let stateLimit = 20_000

    /// Walks the stack; `answers` gives what the module at a place may return.
    package init(_ stack: AuthenticationStack, answers: (Int) -> [PAMCode]) {
        let modules = stack.modules
        var states = [State(position: 0, mind: Mind(), entered: [], parent: -1, step: nil)]
        // For each place the states already met there.
        var met = [[Int]](repeating: [], count: modules.count + 1)
        var visited = [Bool](repeating: false, count: modules.count)
        var success: Int?
        var next = 0
        while next < states.count {
            guard next < StackExploration.stateLimit else {
                success = success ?? next
                break
            }
            let state = states[next]
            defer { next += 1 }
            guard state.position < modules.count else {
                if state.mind.impression == .positive, state.mind.succeeds, success == nil { success = next }
                continue
            }
            if modules[state.position].kind == .substack {
                var after = StackExploration.entering(state, modules[state.position].level)
                after.position += 1
                after.parent = next
                after.step = nil
                states.append(after)
                continue
            }
            visited[state.position] = true
            for code in answers(state.position) {
                var after = StackExploration.follow(state, code, modules)
                after.parent = next
                after.step = StackStep(module: state.position, code: code)
                if met[after.position].contains(where: { states[$0] == after }) { continue }
                met[after.position].append(states.count)
                states.append(after)
            }
        }
        self.visited = visited
        self.success = success.map { StackExploration.path(to: $0, in: states) }
    }

    private static func path(to end: Int, in states: [State]) -> [StackStep] {
        var steps: [StackStep] = []
        var index = end
        while index > 0 {
            if let step = states[index].step { steps.append(step) }
            index = states[index].parent
        }
        return steps.reversed()
    }

    /// The state with what it keeps of open substacks fitted to a module's level.
    private static func entering(_ before: State, _ level: Int) -> State {
        var state = before
        while state.entered.count < level { state.entered.append(state.mind) }
        if state.entered.count > level { state.entered.removeLast(state.entered.count - level) }
        return state
    }

    private static func follow(_ before: State, _ code: PAMCode, _ modules: [StackModule]) -> State {
        let module = modules[before.position]
        var state = entering(before, module.level)
        let open = state.mind.impression == .undecided || (state.mind.impression == .positive && state.mind.succeeds)
        let isSuccess = code == .success
        var endsLevel = false
        switch module.call.control[code] {
        case .ignore: break
        case .reset: state.mind = state.entered.last ?? Mind()
        case .ok, .done:
            if open { state.mind = Mind(impression: .positive, succeeds: isSuccess) }
            endsLevel = module.call.control[code] == .done && state.mind.impression == .positive
        case .bad, .die:
            if state.mind.impression != .negative { state.mind = Mind(impression: .negative, succeeds: false) }
            endsLevel = module.call.control[code] == .die
        case .jump(let count):
            guard let target = jump(from: state.position, over: count, modules) else {
                // Too far a jump is a refusal, and libpam goes on from the last module it reached.
                state.mind = Mind(impression: .negative, succeeds: false)
                state.position = end(of: module.level, after: state.position, modules)
                return state
            }
            state.position = target
            return state
        }
        state.position = endsLevel ? end(of: module.level, after: state.position, modules) : state.position + 1
        return state
    }

    /// The first place after `place` that lies outside of this level.
    private static func end(of level: Int, after place: Int, _ modules: [StackModule]) -> Int {
        var index = place + 1
        while index < modules.count, modules[index].level >= level { index += 1 }
        return index
    }

    /// Where a jump lands, a substack being one module.
    ///
    /// nil: the level has fewer modules.
    private static func jump(from place: Int, over count: Int, _ modules: [StackModule]) -> Int? {
        let level = modules[place].level
        var index = place
        for _ in 0..<count {
            guard index + 1 < modules.count, modules[index + 1].level >= level else { return nil }
            index += 1
            while index + 1 < modules.count, modules[index + 1].level > level { index += 1 }
        }
        return index + 1
    }
}

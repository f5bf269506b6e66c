/// Rule marks: which rules, and which branches of them, a step made fire.

/// One mark for every rule that can fire at run time and for every branch of it that matters. A mark's name is its
/// rule id, then a dot and the branch.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum Mark: UInt8, CaseIterable, Sendable {
    // A, B: the board and its generation
    case `A7.saturated`
    case `B1.credits`, `B1.energy`, `B1.siphon`
    case `B2`, `B2.survivors`
    case `B3`, `B3.occupied`
    case `B4`, `B4.fewer`
    case `B5.data`, `B5.program`, `B5.questionData`, `B5.questionProgram`
    case `B6.valid`, `B6.redrawn`, `B6.exhausted`
    case `B7.credits`, `B7.energy`
    case `B8`
    // C: turns
    case `C1.invalid`
    case `C2.turnEnds`, `C2.turnStays`
    case `C3.move`, `C3.warp`, `C3.fullHP`, `C3.victory`
    case `C4.death`, `C4.victory`, `C4.invalid`, `C4.afterEnd`
    case `C5`
    case `C6.covered`, `C6.exposed`, `C6.dropped`
    // M: valid actions, as the taken or refused action met them
    case `M1.open`, `M1.enemyOnBlock`, `M1.edge`, `M1.block`
    case `M2.held`, `M2.none`
    case `M3.applicable`, `M3.notOwned`, `M3.tooDear`, `M3.notApplicable`
    // V: moving and attacking
    case `V1.adjacent`, `V1.distant`, `V1.blockStops`, `V1.cryptog`
    case `V2.transmission`, `V2.stunned`, `V2.removed`
    case `V3.moved`, `V3.pickup`
    case `V4.kill`, `V4.scheduled`
    // S: siphon
    case `S1.skipped`, `S1.edge`
    case `S2.data`, `S2.program`, `S2.alreadyOwned`, `S2.question`, `S2.ownCell`
    case `S3.credits`, `S3.energy`, `S3.pickupStays`
    case `S4.centre`, `S4.centreAgain`
    case `S5`, `S5.floor`
    // P: programs
    case `P-PUSH.moved`, `P-PUSH.stayed`, `P-PUSH.edge`, `P-PUSH.ontoBlock`
    case `P-PULL.moved`, `P-PULL.stayed`, `P-PULL.adjacent`, `P-PULL.ontoBlock`
    case `P-CRASH.block`, `P-CRASH.enemy`, `P-CRASH.transmission`
    case `P-WARP.enemy`, `P-WARP.transmission`, `P-WARP.block`, `P-WARP.exit`, `P-WARP.pickup`
    case `P-POLY.changed`, `P-POLY.removed`, `P-POLY.cryptog`
    case `P-WAIT`, `P-DEBUG`, `P-ROW`, `P-COL`
    case `P-UNDO`, `P-UNDO.record`, `P-UNDO.unpaid`
    case `P-STEP`, `P-SIPH+`, `P-EXCH`, `P-SHOW`, `P-RESET`, `P-CALM`
    case `P-D_BOM`, `P-D_BOM.tie`, `P-D_BOM.blast`
    case `P-DELAY`, `P-ANTI-V`, `P-SCORE`, `P-REDUC`, `P-ATK+`, `P-HACK`, `P-HACK.hit`
    // E: enemy turn
    case `E1`, `E2`
    case `E3.enemy`, `E3.cryptog`, `E3.waiting`
    case `E4.oneRound`, `E4.twoRounds`, `E4.disabled`, `E4.stunned`, `E4.attacked`, `E4.tooSlow`
    case `E5.attack`, `E5.lethal`, `E5.afterDeath`
    case `E6.path`, `E6.several`, `E6.cryptog`, `E6.glitch`
    case `E7.noPath`, `E7.moved`, `E7.several`
    case `E8.moved`, `E8.stayed`
    case `E9`
    case `E10.spawned`, `E10.dropped`, `E10.calm`
    case `E11`
    case `E12.disabled`, `E12.stunned`
    // W: reward; a component that is not zero has a mark of its own, after these
    case `W1.closer`, `W1.noPath`, `W1.completed`, `W1.death`
    case `W2.missed`, `W2.best`, `W2.onBlock`
    case `W3.kills`, `W3.pickups`, `W3.distance`
    // O: observation
    case `O1.capped`, `O2`
    case `O3.enemy`, `O3.transmission`, `O3.block`, `O3.resource`, `O3.pickup`, `O3.siphonCentre`
    case `O4.hiddenCryptog`, `O4.shownCryptog`, `O4.question`, `O4.coveredResource`, `O4.uncoveredResource`
    // R: randomness
    case `R3`, `R3.wrapped`
    case `R5.below`, `R5.cell`, `R5.distinct`, `R5.order`
    case `R6`

    /// The rule id and branch, for example "E6.cryptog".
    public var name: String { String(describing: self).filter { $0 != "`" } }
}

/// The marks that fired, each once.
public struct MarkSet: Equatable, Sendable {
    /// The names of all marks in the order of their counts: those of `Mark`, then one for each reward component.
    public static let names = Mark.allCases.map(\.name) + Component.allCases.map { "W.\($0.name)" }

    /// One bit for every mark.
    private var words = SIMD4<UInt64>()

    public init() {}

    @inline(__always)
    mutating func insert(_ mark: Mark) { insert(place: Int(mark.rawValue)) }

    @inline(__always)
    mutating func insert(_ component: Component) { insert(place: Mark.allCases.count + component.rawValue) }

    @inline(__always)
    private mutating func insert(place: Int) {
        withUnsafeMutableBytes(of: &words) {
            $0.assumingMemoryBound(to: UInt64.self)[place / 64] |= 1 << UInt64(place % 64)
        }
    }

    public func contains(_ mark: Mark) -> Bool {
        words[Int(mark.rawValue / 64)] & 1 << UInt64(mark.rawValue % 64) != 0
    }

    /// Counts every mark of the set once.
    /// - Parameter counts: one count for each of `names`.
    public func count(in counts: inout [UInt64]) {
        for index in words.indices {
            var rest = words[index]
            while rest != 0 {
                counts[64 * index + rest.trailingZeroBitCount] &+= 1
                rest &= rest &- 1
            }
        }
    }
}

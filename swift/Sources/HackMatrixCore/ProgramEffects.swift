/// The conditions and effects of programs, and the record that UNDO restores. Table P's columns "applicable when" and
/// "effect", P-PUSH, P-PULL, P-UNDO.

extension Game {
    /// The "applicable when" column of table P.
    func isApplicable(_ program: Program) -> Bool {
        switch program {
        case .push, .pull, .poly:
            !now.enemies.cells.isEmpty
        case .crash:
            !(now.player.cell.surroundings & (now.board.blocks.cells | now.movers)).isEmpty
        case .warp:
            !now.movers.isEmpty
        case .wait, .step, .siphonPlus:
            true
        case .debug:
            !(now.enemies.cells & now.board.blocks.cells).isEmpty
        case .row:
            !(now.enemies.cells & now.player.cell.wholeRow).isEmpty
        case .col:
            !(now.enemies.cells & now.player.cell.wholeColumn).isEmpty
        case .undo:
            history != nil
        case .exchange:
            now.player.credits >= Amount(4)
        case .show:
            !now.showActivated
        case .reset:
            now.player.hp < Player.maxHP
        case .calm:
            !now.scheduledTasksDisabled
        case .dBomb:
            !now.enemies(of: .daemon).isEmpty
        case .delay:
            !now.transmissions.cells.isEmpty
        case .antiV:
            !now.enemies(of: .virus).isEmpty
        case .score:
            now.stage < Stage.last
        case .reduce:
            !now.reducibleBlocks.isEmpty
        case .attackPlus:
            now.atkPlusUses < Program.mostATKPlusUses && now.player.attackDamage < Player.maxAttackDamage
        case .hack:
            !now.board.siphoned.isEmpty
        }
    }

    /// Pays for a program and runs it, without M3's check that it is valid.
    mutating func run(_ program: Program) {
        pay(program)
        switch program {
        case .push: push()
        case .pull: pull()
        case .crash: crash()
        case .warp: warp()
        case .poly: poly()
        case .wait: fire(.`P-WAIT`)
        case .debug: strike(now.board.blocks.cells, .`P-DEBUG`)
        case .row: strike(now.player.cell.wholeRow, .`P-ROW`)
        case .col: strike(now.player.cell.wholeColumn, .`P-COL`)
        case .undo: undo()
        case .step: set(\.stepActive, .`P-STEP`)
        case .siphonPlus: gain(\.dataSiphons, 1, .`P-SIPH+`)
        case .exchange: gain(\.energy, 4, .`P-EXCH`)
        case .show: set(\.showActivated, .`P-SHOW`)
        case .reset: heal()
        case .calm: set(\.scheduledTasksDisabled, .`P-CALM`)
        case .dBomb: bombDaemon()
        case .delay: delay()
        case .antiV: hitViruses()
        case .score: gain(\.score, Stage.last - now.stage, .`P-SCORE`)
        case .reduce: reduceSpawns()
        case .attackPlus: sharpen()
        case .hack: hack()
        }
    }

    private mutating func pay(_ program: Program) {
        now.player.credits.spend(program.column.credits)
        now.player.energy.spend(program.column.energy)
    }

    private mutating func set(_ flag: WritableKeyPath<Snapshot, Bool>, _ mark: Mark) {
        fire(mark)
        now[keyPath: flag] = true
    }

    private mutating func gain(_ amount: WritableKeyPath<Player, Amount>, _ value: Int, _ mark: Mark) {
        fire(mark)
        note(saturated: now.player[keyPath: amount].add(value))
    }

    private mutating func heal() {
        fire(.`P-RESET`)
        now.player.hp = Player.maxHP
    }

    private mutating func sharpen() {
        fire(.`P-ATK+`)
        now.player.attackDamage += 1
        now.atkPlusUses += 1
    }

    /// Hits every enemy in the cells with the player's attack.
    private mutating func strike(_ cells: CellSet, _ mark: Mark) {
        fire(mark)
        hit(cells, damage: now.player.attackDamage)
    }

    private mutating func hack() {
        if !(now.enemies.cells & now.board.siphoned).isEmpty { fire(.`P-HACK.hit`) }
        strike(now.board.siphoned, .`P-HACK`)
    }

    private mutating func hitViruses() {
        fire(.`P-ANTI-V`)
        hit(now.enemies(of: .virus), damage: 1)
    }

    /// P-PUSH
    private mutating func push() {
        let player = now.player.cell
        let farthestFirst = CellList(now.enemies.cells) { UInt32(100 - $0.distance(to: player)) }
        for cell in farthestFirst {
            let candidates = cell.sidesteps(
                rows: (cell.row - player.row).signum(), columns: (cell.col - player.col).signum())
            if candidates.both == nil { fire(.`P-PUSH.edge`) }
            let farthest = candidates.best { $0.distance(to: player) > $1.distance(to: player) }
            shove(cell, to: farthest, moved: .`P-PUSH.moved`, stayed: .`P-PUSH.stayed`, onBlock: .`P-PUSH.ontoBlock`)
        }
    }

    /// P-PULL
    private mutating func pull() {
        let player = now.player.cell
        let nearestFirst = CellList(now.enemies.cells) { UInt32($0.distance(to: player)) }
        for cell in nearestFirst {
            var candidates = cell.sidesteps(
                rows: (player.row - cell.row).signum(), columns: (player.col - cell.col).signum())
            candidates.drop(player)
            if cell.distance(to: player) == 1 { fire(.`P-PULL.adjacent`) }
            let nearest = candidates.best { $0.distance(to: player) < $1.distance(to: player) }
            shove(cell, to: nearest, moved: .`P-PULL.moved`, stayed: .`P-PULL.stayed`, onBlock: .`P-PULL.ontoBlock`)
        }
    }

    /// Moves an enemy to a cell without player, enemy and transmission; else it stays.
    private mutating func shove(_ cell: Cell, to goal: Cell?, moved: Mark, stayed: Mark, onBlock: Mark) {
        guard let goal, goal != now.player.cell, !now.movers.contains(goal) else {
            fire(stayed)
            return
        }
        fire(moved)
        if now.board.blocks.cells.contains(goal) { fire(onBlock) }
        now.enemies[goal] = now.enemies.take(cell)
    }

    private mutating func crash() {
        for cell in now.player.cell.surroundings {
            if now.board.blocks.take(cell) != nil { fire(.`P-CRASH.block`) }
            if now.enemies.cells.contains(cell) { fire(.`P-CRASH.enemy`) }
            if now.transmissions.cells.contains(cell) { fire(.`P-CRASH.transmission`) }
            remove(cell)
        }
    }

    private mutating func warp() {
        guard let cell = uniformCell(of: now.movers, .warp) else { return }
        fire(now.enemies.cells.contains(cell) ? .`P-WARP.enemy` : .`P-WARP.transmission`)
        if now.board.blocks.cells.contains(cell) { fire(.`P-WARP.block`) }
        if now.board.pickups.contains(cell) { fire(.`P-WARP.pickup`) }
        remove(cell)
        now.player.cell = cell
        if cell == now.board.exit {
            fire(.`P-WARP.exit`)
            fire(.`C3.warp`)
            completeStage()
        }
    }

    private mutating func poly() {
        for cell in now.enemies.cells {
            guard var enemy = now.enemies[cell] else { continue }
            let others = EnemyType.allCases.filter { $0 != enemy.type }
            let type = others[below(others.count, .poly, cell.index)]
            let damage = enemy.type.maxHP - enemy.hp
            if damage >= type.maxHP {
                fire(.`P-POLY.removed`)
                remove(cell)
                continue
            }
            fire(type == .cryptog ? .`P-POLY.cryptog` : .`P-POLY.changed`)
            enemy.type = type
            enemy.hp = type.maxHP - damage
            enemy.lastKnown = type == .cryptog ? cell : nil
            now.enemies[cell] = enemy
        }
    }

    /// P-UNDO: the state just before a turn becomes the history.
    mutating func record() {
        fire(.`P-UNDO.record`)
        history = now
        killsSinceHistory = Amount(0)
        pickupsSinceHistory = Amount(0)
    }

    mutating func forgetHistory() {
        history = nil
        killsSinceHistory = Amount(0)
        pickupsSinceHistory = Amount(0)
    }

    /// P-UNDO; `events` gets the counts that UNDO takes back (W3).
    private mutating func undo() {
        guard let record = history else { return }
        fire(.`P-UNDO`)
        events.undone = StepEvents.Undone(
            kills: killsSinceHistory.value,
            pickups: pickupsSinceHistory.value,
            approach: Int(record.closestApproach) - Int(now.closestApproach)
        )
        now = record
        if now.player.credits < Amount(Program.undo.column.credits) { fire(.`P-UNDO.unpaid`) }
        pay(.undo)
        forgetHistory()
    }

    private mutating func bombDaemon() {
        fire(.`P-D_BOM`)
        let player = now.player.cell
        let nearestFirst = CellList(now.enemies(of: .daemon)) { UInt32($0.distance(to: player)) }
        guard let target = nearestFirst.first else { return }
        if nearestFirst.dropFirst().first?.distance(to: player) == target.distance(to: player) {
            fire(.`P-D_BOM.tie`)
        }
        remove(target)
        let blast = target.surroundings
        if !(blast & now.enemies.cells).isEmpty { fire(.`P-D_BOM.blast`) }
        hit(blast, damage: 1)
    }

    private mutating func delay() {
        fire(.`P-DELAY`)
        for cell in now.transmissions.cells {
            guard var transmission = now.transmissions[cell] else { continue }
            note(saturated: transmission.turnsRemaining > UInt8.max - 3)
            transmission.turnsRemaining = min(transmission.turnsRemaining, UInt8.max - 3) + 3
            now.transmissions[cell] = transmission
        }
    }

    private mutating func reduceSpawns() {
        fire(.`P-REDUC`)
        for cell in now.reducibleBlocks {
            now.board.blocks[cell]?.spawnCount -= 1
        }
    }
}

extension Snapshot {
    /// The unsiphoned blocks whose spawn count is above 0 (REDUC).
    var reducibleBlocks: CellSet {
        board.blocks.cells { $0.spawnCount > 0 } - board.siphoned
    }
}

/// The cells that P-PUSH and P-PULL choose from, in the order of the rule.
private struct Sidesteps {
    let both: Cell?
    private var cells: [Cell]

    init(both: Cell?, others: [Cell?]) {
        self.both = both
        cells = ([both] + others).compactMap { $0 }
    }

    mutating func drop(_ cell: Cell) { cells.removeAll { $0 == cell } }

    /// The best candidate, the first of equals.
    func best(_ isBetter: (Cell, Cell) -> Bool) -> Cell? {
        cells.reduce(nil) { best, cell in best.map { isBetter(cell, $0) ? cell : $0 } ?? cell }
    }
}

extension Cell {
    /// The candidates both, row only and column only; a zero component gives none of its own.
    fileprivate func sidesteps(rows: Int, columns: Int) -> Sidesteps {
        Sidesteps(
            both: Cell(row: row + rows, col: col + columns),
            others: [
                rows == 0 ? nil : Cell(row: row + rows, col: col),
                columns == 0 ? nil : Cell(row: row, col: col + columns),
            ]
        )
    }
}

/// Breadth-first search over sets of cells. Rules E6, E7, W1, and the connected cells of B6.

enum Pathfinding {
    /// Length of the shortest path between two cells through `open` (both ends count as open), nil without one.
    static func distance(from start: Cell, to goal: Cell, through open: CellSet) -> Int? {
        let target = CellSet(goal)
        var seen = CellSet(start)
        var front = seen
        var length = 0
        while (front & target).isEmpty {
            front = (front.neighbours & (open | target)) - seen
            if front.isEmpty { return nil }
            seen |= front
            length += 1
        }
        return length
    }

    /// The first steps of all shortest paths from `start` to `goal` through `open`, whatever `goal` is (E6).
    /// Empty without a path.
    static func firstSteps(from start: Cell, to goal: Cell, through open: CellSet) -> CellSet {
        let near = start.neighbours
        var seen = CellSet(goal)
        var front = seen
        while (front & near).isEmpty {
            front = (front.neighbours & open) - seen
            if front.isEmpty { return CellSet() }
            seen |= front
        }
        return front & near
    }

    /// True where every cell of a set can be reached from every other one inside it.
    static func isConnected(_ cells: CellSet) -> Bool {
        guard let start = cells.first else { return true }
        var seen = CellSet(start)
        var front = seen
        while !front.isEmpty {
            front = (front.neighbours & cells) - seen
            seen |= front
        }
        return seen == cells
    }
}

extension Snapshot {
    /// W1's distance of the player to the exit, nil without a path.
    public var distanceToExit: Int? {
        Pathfinding.distance(from: player.cell, to: board.exit, through: board.open)
    }
}

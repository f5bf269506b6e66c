/// Storage for what stands in cells: at most one value a cell (A3), inline, so copying a game allocates nothing.

struct CellMap<Value: Equatable & Sendable>: Equatable, Sendable {
    /// The cells that hold a value.
    private(set) var cells = CellSet()
    private var values = InlineArray<36, Value?>(repeating: nil)

    subscript(cell: Cell) -> Value? {
        get { values[cell.index] }
        set {
            values[cell.index] = newValue
            if newValue == nil { cells.remove(cell) } else { cells.insert(cell) }
        }
    }

    /// Removes and returns the value of a cell.
    mutating func take(_ cell: Cell) -> Value? {
        let value = self[cell]
        self[cell] = nil
        return value
    }

    /// The cells whose value satisfies a condition.
    func cells(where condition: (Value) -> Bool) -> CellSet {
        var found = CellSet()
        for cell in cells {
            if let value = values[cell.index], condition(value) { found.insert(cell) }
        }
        return found
    }

    /// Changes every value in place; nil removes it.
    mutating func update(_ change: (Cell, Value) -> Value?) {
        for cell in cells {
            if let value = values[cell.index] { self[cell] = change(cell, value) }
        }
    }

    static func == (left: CellMap, right: CellMap) -> Bool {
        left.cells == right.cells && left.cells.allSatisfy { left[$0] == right[$0] }
    }
}

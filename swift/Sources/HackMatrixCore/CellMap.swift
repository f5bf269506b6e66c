/// A map from cells to values: at most one value a cell (A3).

/// A value that can stand in a cell. `Word` is an integer at least as large as the value, whose bits it holds.
public protocol CellValue: BitwiseCopyable, Equatable, Sendable {
    associatedtype Word: SIMDScalar & FixedWidthInteger & Sendable
    where Word.SIMD32Storage: Sendable, Word.SIMD4Storage: Sendable
}

extension UInt8: CellValue {
    public typealias Word = UInt8
}

/// Members that other modules read are inlinable: a generic type that is not specialised there is ten times slower.
public struct CellMap<Value: CellValue>: Equatable, Sendable {
    /// The cells that hold a value.
    public private(set) var cells = CellSet()
    /// The bits of the values; those of other cells mean nothing.
    @usableFromInline var words = PerCell<Value.Word>()

    public subscript(cell: Cell) -> Value? {
        @inlinable get { cells.contains(cell) ? value(cell) : nil }
        set {
            guard let newValue else { return cells.remove(cell) }
            cells.insert(cell)
            var word = Value.Word.zero
            withUnsafeMutableBytes(of: &word) { $0.storeBytes(of: newValue, as: Value.self) }
            words[cell.index] = word
        }
    }

    /// Removes and returns the value of a cell.
    mutating func take(_ cell: Cell) -> Value? {
        let value = self[cell]
        self[cell] = nil
        return value
    }

    /// Calls `body` with every cell that holds a value, in row-major order, and the value.
    @inlinable
    public func visit(_ body: (Cell, Value) -> Void) {
        withUnsafeBytes(of: words) { words in
            for cell in cells {
                body(cell, words.load(fromByteOffset: MemoryLayout<Value.Word>.size * cell.index, as: Value.self))
            }
        }
    }

    /// The cells whose value satisfies a condition.
    public func cells(where condition: (Value) -> Bool) -> CellSet {
        var found = CellSet()
        for cell in cells where condition(value(cell)) { found.insert(cell) }
        return found
    }

    public static func == (left: CellMap, right: CellMap) -> Bool {
        left.cells == right.cells && left.cells.allSatisfy { left.value($0) == right.value($0) }
    }

    /// The value of one of `cells`.
    @inlinable
    func value(_ cell: Cell) -> Value {
        withUnsafeBytes(of: words[cell.index]) { $0.load(as: Value.self) }
    }
}

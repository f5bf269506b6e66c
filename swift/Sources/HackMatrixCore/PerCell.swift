/// One word for each cell of the board (A1), kept inline, so that copying a game allocates nothing.

/// The two vectors lie next to each other without a gap and have a lane for each of the `Cell.count` cells. A vector of
/// this kind reads and writes a single lane in memory, and unlike the standard library's `InlineArray`, which needs
/// macOS 26, it runs everywhere.
@usableFromInline
struct PerCell<Word: SIMDScalar & FixedWidthInteger & Sendable>: Sendable
where Word.SIMD32Storage: Sendable, Word.SIMD4Storage: Sendable {
    @usableFromInline var most = SIMD32<Word>()
    @usableFromInline var rest = SIMD4<Word>()

    init() {}

    /// The word at a place from 0 to `Cell.count` − 1; the masks spare the bounds check inside the vectors.
    @usableFromInline subscript(place: Int) -> Word {
        @inlinable get {
            place < 32 ? most[place & 31] : rest[place & 3]
        }
        @inlinable set {
            if place < 32 { most[place & 31] = newValue } else { rest[place & 3] = newValue }
        }
    }

    /// Calls `body` with all words in memory, for loops that write many of them.
    @inline(__always)
    mutating func withWords<Result>(_ body: (UnsafeMutableBufferPointer<Word>) -> Result) -> Result {
        withUnsafeMutableBytes(of: &self) { body($0.assumingMemoryBound(to: Word.self)) }
    }
}

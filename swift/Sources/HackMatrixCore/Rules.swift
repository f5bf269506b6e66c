/// The version of the rules, and names as their tables print them.

/// The version of the rules that this engine implements; it changes whenever a game could differ.
public enum Rules {
    public static let version = "1"

    /// A case's name as the tables of the rules print it: `stageCompletion` becomes "stage_completion".
    static func name(of value: some CaseIterable) -> String {
        String(describing: value).reduce(into: "") { name, letter in
            if letter.isUppercase { name.append("_") }
            name += letter.lowercased()
        }
    }
}

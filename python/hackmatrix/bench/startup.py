"""The commands of this game whose start is measured, beside those of every world."""

from rlworldkit.bench.startup import OUTPUT, Start

_COMMAND = "hackmatrix.cli.main"
STARTS = (
    Start("explain", (_COMMAND, "explain", "--seed", "0", "--actions", "left,down,left"), games=1),
    Start(
        "first_board",
        (_COMMAND, "watch", "{agent}", "--render", "ansi", "--seed", "0", "--max-steps", "1"),
        games=1,
        is_there=lambda folder: b"the game begins" in (folder / OUTPUT).read_bytes(),
    ),
    Start(
        "parity_run",
        ("rlparity", "run", "--world", "hackmatrix", "--games", "8", "--steps", "32", "--out", "{folder}"),
        games=8,
    ),
)

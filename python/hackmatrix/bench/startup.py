"""The commands of this game whose start is measured, beside those of every world."""

from worldkit.bench.startup import OUTPUT, Start

_SEED, _ACTIONS = "0", "left,down,left"
"""A game, and three actions that are valid in it."""
_GAMES, _STEPS = 8, 32


STARTS = (
    Start("explain", ("hackmatrix.cli.main", "explain", "--seed", _SEED, "--actions", _ACTIONS), games=1),
    Start(
        "first_board",
        ("hackmatrix.cli.main", "watch", "{agent}", "--render", "ansi", "--seed", _SEED, "--max-steps", "1"),
        games=1,
        is_there=lambda folder: b"the game begins" in (folder / OUTPUT).read_bytes(),
    ),
    Start(
        "parity_run",
        ("parity", "run", "--world", "hackmatrix", "--games", f"{_GAMES}", "--steps", f"{_STEPS}", "--out", "{folder}"),
        games=_GAMES,
    ),
)

"""The tables of the rulebook, and places on the board: nothing of an engine."""

from collections import deque
from pathlib import Path

RULEBOOK = (Path(__file__).parents[3] / "docs" / "reference" / "hackmatrix-rules.md").read_text()


def table(header: str) -> list[list[str]]:
    """The rows of the table of the rulebook whose first line begins so; cells without blanks around them."""
    lines = RULEBOOK[RULEBOOK.index(f"| {header} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


CORNERS = (0, 5, 30, 35)
DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1))
ENEMIES = ("virus", "daemon", "glitch", "cryptog")
MAX_HP = {"virus": 2, "daemon": 3, "glitch": 2, "cryptog": 2}

PROGRAM_TABLE = tuple((name.lower(), int(c), int(e), int(spawn)) for _, name, c, e, spawn, *_ in table("action"))
"""Table P: name, credits, energy, spawn; the first is action 5."""
ACTION = {name: 5 + place for place, (name, *_) in enumerate(PROGRAM_TABLE)}
COST = {5 + place: (credits, energy) for place, (_, credits, energy, _) in enumerate(PROGRAM_TABLE)}
PLAYER_KEYS = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")
OWN_KEYS = ("seed", "eventNumber", "killsSinceHistory", "pickupsSinceHistory")
"""The keys of S that a history lacks."""
REWARD_NAMES = tuple(name for name, _ in table("key"))


def neighbours(cell: int) -> list[int]:
    """Orthogonal neighbours in direction order (A2)."""
    steps = ((cell // 6 + row, cell % 6 + col) for row, col in DIRECTIONS)
    return [6 * row + col for row, col in steps if 0 <= row < 6 and 0 <= col < 6]


def path_lengths(goal: int, closed: set[int]) -> dict[int, int]:
    """Length of the shortest path to ``goal`` from every cell that has one; ``goal`` itself is always open."""
    lengths = {goal: 0}
    queue = deque([goal])
    while queue:
        here = queue.popleft()
        for there in neighbours(here):
            if there not in lengths and there not in closed:
                lengths[there] = lengths[here] + 1
                queue.append(there)
    return lengths


def is_valid_placement(blocks: set[int], exit_cell: int) -> bool:
    """B6."""
    open_cells = {*range(36)} - blocks - {exit_cell}
    connected = set(path_lengths(min(open_cells), blocks | {exit_cell})) == open_cells
    exit_reachable = bool(set(neighbours(exit_cell)) - blocks)
    return connected and exit_reachable and all(set(neighbours(block)) - blocks for block in blocks)

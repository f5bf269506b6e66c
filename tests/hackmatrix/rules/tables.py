"""The tables of the rulebook as these tests state them, and places on the board: nothing of an engine."""

from collections import deque

CORNERS = (0, 5, 30, 35)
DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1))
ENEMIES = ("virus", "daemon", "glitch", "cryptog")
MAX_HP = {"virus": 2, "daemon": 3, "glitch": 2, "cryptog": 2}

# Table P: name, credits, energy, spawn; the first is action 5.
PROGRAM_TABLE = (
    ("push", 0, 2, 4),
    ("pull", 0, 2, 4),
    ("crash", 3, 2, 6),
    ("warp", 2, 2, 5),
    ("poly", 1, 1, 3),
    ("wait", 0, 1, 1),
    ("debug", 3, 0, 4),
    ("row", 3, 1, 2),
    ("col", 3, 1, 2),
    ("undo", 1, 0, 3),
    ("step", 0, 3, 4),
    ("siph+", 5, 0, 7),
    ("exch", 4, 0, 3),
    ("show", 2, 0, 2),
    ("reset", 0, 4, 2),
    ("calm", 2, 4, 6),
    ("d_bom", 3, 0, 4),
    ("delay", 1, 2, 4),
    ("anti-v", 3, 0, 4),
    ("score", 0, 5, 5),
    ("reduc", 2, 1, 3),
    ("atk+", 4, 4, 8),
    ("hack", 2, 2, 4),
)
ACTION = {name: 5 + place for place, (name, *_) in enumerate(PROGRAM_TABLE)}
COST = {5 + place: (credits, energy) for place, (_, credits, energy, _) in enumerate(PROGRAM_TABLE)}
PLAYER_KEYS = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")
OWN_KEYS = ("seed", "eventNumber", "killsSinceHistory", "pickupsSinceHistory")
"""The keys of S that a history lacks."""
REWARD_NAMES = (
    *("step_penalty", "stage_completion", "score_gain", "kills", "data_siphon", "distance_shaping", "victory"),
    *("death_penalty", "resource_gain", "resource_holding", "damage_penalty", "hp_recovery", "siphon_quality"),
    *("siphon_death_penalty", "program_waste"),
)


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

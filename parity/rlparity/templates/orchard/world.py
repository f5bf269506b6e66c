"""Orchard as a world: all that it says about itself."""

from pathlib import Path
from pkgutil import resolve_name  # full

from orchard.exploration import POLICIES, SHRINKERS, STARTS, read_agent
from orchard.plain import PlainEngine
from orchard.planes import PlanesEngine
from orchard.rules import ACTIONS, COMPONENTS, MARKS
from rlparity import Board, Mutant, MutationBench, Price, State, World

HERE = Path(__file__).parent
APPLE = "●"


def draw_board(state: State) -> Board:
    """Apples with their ripeness, the walker W and the wasp w."""
    texts = [""] * 16
    for apple in state["apples"]:
        texts[apple["cell"]] += APPLE * apple["ripeness"]
    texts[state["wasp"]] += " w"
    texts[state["walker"]] += " W"
    rows = tuple(tuple(text.strip() for text in texts[4 * row : 4 * row + 4]) for row in range(4))
    return Board(rows, {name: state[name] for name in ("hp", "score", "turn", "seed")})


def observation_label(place: tuple[int, ...]) -> str:
    """hp, score, fruit CELL, place CELL."""
    (index,) = place
    return ("hp", "score")[index] if index < 2 else f"{'fruit' if index < 18 else 'place'} {(index - 2) % 16}"


MUTANTS = (
    Mutant("sting-is-cheap", "orchard/planes.py", "(-10, 100, -500)", "(-10, 100, -499)", ("O-STING", "O-REWARD")),
    Mutant("no-op", "orchard/planes.py", "splitmix64's finaliser.", "the finaliser.", ("O-DRAW",)),
)

WORLD = World(
    name="orchard",
    title="Orchard",
    home="orchard:WORLD",
    engines={
        "plain": PlainEngine,
        "jax": lambda *given: resolve_name("orchard.env:open_jax")(*given),  # full
        "planes": PlanesEngine,
    },
    actions=ACTIONS,
    components=COMPONENTS,
    observation_shape=(34,),
    observation_range=(0.0, 1.0),
    state_fields=("seed", "walker", "wasp", "hp", "score", "turn", "apples"),
    draw=draw_board,
    jax=lambda: resolve_name("orchard.env:ENV"),  # full
    show=lambda: resolve_name("orchard.show:SHOW"),  # full
    score=lambda: resolve_name("orchard.score:SCORE"),  # full
    component_unit=0.001,
    prices=(
        Price("step", -10, -1000, 1000),
        Price("fruit", 100, -10_000, 10_000),
        Price("sting", -500, -10_000, 10_000),
    ),
    observation_label=observation_label,
    marks=MARKS,
    starts=STARTS,
    policies=POLICIES,
    read_agent=read_agent,
    shrinkers=SHRINKERS,
    rule_book=HERE / "rules.md",
    sources={"plain": HERE / "plain.py", "planes": HERE / "planes.py"},
    golden=HERE / "golden",
    benches=(
        MutationBench(
            engine="planes",
            reference="plain",
            source=HERE.parent,
            parts=("orchard",),
            mutants=MUTANTS,
            environment=lambda copy: {"PYTHONPATH": str(copy)},
        ),
    ),
)

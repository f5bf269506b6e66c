"""One small interface to a game, on either engine: states in, states out."""

from collections.abc import Iterable
from dataclasses import dataclass

from reading_worlds import PAIRED

from goodharts.rules import COMPONENTS, NUM_CELLS, SIZE
from rlparity import State
from rlparity.views import AutoResetBatch, Engine

ENGINES = ("reading", "torch", "jax")


@dataclass(frozen=True)
class Outcome:
    """Outcome of the last of some actions. ``rewards`` leaves out the components that are 0."""

    state: State
    rewards: dict[str, int]
    reward: float
    terminated: bool
    truncated: bool


def open_game(engine: str, mode: str = "ground_truth") -> Engine:
    """One game of a mode on an engine."""
    world = PAIRED[mode]
    return Engine(world.engines[engine](1), len(world.actions), world.game_seeds)


def open_games(engine: str, games: int, mode: str = "ground_truth") -> AutoResetBatch:
    """Games that go on by themselves."""
    world = PAIRED[mode]
    return AutoResetBatch(world.engines[engine](games), len(world.actions), world.game_seeds)


def play(engine: str, state: State, *actions: int, mode: str = "ground_truth") -> Outcome:
    """The outcome of the last action, begun in ``state``."""
    game = open_game(engine, mode)
    game.set_state(state)
    for action in actions:
        step = game.step(action)
    earned = dict(zip(COMPONENTS, step.components.tolist(), strict=True))
    return Outcome(
        state=game.get_state(),
        rewards={name: amount for name, amount in earned.items() if amount},
        reward=step.reward,
        terminated=step.terminated,
        truncated=step.truncated,
    )


def made(
    x: int = 50,
    y: int = 60,
    *,
    food: Iterable[tuple[int, int]] = (),
    poison: Iterable[tuple[int, int]] = (),
    energy: int = 1000,
    steps: int = 0,
    event: int | None = None,
    key: tuple[int, int] = (7, 0),
) -> State:
    """A state with the agent at x and y, and items so far from it, (dx, dy)."""

    def cells(offsets: Iterable[tuple[int, int]]) -> list[int]:
        return sorted(cell_at(x + dx, y + dy) for dx, dy in offsets)

    state: State = {"food": cells(food), "poison": cells(poison), "x": x, "y": y, "energy": energy, "steps": steps}
    counts = {"foodCount": len(state["food"]), "poisonCount": len(state["poison"])}
    return {**state, "event": steps if event is None else event, "key": list(key), **counts}


def cell_at(x: int, y: int) -> int:
    """The cell there, around the torus (G1)."""
    return y % SIZE * SIZE + x % SIZE


def full(state: State, but: Iterable[int] = ()) -> State:
    """The state with poison in every cell but the agent's, those that hold food, and some more."""
    free = {cell_at(state["x"], state["y"]), *state["food"], *but}
    poison = [cell for cell in range(NUM_CELLS) if cell not in free]
    return {**state, "poison": poison, "poisonCount": len(poison)}

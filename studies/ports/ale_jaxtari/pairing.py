"""Games of the Atari 2600: ALE, which emulates the console, and JAXtari, which was written after it, frame by frame."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms
from jaxtari.environment import JaxEnvironment
from policies import biased

from rlparity import World
from rlparity.adapters import Outcome, Pairing, PytreeGame, SingleGame, resets_world

ALEInterface.setLoggerMode(LoggerMode.Error)


class Original(SingleGame):
    """A game of ALE; ``read(ram, before)`` gives what is compared, by the memory now and a frame before."""

    def __init__(self, rom: str, read: Callable[[Any, Any], dict[str, Any]]) -> None:
        self._ale, self._read = ALEInterface(), read
        self._ale.setFloat("repeat_action_probability", 0.0)
        self._ale.loadROM(roms.get_rom_path(rom))
        self.actions = self._ale.getMinimalActionSet()
        self._ale.reset_game()
        self._first = self._ale.cloneSystemState()  # later resets keep some of the memory

    def begin(self, seed: int) -> Any:
        self._ale.restoreSystemState(self._first)
        self._ram = self._memory()
        return self._read(self._ram, self._ram)

    def _memory(self) -> Any:
        return self._ale.getRAM().astype(np.int32)

    def act(self, action: int) -> Outcome:
        reward = self._ale.act(self.actions[action])
        before, self._ram = self._ram, self._memory()
        return Outcome(self._read(self._ram, before), float(reward), self._ale.game_over(), False)


def port(name: str, read: Callable[[Any], dict[str, Any]], **constants: int) -> Callable[[], PytreeGame]:
    """A maker of games of JAXtari, without the renderer, whose sprites are downloaded; ``read(state)`` is compared."""
    module = import_module(f"jaxtari.games.jax_{name.lower()}")
    setattr(module, f"{name}Renderer", lambda _: None)
    env = getattr(module, f"Jax{name}")(getattr(module, f"{name}Constants")(**constants))

    def reset(key: Any) -> Any:
        state = env.reset(key)[1]
        return read(state), state

    def step(_: Any, state: Any, action: Any) -> Any:
        _, state, reward, done, _ = env.step(state, action)
        return read(state), state, reward, done

    return lambda: PytreeGame(reset, step)


def freeway(name: str, **constants: int) -> World:
    """The world of Freeway, whose port may have other constants: where cars and chicken are drawn."""

    def original(ram: Any, before: Any) -> dict[str, Any]:
        # the lower cars are drawn before they are moved
        return {"cars": (157 - np.append(ram[108:113], before[113:118])) % 160, "chicken": 193 - ram[14]}

    def ported(state: Any) -> dict[str, Any]:
        return {"cars": state.cars[:, 0] % 160, "chicken": state.chicken_y}

    games = {"ale": lambda: Original("freeway", original), "jaxtari": port("Freeway", ported, **constants)}
    return Pairing(name, games, ("noop", "up", "down"), draws=False, policies={"up": biased(0, 1, 0)}).world()


FREEWAY = freeway("freeway")
LEVEL = freeway("freeway-level", post_score_spawn_offset_y=0)

GAMES = (
    "amidar asteroids backgammon beam_rider boxing breakout freeway frostbite gopher journey_escape othello pacman pong"
)
"""By ALE's names."""


def port_actions(name: str) -> Sequence[Any]:
    """JAXtari's set of actions, all of the console where a game has none of its own."""
    kinds = vars(import_module(f"jaxtari.games.jax_{name.replace('_', '')}")).values()
    env = next(kind for kind in kinds if isinstance(kind, type) and JaxEnvironment in kind.__bases__)
    return list(getattr(env, "ACTION_SET", range(18)))


def sets(read: Callable[[str], Sequence[Any]]) -> Callable[[int], Any]:
    """The set of each game, filled up with -1."""
    return lambda _: {name: np.array([*map(int, read(name)), *[-1] * 18][:18]) for name in GAMES.split()}


def console_actions(name: str) -> Sequence[Any]:
    """ALE's minimal set of actions."""
    return [action.value for action in Original(name, lambda *_: {}).actions]


ACTIONS = resets_world("actions", ale=sets(console_actions), jaxtari=sets(port_actions))

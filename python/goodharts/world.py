"""Goodharts as worlds of the harness rlparity, one for each mode (entry points ``rlparity.worlds``)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goodharts import rules
from goodharts.config import MODEL, model_path
from goodharts.exploration import POLICIES, SHRINKERS, STARTS
from goodharts.render.board import LINE_NAMES, SIGNS, colour_of, draw_board, observation_label
from goodharts.rules import DEFAULT_NUMBERS, Mode, Numbers
from goodharts.torch_env.tables import PRICES
from rlparity import BatchEngine, EngineError, EngineOptions, MutationBench, Price, UsageError, World
from rlparity.engine import consecutive_seeds
from rlparity.threefry import seed_pair, seeds_of, threefry2x32
from rlparity.tools.mutant_table import read_mutants
from rlworldkit.agents.reader import AgentReader
from rlworldkit.extras import install_package
from rlworldkit.jax.xla import enable_compilation_cache, for_mutants, traced_program

_PACKAGE = Path(__file__).resolve().parent
_MOST_PRICE = 10**8
"""Largest price, a reward of 1,000, in hundred-thousandths: sums fit an int32, and with shaping are below 4 · 10⁸."""
_KEYS_EVENT = np.uint32(2**32 - 1)
"""The event whose draws are the keys of a run's games (G10)."""


def open_torch(mode: Mode, games: int, options: EngineOptions = EngineOptions(), **how: Any) -> BatchEngine:  # noqa: ANN401 - as TorchEngine has them
    """Open the torch engine, on the CPU unless ``device`` is given; raises EngineError where torch is not installed."""
    try:
        from goodharts.torch_env.adapter import TorchEngine
    except ModuleNotFoundError as error:
        command = install_package("torch")
        raise EngineError(f"The torch engine needs {error.name}: run `{command}`.") from error

    return TorchEngine(mode, games, options, **how)


def open_jax(
    mode: Mode,
    games: int,
    options: EngineOptions = EngineOptions(),
    numbers: Numbers = DEFAULT_NUMBERS,
    evaluating: bool = False,
) -> BatchEngine:
    """Open the JAX engine, jitted in this process; compiled programs are cached for later processes."""
    enable_compilation_cache("goodharts")
    from rlworldkit.jax.engine import JaxEngine

    env = resolve_name("goodharts.env:env_of")(mode, numbers, evaluating)
    return JaxEngine(games, env, marks=options.marks, prices=options.prices)


def game_seeds(seed: int, games: int) -> NDArray[np.uint64]:
    """The seeds of a run's games, which are their keys (G10): uint64 (games,)."""
    low, high = (np.full(games, half, np.uint32) for half in seed_pair(seed))
    numbers = np.arange(1, games + 1, dtype=np.uint32)
    return seeds_of(np.stack(threefry2x32((low, high), (np.full(games, _KEYS_EVENT), numbers)), axis=1))


def _bench(engine: str, reference: str, mode: Mode) -> MutationBench:
    """A bench of ``rlparity mutants``: a copy of an engine's source, with the faults that show in a mode."""
    parts = (f"{engine}_{part}" for part in ("world", mode.rewarded_for, "mortal" if mode.is_mortal else "frozen"))
    mutants = read_mutants(_PACKAGE / "mutants.toml", *parts, folder=f"goodharts/{engine}_env/")
    packages = (_PACKAGE.name, "rlworldkit")  # the JAX engine uses rlworldkit's 64-bit integers
    program = partial(_traced, mode) if engine == "jax" else None
    return MutationBench(engine, reference, _PACKAGE.parent, mutants, _with_source, program=program, parts=packages)


def _traced(mode: Mode, copy: Path) -> bytes:
    host = copy / _PACKAGE.name / "jax_env" / "state_dict.py"  # reads and writes states
    return traced_program(f"{__name__}:{mode.name}", _with_source(copy), host)


def _with_source(copy: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", **for_mutants(copy)}


def _accepted(mode: Mode, *, is_mortal: bool) -> tuple[str, ...]:
    """Limitations that comparisons of a mode at its default prices always have (``World.accept``)."""
    free = ("component shaping is always 0",) if mode.rewarded_for == "interest" else ()
    immortal = () if is_mortal else ("event death never happens", "no game is terminated")
    return ("every action is always valid", *free, *immortal)


def _world(mode: Mode) -> World:
    own = PRICES[mode.rewarded_for]
    return World(
        name=f"goodharts-{mode.name}",
        engines={"torch": partial(open_torch, mode), "jax": partial(open_jax, mode)},
        actions=rules.ACTIONS,
        components=rules.COMPONENTS,
        observation_shape=rules.OBSERVATION_SHAPE,
        state_fields=rules.STATE_FIELDS,
        draw=draw_board,
        title="Goodharts",
        rules_version=rules.VERSION,
        home=f"{__name__}:{mode.name.upper()}",
        jax=lambda: resolve_name("goodharts.env:env_of")(mode),
        show=lambda: resolve_name("goodharts.show:SHOW"),
        score=lambda: resolve_name("goodharts.score:SCORE"),
        observation_range=(0.0, 1.0),
        row_names=LINE_NAMES,
        column_names=LINE_NAMES,
        colour_of=colour_of,
        signs=SIGNS,
        game_seeds=game_seeds,
        facts=rules.FACTS,
        events=rules.EVENTS,
        counted_events=rules.EVENTS[:2],
        component_unit=rules.COMPONENT_UNIT,
        prices=tuple(Price(name, default, -_MOST_PRICE, _MOST_PRICE) for name, default in own._asdict().items()),
        observation_label=observation_label(mode),
        marks=rules.marks_of(mode),
        accept=_accepted(mode, is_mortal=mode.is_mortal),
        starts=STARTS,
        policies=POLICIES,
        read_agent=AgentReader(
            networks=lambda: resolve_name("goodharts.numpy_networks:NUMPY_NETWORKS"),
            files={MODEL: lambda world, path: resolve_name("goodharts.models:read_agent")(world, path)},
        ),
        agents={mode.name: model_path(mode.name)},
        shrinkers=SHRINKERS,
        rule_book=_PACKAGE.parents[1] / "docs/reference/goodharts.md",
        sources={"torch": _PACKAGE / "torch_env", "jax": _PACKAGE / "jax_env"},
        golden=_PACKAGE / "golden" / mode.name,
        benches=(_bench("torch", "jax", mode), _bench("jax", "torch", mode)),
    )


def evaluation_world(mode: Mode, numbers: Numbers = DEFAULT_NUMBERS, device: object = "cpu") -> World:
    """A mode by the rules of an evaluation (G6): the next game of one that ended is its agent's next life.

    Seeds are keys of games, as ``game_seeds`` returns them. device: of the torch engine.
    """
    how: dict[str, Any] = {"numbers": numbers, "evaluating": True}
    engines = {"torch": partial(open_torch, mode, device=device, **how), "jax": partial(open_jax, mode, **how)}
    accept = _accepted(mode, is_mortal=True)
    marks = rules.marks_of(mode, evaluating=True)
    how = {"engines": engines, "game_seeds": consecutive_seeds, "marks": marks, "accept": accept}
    return replace(WORLDS[mode.name], home=None, **how)


WORLDS = {name: _world(mode) for name, mode in rules.MODES.items()}


def __getattr__(name: str) -> World:
    """The world of a mode by the mode's name in capitals, as entry points spell it."""
    if name.lower() not in WORLDS:
        raise AttributeError(name)
    return WORLDS[name.lower()]


def world_of(mode: str) -> World:
    """The world of a mode; raises UsageError where there is none of this name."""
    if mode not in WORLDS:
        raise UsageError(f"there is no mode {mode!r}: choose one of {', '.join(WORLDS)}.")
    return WORLDS[mode]

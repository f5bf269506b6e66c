"""HackMatrix as a world of the harness rlparity (entry point ``rlparity.worlds``)."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from hackmatrix import rules
from hackmatrix.agents import AGENTS
from hackmatrix.benches import BENCHES
from hackmatrix.cells import owned_programs, rows_of
from hackmatrix.exploration.policies import POLICIES, walk
from hackmatrix.exploration.starts import SHRINKERS, STARTS
from hackmatrix.prices import PRICES
from hackmatrix.render.colours import colour_of
from hackmatrix.render.words import SIGNS, cell_text
from hackmatrix.spaces import dict_space, split
from hackmatrix.swift_env.process import is_engine_expected
from rlparity import BatchEngine, Board, EngineOptions, State, World
from rlparity.world import PriceValues
from rlworldkit.agents.reader import AgentReader
from rlworldkit.jax.xla import enable_compilation_cache


def open_swift(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    """Open the canonical engine in a separate process; raises EngineError where it is not built."""
    from hackmatrix.swift_env import SwiftEngine

    return SwiftEngine(games, options)


def open_jax(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    """Open the JAX engine, jitted in this process; compiled programs are cached for later processes."""
    enable_compilation_cache("hackmatrix")
    from rlworldkit.jax.engine import JaxEngine

    return JaxEngine(games, resolve_name("hackmatrix.env:ENV"), marks=options.marks, prices=options.prices)


_SWIFT, _JAX = {"swift": open_swift}, {"jax": open_jax}
ENGINES = _SWIFT | _JAX if is_engine_expected() else _JAX | _SWIFT
"""Engines by name; the first one is the default."""
_NUMBERS = rules.STATE_FIELDS[rules.STATE_FIELDS.index("stage") : rules.STATE_FIELDS.index("history")]


def rules_of(engine: str, prices: PriceValues | None = None) -> dict[str, Any]:
    """Every table of the rules in the version of one engine (``getRules``); raises EngineError where it cannot start.

    ``prices``: the prices that the engine is opened with, in the form of ``EngineOptions``.
    """
    if engine == "jax":
        from hackmatrix import jax_env

        return jax_env.rules(jax_env.PRICES if prices is None else np.array(prices, np.int32))
    from hackmatrix.swift_env import SwiftEngine

    with SwiftEngine(1, EngineOptions(prices=prices)) as opened:
        return opened.rules()


def draw_board(state: State) -> Board:
    """Draw a complete state: its cells by ``cell_text``, row 5 on top, and its scalar values."""
    scalars = {
        "ownedPrograms": " ".join(owned_programs(state)) or "none",
        **{name: state["player"][name] for name in rules.PLAYER_NUMBERS},
        **{name: state[name] for name in _NUMBERS},
        "history": "none" if state["history"] is None else f"turn {state['history']['turn']}",
    }
    return Board(tuple(tuple(map(cell_text, row)) for row in rows_of(state)), scalars)


_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]

WORLD = World(
    name="hackmatrix",
    engines=ENGINES,
    actions=rules.ACTIONS,
    components=rules.COMPONENTS,
    observation_shape=(rules.OBSERVATION_SIZE,),
    state_fields=rules.STATE_FIELDS,
    draw=draw_board,
    title="HackMatrix",
    rules_version=rules.VERSION,
    home=f"{__name__}:WORLD",
    jax=lambda: resolve_name("hackmatrix.env:HackMatrixJaxEnv")(),
    show=lambda: resolve_name("hackmatrix.show:SHOW"),
    score=lambda: resolve_name("hackmatrix.score:SCORE"),
    train_config=lambda: resolve_name("hackmatrix.train_config:TrainConfig"),
    make_space=dict_space,
    split=split,
    observation_range=(0.0, 1.0),
    row_names=tuple(map(str, reversed(range(rules.SIZE)))),  # A1
    colour_of=colour_of,
    signs=dict(SIGNS),
    facts=rules.FACTS,
    events=rules.EVENTS,
    component_unit=rules.COMPONENT_UNIT,
    prices=PRICES,
    observation_label=rules.observation_label,
    marks=rules.MARKS,
    rules=rules.RULES,
    starts=STARTS,
    policies=POLICIES,
    read_agent=AgentReader(lambda: resolve_name("hackmatrix.numpy_networks:NUMPY_NETWORKS"), players={"walk": walk}),
    agents=AGENTS,
    shrinkers=SHRINKERS,
    rule_book=_CHECKOUT / "docs/reference/hackmatrix-rules.md",
    sources={"swift": _CHECKOUT / "swift/Sources/HackMatrixCore", "jax": _PACKAGE / "jax_env"},
    golden=_PACKAGE / "golden",
    benches=BENCHES,
)

"""The sanitizer finds planted faults at their lines, and none that a select discards."""

import re
from collections.abc import Callable, Iterable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from command_line import orchard, rlparity, run
from jax import Array, lax
from toy_world.adapter import WORLD, OrchardJaxEnv
from toy_world.in_jax import Orchard, observation

from rlparity import EngineOptions
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import PytreeGame
from rlparity.cli.main import main
from rlparity.cli.sanitize_command import sanitized
from rlparity.core.lockstep import Settings
from rlparity.errors import UsageError
from rlparity.sanitizer.interpreter import BITS, Interpreter, Site
from rlworldkit.jax.engine import JaxEngine

SIX = jnp.arange(6) * 10
LARGEST = 2**31 - 1


Function = Callable[[Array], Array]

# Each takes int32 numbers n that are 1 and 3, of which 3 makes the fault, and gives a number.
BY_KIND: dict[str, list[Function]] = {
    "negative index": [
        lambda n: SIX[2 - n],
        lambda n: jnp.take(SIX, 2 - n),
        lambda n: jnp.zeros(6).at[2 - n].set(1, mode="drop").sum(),
        lambda n: lax.dynamic_slice(SIX, (2 - n,), (1,))[0],
    ],
    "index out of range": [
        lambda n: SIX[n * 2],
        lambda n: SIX[(2 - n).astype(jnp.uint32)],
        lambda n: SIX[SIX.at[n].get(mode="clip") // 5],
        lambda n: lax.dynamic_slice(SIX, (n,), (4,))[0],
        lambda n: lax.dynamic_update_slice(SIX, SIX[:4], (n,))[0],
        lambda n: SIX.at[2 * n].set(7)[0],
    ],
    "integer overflow": [
        lambda n: n + (LARGEST - 2),
        lambda n: n * 2**30,
        lambda n: n << 30,
        lambda n: -jnp.where(n == 3, -LARGEST - 1, n),
        lambda n: (n.astype(jnp.uint32) << 30).astype(jnp.int32),
        lambda n: (n.astype(jnp.float32) * 1e9).astype(jnp.int32),
        lambda n: jnp.full(3, n * 2**28).sum(),
        lambda n: jnp.cumsum(jnp.full(3, n * 2**28))[2],
        lambda n: jnp.full(3, n * 2**14) @ jnp.full(3, 2**14),
        lambda n: (n * 1000) ** 3,
    ],
    "division by zero": [lambda n: 7 // (3 - n)],
    "NaN": [lambda n: jnp.sqrt(2.0 - n)],
    "infinity": [lambda n: 1.0 / (3.0 - n)],
    "uninitialised value": [
        lambda n: (SIX / 2).at[n * 2].get(mode="fill"),
        lambda n: jnp.empty(4).at[1:3].set(1.0)[n],
        lambda n: lax.fori_loop(0, 3, lambda i, slots: slots.at[i].set(i), lax.empty((4,), jnp.int32))[n],
    ],
}
FAULTS = {fault: kind for kind, faults in BY_KIND.items() for fault in faults}
NUMBERS = np.array([1, 3], np.int32)


def escapes(
    functions: Iterable[Function], transform: Callable[[Function], Function] = jax.vmap
) -> list[list[tuple[Site, list[int]]]]:
    """The faults that reach the result of each function, and in which of its rows; all are parts of one program."""

    def program(numbers: Array) -> list[Array]:
        return [transform(function)(numbers) for function in functions]

    interpreter = Interpreter()
    results = interpreter.run(jax.make_jaxpr(program)(NUMBERS), [NUMBERS])
    assert len(interpreter.sites) <= BITS
    taints = [np.zeros(2, np.uint32) if each.taint is None else each.taint for each in results]
    rows = [[(site, (taint >> bit & 1).tolist()) for bit, site in enumerate(interpreter.sites)] for taint in taints]
    return [[(site, games) for site, games in each if any(games)] for each in rows]


def check_found(faults: Iterable[list[tuple[Site, list[int]]]]) -> None:
    """Each of ``FAULTS`` was found in its line, in the second game, and nothing else."""
    for (fault, kind), found in zip(FAULTS.items(), faults, strict=True):
        seen = [(site.kind, site.place.file, site.place.line, games) for site, games in found]
        assert seen == [(kind, __file__, fault.__code__.co_firstlineno, [0, 1])]


def test_faults_are_found_at_their_lines_in_their_games() -> None:
    check_found(escapes(FAULTS))


def test_faults_that_a_select_discards_are_none() -> None:
    def guarded(fault: Function) -> Function:
        return lambda n: jnp.where(n < 3, fault(n), 0)

    assert escapes(map(guarded, FAULTS)) == [[] for _ in FAULTS]


def test_faults_are_found_in_a_scan_in_the_branch_that_is_taken() -> None:
    def scanned(fault: Function) -> Function:
        branches = fault, lambda n: jnp.zeros_like(fault(n))
        return lambda numbers: lax.scan(lambda _, n: (0, lax.cond(n == 3, *branches, n)), 0, numbers)[1]

    check_found(escapes(map(scanned, FAULTS), transform=lambda each: each))


CHOSEN: tuple[Function, ...] = (
    lambda n: SIX.at[n * 2].get(mode="clip"),
    lambda n: SIX.at[n * 2].get(mode="fill", fill_value=-1),
    lambda n: SIX.at[jnp.where(n < 3, n, 6)].set(5, mode="drop")[0],
    lambda n: SIX.at[n * 2].add(jnp.where(n < 3, 1, 0))[0],
    lambda n: SIX[jnp.where(2 - n < 0, 2 - n + 6, 2 - n)],
    lambda n: n.astype(jnp.uint32) * jnp.uint32(2**31) - jnp.uint32(4),
    lambda n: (2 - n).astype(jnp.uint32),
    lambda n: (n < 3) & (SIX[2 - n] > 20),
    lambda n: jnp.zeros(3).at[:].set(jnp.inf).min() + n,
    lambda n: jnp.empty(3).at[:].set(1.0)[0] + n,
)


def test_what_an_author_has_chosen_is_no_fault() -> None:
    assert escapes(CHOSEN) == [[] for _ in CHOSEN]


def test_random_keys_sorts_and_whiles_are_interpreted() -> None:
    def draws(n: Array) -> Array:
        key = jax.random.fold_in(jax.random.key(0), n)
        order = jnp.argsort(jax.random.permutation(key, 5))
        return lax.while_loop(lambda total: total < 20, lambda total: total + order[n] + 1, jnp.int32(0))

    function = jax.vmap(draws)
    [result] = Interpreter().run(jax.make_jaxpr(function)(NUMBERS), [NUMBERS])
    np.testing.assert_array_equal(result.array, jax.jit(function)(NUMBERS))
    assert result.taint is None


class ObservesBeyond(OrchardJaxEnv):
    """Orchard whose observation takes the place of the cell before the walker's from the end of the board."""

    name = "orchard-beyond"

    def observe(self, state: Orchard) -> Array:
        return observation(state).at[0].add(state.fruit[state.walker - 1])


def test_a_finding_says_where_when_and_how_often() -> None:
    world = orchard(engines={"jax": partial(_open, ObservesBeyond())})
    words = "--engine jax --source uniform --games 4 --steps 12"
    ran = rlparity("sanitize", *words.split(), world=world)
    line = ObservesBeyond.observe.__code__.co_firstlineno + 1
    verdict, _, where, code, reaches, first = ran.out.splitlines()
    assert ran.code == 1
    assert verdict.startswith("jax: 1 fault; 48 steps, ")
    assert re.fullmatch(rf"negative index, \d+ times: .*test_sanitizer\.py:{line} in ObservesBeyond.observe", where)
    assert (code, reaches) == ("  state.fruit[state.walker - 1]", "  reaches observation")
    game = r"  first in game [0-3], (reset|restart|step by \w+ \(\d\)), state \{.*\"walker\": ?\d+.*\}"
    assert re.fullmatch(game, first)


def _open(env: OrchardJaxEnv, games: int, options: EngineOptions) -> JaxEngine:
    return JaxEngine(games, env, prices=options.prices)


def test_games_of_pure_functions_are_sanitized_one_by_one() -> None:
    def step(key: Array, state: Array, action: Array) -> tuple[Array, ...]:
        state = state + action
        return SIX[state % 4], SIX[state - 9], jnp.float32(0), state > 8

    start = jax.jit(lambda key: (SIX[0], jnp.int32(0)))
    pairing = Pairing(
        "count",
        {"jax": lambda: PytreeGame(start, jax.jit(step), lambda state: SIX[0])},
        ("stay", "go"),
        (),
        state_fields=("",),
    )
    played = sanitized(pairing.world(), "jax", Settings(source="uniform", games=2, steps=3))
    [finding] = played.findings.values()
    assert (finding.call, finding.game, finding.count, list(finding.reached)) == ("step", 0, 6, ["result.1"])
    assert finding.site.place.code == "SIX[state - 9]"


def test_orchard_is_clean() -> None:
    words = "--world toy_world.adapter:WORLD --engine jax --games 8 --steps 25 --auto-reset --json"
    ran = run(main, "sanitize", *words.split())
    assert (ran.code, ran.json["clean"], ran.json["steps"], ran.json["findings"]) == (0, True, 200, [])


def test_an_engine_that_is_not_of_jax_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'plain' has no watch_jax, .* name a JAX engine"):
        sanitized(WORLD, "plain", Settings(games=1, steps=1))

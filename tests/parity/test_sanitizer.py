"""The sanitizer finds planted faults at their lines, and none that a select discards."""

import re
from collections.abc import Callable, Iterable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from command_line import orchard, parity, run
from jax import Array, lax
from toy_world.adapter import WORLD, OrchardJaxEnv
from toy_world.in_jax import Orchard, observation

from parity import EngineOptions
from parity.adapters.pairing import Pairing
from parity.adapters.pytree import PytreeGame
from parity.cli import main
from parity.errors import UsageError
from parity.lockstep import Settings
from parity.sanitize_command import sanitized
from parity.sanitizer.interpreter import BITS, Interpreter, Site
from worldkit.jax.engine import JaxEngine

SIX = jnp.arange(6) * 10
LARGEST = 2**31 - 1


# Each takes int32 numbers n that are 1 and 3, of which 3 makes the fault, and gives a number.


def negative_index(n: Array) -> Array:
    return SIX[2 - n]


def negative_index_of_take(n: Array) -> Array:
    return jnp.take(SIX, 2 - n)


def negative_index_of_update(n: Array) -> Array:
    return jnp.zeros(6).at[2 - n].set(1, mode="drop").sum()


def negative_index_of_slice(n: Array) -> Array:
    return lax.dynamic_slice(SIX, (2 - n,), (1,))[0]


def read_out_of_range(n: Array) -> Array:
    return SIX[n * 2]


def read_out_of_range_by_unsigned(n: Array) -> Array:
    return SIX[(2 - n).astype(jnp.uint32)]


def read_by_an_index_with_a_mode(n: Array) -> Array:
    return SIX[SIX.at[n].get(mode="clip") // 5]


def clamped_slice(n: Array) -> Array:
    return lax.dynamic_slice(SIX, (n,), (4,))[0]


def clamped_update(n: Array) -> Array:
    return lax.dynamic_update_slice(SIX, SIX[:4], (n,))[0]


def dropped_update(n: Array) -> Array:
    return SIX.at[2 * n].set(7)[0]


def sum_overflow(n: Array) -> Array:
    return n + (LARGEST - 2)


def product_overflow(n: Array) -> Array:
    return n * 2**30


def shift_overflow(n: Array) -> Array:
    return n << 30


def negation_overflow(n: Array) -> Array:
    return -jnp.where(n == 3, -LARGEST - 1, n)


def conversion_overflow(n: Array) -> Array:
    return (n.astype(jnp.uint32) << 30).astype(jnp.int32)


def conversion_overflow_of_float(n: Array) -> Array:
    return (n.astype(jnp.float32) * 1e9).astype(jnp.int32)


def reduction_overflow(n: Array) -> Array:
    return jnp.full(3, n * 2**28).sum()


def running_overflow(n: Array) -> Array:
    return jnp.cumsum(jnp.full(3, n * 2**28))[2]


def contraction_overflow(n: Array) -> Array:
    return jnp.full(3, n * 2**14) @ jnp.full(3, 2**14)


def power_overflow(n: Array) -> Array:
    return (n * 1000) ** 3


def zero_division(n: Array) -> Array:
    return 7 // (3 - n)


def not_a_number(n: Array) -> Array:
    return jnp.sqrt(2.0 - n)


def infinite(n: Array) -> Array:
    return 1.0 / (3.0 - n)


def filled(n: Array) -> Array:
    return (SIX / 2).at[n * 2].get(mode="fill")


def unwritten(n: Array) -> Array:
    return jnp.empty(4).at[1:3].set(1.0)[n]


def unwritten_in_loop(n: Array) -> Array:
    return lax.fori_loop(0, 3, lambda i, slots: slots.at[i].set(i), lax.empty((4,), jnp.int32))[n]


FAULTS: dict[Callable[[Array], Array], str] = {
    **dict.fromkeys(
        (negative_index, negative_index_of_take, negative_index_of_update, negative_index_of_slice), "negative index"
    ),
    **dict.fromkeys(
        (
            read_out_of_range,
            read_out_of_range_by_unsigned,
            read_by_an_index_with_a_mode,
            clamped_slice,
            clamped_update,
            dropped_update,
        ),
        "index out of range",
    ),
    **dict.fromkeys(
        (sum_overflow, product_overflow, shift_overflow, negation_overflow, conversion_overflow), "integer overflow"
    ),
    **dict.fromkeys((conversion_overflow_of_float, reduction_overflow, running_overflow), "integer overflow"),
    **dict.fromkeys((contraction_overflow, power_overflow), "integer overflow"),
    zero_division: "division by zero",
    not_a_number: "NaN",
    infinite: "infinity",
    **dict.fromkeys((filled, unwritten, unwritten_in_loop), "uninitialised value"),
}
NUMBERS = np.array([1, 3], np.int32)


Function = Callable[[Array], Array]


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


def test_faults_are_found_at_their_lines_in_their_games() -> None:
    for fault, found in zip(FAULTS, escapes(FAULTS), strict=True):
        seen = [(site.kind, site.place.function, site.place.line, games) for site, games in found]
        assert seen == [(FAULTS[fault], fault.__name__, fault.__code__.co_firstlineno + 1, [0, 1])]


def test_faults_that_a_select_discards_are_none() -> None:
    def guarded(fault: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda n: jnp.where(n < 3, fault(n), 0)

    assert escapes(map(guarded, FAULTS)) == [[] for _ in FAULTS]


def test_faults_are_found_in_a_scan_in_the_branch_that_is_taken() -> None:
    def scanned(fault: Callable[[Array], Array]) -> Callable[[Array], Array]:
        branches = fault, lambda n: jnp.zeros_like(fault(n))
        return lambda numbers: lax.scan(lambda _, n: (0, lax.cond(n == 3, *branches, n)), 0, numbers)[1]

    for fault, found in zip(FAULTS, escapes(map(scanned, FAULTS), transform=lambda each: each), strict=True):
        assert [(site.kind, site.place.function, games) for site, games in found] == [
            (FAULTS[fault], fault.__name__, [0, 1])
        ]


CHOSEN: tuple[Callable[[Array], Array], ...] = (
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
    ran = parity("sanitize", *words.split(), world=world)
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
    sanitizer, _ = sanitized(pairing.world(), "jax", Settings(source="uniform", games=2, steps=3))
    [finding] = sanitizer.findings.values()
    assert (finding.call, finding.game, finding.count, list(finding.reached)) == ("step", 0, 6, ["result.1"])
    assert finding.site.place.code == "SIX[state - 9]"


def test_orchard_is_clean() -> None:
    words = "--world toy_world.adapter:WORLD --engine jax --games 8 --steps 25 --auto-reset --json"
    ran = run(main, "sanitize", *words.split())
    assert (ran.code, ran.json["clean"], ran.json["steps"], ran.json["findings"]) == (0, True, 200, [])


def test_an_engine_that_is_not_of_jax_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'plain' failed in start: .* name a JAX engine"):
        sanitized(WORLD, "plain", Settings(games=1, steps=1))

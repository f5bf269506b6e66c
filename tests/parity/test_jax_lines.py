"""Lines of a JAX function that made a number which it gives."""

import inspect
from pathlib import Path
from typing import Any

import faulty_orchard
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from command_line import rlparity
from test_adapters import cart_pole

from rlparity.adapters.jax_lines import lines_of

JaxValue = Any


def rested(hp: JaxValue) -> JaxValue:
    more = hp + 1  # heals
    return jnp.minimum(more, 3)  # at most


@jax.jit
def acted(hp: JaxValue, action: JaxValue) -> JaxValue:
    is_rest = action == 5  # rests
    return jnp.where(is_rest, rested(hp), hp)  # chosen


def step(state: dict[str, JaxValue], action: JaxValue) -> dict[str, JaxValue]:
    hp = acted(state["hp"], action)
    pair = jnp.stack([hp, action * 3])  # tripled

    def body(loop: tuple[JaxValue, JaxValue]) -> tuple[JaxValue, JaxValue]:
        count, total = loop
        return count + 1, jnp.where(count == 2, total * 2, total)  # doubled in round 2

    _, total = jax.lax.while_loop(lambda loop: loop[0] < action, body, (0, state["total"]))
    added = jax.lax.cond(
        action > 3,
        lambda: pair + 7,  # adds
        lambda: pair - 7,  # takes
    )
    flat = jnp.concatenate([pair, added]).reshape(2, 2)[:, 1:].T
    return {"flat": flat, "hp": hp, "total": total}


def comments(arguments: tuple[Any, ...], leaf: int, index: tuple[int, ...]) -> list[str]:
    """The comments at the lines of an element, the nearest first."""
    lines = inspect.getsource(inspect.getmodule(step)).splitlines()  # type: ignore[arg-type]
    found = lines_of(step, arguments, leaf, index)
    assert {path for path, _ in found} <= {Path(__file__)}
    return [lines[line - 1].partition("# ")[2] for _, line in found]


@pytest.mark.parametrize(
    ("leaf", "index", "action", "expected"),
    [
        (1, (), 5, ["heals", "chosen", "rests"]),
        (1, (), 4, ["chosen", "rests"]),
        (2, (), 5, ["doubled in round 2"]),
        (2, (), 1, ["doubled in round 2"]),
        (0, (0, 0), 5, ["tripled"]),
        (0, (0, 1), 5, ["adds"]),
        (0, (0, 1), 2, ["takes"]),
    ],
)
def test_a_number_is_followed_to_where_it_is_computed(
    leaf: int, index: tuple[int, ...], action: int, expected: list[str]
) -> None:
    found = comments(({"hp": np.int32(1), "total": np.int32(3)}, np.int32(action)), leaf, index)
    assert found[: len(expected)] == expected


def test_a_divergence_of_a_port_names_the_line_that_makes_what_differs(tmp_path: Path) -> None:
    world = cart_pole(force_mag=11.0)
    faulty_orchard.CHANGED = world  # type: ignore[attr-defined]
    words = "--engines", "gym,port", "--mode", "injected", "--games", "2", "--out", tmp_path, "--json"
    (found,) = rlparity("run", *words, world="faulty_orchard:CHANGED").json["divergences"]
    lines = {each["text"] for each in found["sources"] if each["about"] == "makes what differs"}
    assert {"x_dot = state.x_dot + params.tau * xacc", "theta_dot = state.theta_dot + params.tau * thetaacc"} <= lines

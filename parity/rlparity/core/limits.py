"""Limits of a run: every reason that may weaken its evidence for equal engines, and whether it applies."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from rlparity.core.compare import OBSERVATION, STATE, state_differences, value_text
from rlparity.core.measurements import Measurements, is_part
from rlparity.core.pair import Pair
from rlparity.core.prices import prices_in_reward
from rlparity.core.settings import FREE_RUNNING, STRICT, Noise, Settings
from rlparity.core.sources import TRACES
from rlparity.core.verdict import Check, divergent, inconclusive, limited
from rlparity.tolerance import Tolerance
from rlparity.world import World

NOT_COMPARED = "library", "masks", "replays_states"
"""Names of declarations that are not compared."""
_REGISTERED = "id", "namespace", "name", "version"
"""Keys of a Gymnasium spec that name an environment; one environment may have several names."""
_PLAY = "play longer, or from directed starts"
_LEFT = "compare it, or accept that"
_FEW, _MANY = 0.1, 0.5
"""Shares of the steps: the least to be compared and the most to be explained by the ledger for a meaningful result."""


def limits_of(
    pair: Pair, measured: Measurements, settings: Settings, steps: int, noise: Mapping[str, Noise] | None
) -> Iterator[Check]:
    """Yield everything that may limit the result of a run of ``steps`` steps, and whether it applies."""
    yield from _of_engines(pair, measured, settings)
    of_traces = settings.source.startswith(TRACES)
    asked = steps if of_traces else settings.games * settings.steps
    is_short = steps < _FEW * asked and settings.mode != FREE_RUNNING
    allow = f"{steps:,} of {asked:,}: allow more time, and explain less"
    yield inconclusive("steps", "too few steps", "are compared", allow), is_short or not steps
    explained = measured.explained / max(measured.rows, 1)
    narrow = f"{explained:.0%} of the steps: narrow its entries"
    yield limited("ledger", "the ledger", "explains most steps", narrow), explained > _MANY
    yield from declaration_checks(pair)
    yield limited("info", "infos", "are left out", "give --infos"), pair.has_infos and not pair.compares_infos
    yield from _left_out(pair, measured, settings)
    yield from _of_tolerances(pair.world, measured, noise)
    if not of_traces:  # recorded games cannot be played otherwise
        yield from _of_fields(measured)
        yield from _of_play(pair, settings, measured)


def declaration_checks(pair: Pair) -> Iterator[Check]:
    """Yield checks of what both engines declare, such as spaces."""
    one, other = (engine.declarations() for engine in pair.both)
    is_one_library = one.get("library") == other.get("library")
    exact, names = replace(pair.world, tolerances={}), declarations_of(pair)
    for name in names["compared"]:
        mine, theirs = (side[name] if is_one_library else _of_any_library(side[name]) for side in (one, other))
        found = next(state_differences(exact, mine, theirs, name), None)
        place = found and f"{found.field} is {value_text(found.expected)} and {value_text(found.observed)}: correct one"
        yield divergent("space", name, "is declared differently", place or "correct one"), bool(found)
    for name in names["left_out"]:  # unmeasured, so that World.accept may list it for another pair
        yield divergent("space", name, "is declared differently", "declare it"), None


def declarations_of(pair: Pair) -> dict[str, list[str]]:
    """Names that both engines declare, which are compared, and names that only one declares, which are left out."""
    one, other = ({*engine.declarations()} - {*NOT_COMPARED} for engine in pair.both)
    return {"compared": sorted(one & other), "left_out": sorted(one ^ other)}


def _of_any_library(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Remove the dtype of discrete spaces, which differs between libraries."""
    if not isinstance(value, dict):
        return [*map(_of_any_library, value)] if isinstance(value, list) else value
    return {name: _of_any_library(part) for name, part in value.items() if name != "dtype" or "n" not in value}


def is_without_injection(pair: Pair, settings: Settings) -> bool:
    """Tell whether a run is to inject the reference's states, but states are only seeds and actions."""
    return settings.mode not in (STRICT, FREE_RUNNING) and pair.replays_states


def _of_engines(pair: Pair, measured: Measurements, settings: Settings) -> Iterator[Check]:
    one, other = pair.names
    other_one = "name another with --engines"
    yield limited("engine", "the engine", "is compared with itself", other_one), one == other
    yield inconclusive("engine", "both engines", "are one and the same", other_one), measured.are_one
    write = "their states are seeds and actions: write games with pull and push"
    yield inconclusive("state", "nothing", "is injected", write), is_without_injection(pair, settings)


def are_one(pair: Pair) -> bool:
    """Tell whether two names stand for equal factories or engines; call it before games begin."""
    factories = [pair.world.engines[name] for name in pair.names]
    sides = factories, [engine.engine for engine in pair.both]
    are_same = (type(one) is type(other) and _made_of(one) == _made_of(other) for one, other in sides)
    with suppress(RecursionError):
        return pair.names[0] != pair.names[1] and any(are_same)
    return False


def _made_of(each: Any, seen: dict[int, tuple[int, Any]] | None = None) -> object:  # noqa: ANN401 - whatever it is
    """Break an object down into nested types, code and values; equal results mean equal behaviour.

    seen: by id, the number of each object met so far and the object; the number stands for repeated references.
    """
    seen = {} if seen is None else seen
    if each is None or isinstance(each, (str, bytes, int, float, type, ModuleType)):
        return type(each), each
    if id(each) in seen:
        return seen[id(each)][0]
    seen[id(each)] = len(seen), each
    parts: Any = each
    if isinstance(each, FunctionType):
        cells = tuple(cell.cell_contents for cell in each.__closure__ or ())
        parts = id(each.__globals__), each.__code__, each.__defaults__, cells
    elif isinstance(each, CodeType):
        parts = each.co_code, each.co_names, each.co_consts
    elif type(each) is dict:
        names = _REGISTERED if "entry_point" in each else ()
        parts = [part for name, part in each.items() if name not in names for part in (name, part)]
    elif type(each) not in (list, tuple):
        taken: Any = None
        with suppress(Exception):
            taken = each.__reduce_ex__(4)
        are_parts = isinstance(taken, tuple)  # else it equals only itself
        parts = [[*part] if isinstance(part, Iterator) else part for part in taken] if are_parts else [id(each)]
    return type(each), [_made_of(part, seen) for part in parts]


def _left_out(pair: Pair, measured: Measurements, settings: Settings) -> Iterator[Check]:
    tolerances = {name: pair.world.tolerance_of(name) or Tolerance() for name in pair.world.tolerances}
    ignored = {name for name, tolerance in tolerances.items() if tolerance.ignored}
    unknown = pair.unknown if settings.mode != FREE_RUNNING else set[str]()
    for name in sorted({*ignored, *unknown} - {"marks"}):
        yield limited("field", name, "is left out", _LEFT), True
    parts = {f"{OBSERVATION}.{part}" for part in pair.world.observation_fields}
    ignored |= {OBSERVATION} if parts and parts <= ignored else set()
    fields = {name.split(".")[0] for name in measured.fields} - {"seed", "mask", "facts", "events"}
    nothing = inconclusive("field", "nothing", "is compared", "take tolerances off World.tolerances")
    yield nothing, bool(fields) and fields <= ignored


def _of_tolerances(world: World, measured: Measurements, floor: Mapping[str, Noise] | None) -> Iterator[Check]:
    """Yield checks of tolerances: wider than the field's range, or far wider than its noise where that was measured."""
    for name in world.tolerances:
        tolerance, subject = world.tolerance_of(name) or Tolerance(), f"the tolerance of {name}"
        reaches = [each for field, each in measured.reach.items() if is_part(field, name)]
        is_wide = any(np.any(varied > exceeded) for varied, exceeded in reaches)
        yield limited("tolerance", subject, "is wider than the field's range", "narrow it"), is_wide
        noise = [each for field, each in (floor or {}).items() if is_part(field, name)] or [Noise(name)]
        least = max(each.absolute for each in noise)
        much = limited("tolerance", subject, "is wider than ten times its noise floor", f"that is {least:.2g}")
        yield much, None if floor is None else all(each.is_far_within(tolerance) for each in noise)


def _of_fields(measured: Measurements) -> Iterator[Check]:
    world, fields = measured.world, measured.fields
    shown = (OBSERVATION, "reward", STATE)
    telling = [field for name, field in fields.items() if name.startswith(shown) and name != f"{STATE}.seed"]
    empty = inconclusive("field", "nothing", "varies", _PLAY)
    yield empty, bool(telling) and all(field.is_constant for field in telling)
    for name, field in fields.items():
        if name.startswith((OBSERVATION, STATE)):
            yield limited("field", name, "never varies", _PLAY), field.is_constant
        nan = inconclusive("field", name, "holds nothing but NaN", "correct both engines")
        yield nan, name.startswith((OBSERVATION, "reward")) and field.is_empty
    if (reward := fields.get("reward")) is not None:
        yield limited("field", "reward", "is always 0", _PLAY), reward.is_zero
    free = {name for name, price in prices_in_reward(world).items() if not price}
    for name, noun, states in (
        ("components", "component", "is always 0"),
        ("facts", "fact", "never varies"),
        ("events", "event", "never happens"),
    ):
        labels = getattr(world, name) if name in fields else ()
        given = limited("field", name, "are left out", "give them in both engines")
        yield given, name not in fields and bool(getattr(world, name))
        for place, label in enumerate(labels if name != "components" or len(labels) > 1 else ()):
            stays = not fields[name].varied[place] and (name == "facts" or not fields[name].first[place])
            yield limited("field", f"{noun} {label}", states, _PLAY), None if label in free else stays


def _of_play(pair: Pair, settings: Settings, measured: Measurements) -> Iterator[Check]:
    """Yield checks of how the games were played: masks, actions and ends."""
    mask, world = measured.fields.get("mask"), pair.world
    if mask is not None and pair.has_masks and mask.elements:
        is_full = mask.is_constant and bool(mask.first.all())
        yield limited("mask", "every action", "is always valid", "accept that, if so"), is_full
        yield limited("mask", "no action", "is ever valid", "correct both engines"), mask.is_zero
        is_fixed = mask.is_constant and not (is_full or mask.is_zero)
        yield limited("mask", "the mask", "never varies", _PLAY), is_fixed
        yield limited("action", "no invalid action", "is taken", "give --invalid"), not (is_full or measured.invalid)
    for name, count in zip(world.actions, measured.taken.tolist(), strict=True):
        yield limited("action", f"action {name}", "is never taken", _PLAY), not count
    spaces = [engine.declarations().get("action_space") for engine in pair.both]
    left_out = limited("action", "actions of the spaces", "are left out", "name them all in the world's actions")
    yield left_out, any(_has_more(space, world) for space in spaces)
    yield limited("action", "actions", "have no effect", "correct both engines"), measured.ignored.get("actions")
    chance = "pass it on, or say draws=False in a World"
    yield limited("seed", "every seed", "plays the same game", chance), measured.ignored.get("seeds")
    ends, longer = measured.ends, "play more --steps"
    yield limited("end", "no game", "ends", longer), not any(ends.values())
    limits = [declared["time_limit"] for engine in pair.both if "time_limit" in (declared := engine.declarations())]
    for name in (name for name in ends if name in measured.fields):
        may_be = any(ends.values()) and (name == "terminated" or any(limits) or not limits)
        yield limited("end", "no game", f"is {name}", longer), not ends[name] if may_be else None
    yield limited("end", "every game", "ends at its first step", _PLAY), measured.longest == 1 and settings.steps > 1


def _has_more(space: Any, world: World) -> bool:  # noqa: ANN401 - JSON values
    """Tell whether a declared space has actions that the world lacks."""
    if not isinstance(space, dict):
        return False
    if (own := world.action_space) is None:
        return bool(space.get("n", 0) > len(world.actions))
    low: Any = space.get("low", own.low)
    high: Any = space.get("high", np.subtract(space["nvec"], 1) if "nvec" in space else own.high)
    return bool(np.any(np.ravel(low) < np.array(own.low)) or np.any(np.ravel(high) > np.array(own.high)))

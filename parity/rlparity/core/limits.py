"""Limits of a run: all that might keep it from telling that two engines are equal, and whether it does."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from rlparity.core.compare import OBSERVATION, STATE, state_differences, value_text
from rlparity.core.measurements import Measurements, Variation
from rlparity.core.pair import Pair
from rlparity.core.prices import prices_in_reward
from rlparity.core.settings import FREE_RUNNING, STRICT, WIDEST, Noise, Settings
from rlparity.core.sources import TRACES
from rlparity.core.verdict import Check, Reason, Verdict
from rlparity.tolerance import Tolerance
from rlparity.world import World

NOT_COMPARED = "library", "masks", "replays_states"
"""Of declarations."""
_PLAY = "play longer, or from directed starts"
_LEFT = "compare it, or accept that"
_FEW, _MANY = 0.1, 0.5
"""Shares of the steps: fewer that are compared, or more that the ledger explains, say nothing about the engines."""


def limits_of(
    pair: Pair, measured: Measurements, settings: Settings, steps: int, noise: Mapping[str, Noise] | None
) -> Iterator[Check]:
    """Everything that may limit what a run of so many steps says, whether it does or not."""
    yield from _of_engines(pair, settings)
    of_traces = settings.source.startswith(TRACES)
    asked = steps if of_traces else settings.games * settings.steps
    is_short = steps < _FEW * asked and settings.mode != FREE_RUNNING
    allow = f"{steps:,} of {asked:,}: allow more time, and explain less"
    yield Reason(Verdict.INCONCLUSIVE, "steps", "too few steps", "are compared", allow), is_short or not steps
    explained = measured.explained / max(measured.rows, 1)
    narrow = f"{explained:.0%} of the steps: narrow its entries"
    yield limited("ledger", "the ledger", "explains most steps", narrow), explained > _MANY
    yield from declaration_checks(pair)
    yield limited("info", "infos", "are left out", "give --infos"), pair.has_infos and not pair.compares_infos
    yield from _left_out(pair, measured, settings)
    yield from _of_tolerances(pair.world, measured, noise)
    if not of_traces:  # whose games are what they are
        yield from _of_fields(measured)
        yield from _of_play(pair, settings, measured)


def declaration_checks(pair: Pair) -> Iterator[Check]:
    """What engines declare of themselves, such as spaces, where both do."""
    one, other = (engine.declarations() for engine in pair.both)
    is_one_library = one.get("library") == other.get("library")
    exact, names = replace(pair.world, tolerances={}), declarations_of(pair)
    for name in names["compared"]:
        mine, theirs = (side[name] if is_one_library else _of_any_library(side[name]) for side in (one, other))
        found = next(state_differences(exact, mine, theirs, name), None)
        place = found and f"{found.field} is {value_text(found.expected)} and {value_text(found.observed)}: correct one"
        yield Reason(Verdict.DIVERGENT, "space", name, "is declared differently", place or "correct one"), bool(found)
    for name in names["left_out"]:  # which is no reason against accepting it of another pair
        yield Reason(Verdict.DIVERGENT, "space", name, "is declared differently", "declare it"), None


def declarations_of(pair: Pair) -> dict[str, list[str]]:
    """The names of what both engines declare, which is compared, and of what only one does, which is left out."""
    one, other = ({*engine.declarations()} - {*NOT_COMPARED} for engine in pair.both)
    return {"compared": sorted(one & other), "left_out": sorted(one ^ other)}


def _of_any_library(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """A space without the type of numbered choices: each library has its own."""
    if not isinstance(value, dict):
        return [*map(_of_any_library, value)] if isinstance(value, list) else value
    return {name: _of_any_library(part) for name, part in value.items() if name != "dtype" or "n" not in value}


def is_without_injection(pair: Pair, settings: Settings) -> bool:
    """Games are to begin in states of the reference, and states are no more than seeds and actions."""
    return settings.mode not in (STRICT, FREE_RUNNING) and pair.replays_states


def limited(kind: str, subject: str, states: str, remedy: str) -> Reason:
    """A reason for a limited verdict."""
    return Reason(Verdict.LIMITED, kind, subject, states, remedy)


def _of_engines(pair: Pair, settings: Settings) -> Iterator[Check]:
    one, other = pair.names
    factories = [pair.world.engines[name] for name in pair.names]
    other_one = "name another with --engines"
    yield limited("engine", "the engine", "is compared with itself", other_one), one == other
    are_same = one != other and _made_of(factories[0]) == _made_of(factories[1])
    yield Reason(Verdict.INCONCLUSIVE, "engine", "both engines", "are one and the same", other_one), are_same
    write = "their states are seeds and actions: write games with pull and push"
    yield Reason(Verdict.INCONCLUSIVE, "state", "nothing", "is injected", write), is_without_injection(pair, settings)


def _made_of(each: Any, above: tuple[Any, ...] = ()) -> object:  # noqa: ANN401 - a factory, or a part of one
    """The code and values that a factory is made of, which are the same in those that do the same.

    above: the functions that it is a part of; one that closes over itself is told by its place among them.
    """
    if isinstance(each, FunctionType):
        if each in above:
            return above.index(each)
        above = (*above, each)
        cells = tuple(cell.cell_contents for cell in each.__closure__ or ())
        each = id(each.__globals__), each.__code__, each.__defaults__, cells
    elif isinstance(each, CodeType):
        each = each.co_code, each.co_names, each.co_consts
    elif isinstance(each, partial):
        each = each.func, each.args, tuple(each.keywords.items())
    if isinstance(each, tuple):
        return [_made_of(part, above) for part in each]
    is_value = isinstance(each, (str, bytes, int, float, dict)) or is_dataclass(each)
    return type(each), each if is_value else id(each)


def _left_out(pair: Pair, measured: Measurements, settings: Settings) -> Iterator[Check]:
    tolerances = {name: pair.world.tolerance_of(name) or Tolerance() for name in pair.world.tolerances}
    ignored = {name for name, tolerance in tolerances.items() if tolerance.ignored}
    unknown = pair.unknown if settings.mode != FREE_RUNNING else set[str]()
    for name in sorted({*ignored, *unknown} - {"marks"}):
        yield limited("field", name, "is left out", _LEFT), True
    parts = {f"{OBSERVATION}.{part}" for part in pair.world.observation_fields}
    ignored |= {OBSERVATION} if parts and parts <= ignored else set()
    fields = {name.split(".")[0] for name in measured.fields} - {"seed", "mask", "facts", "events"}
    nothing = Reason(Verdict.INCONCLUSIVE, "field", "nothing", "is compared", "take tolerances off World.tolerances")
    yield nothing, bool(fields) and fields <= ignored


def _of_tolerances(world: World, measured: Measurements, floor: Mapping[str, Noise] | None) -> Iterator[Check]:
    """Tolerances as wide as what they are of, or much wider than what varies by itself, where that was measured."""
    for name in world.tolerances:
        tolerance, subject = world.tolerance_of(name) or Tolerance(), f"the tolerance of {name}"
        widths = [(_width(tolerance, seen), seen) for field, seen in measured.fields.items() if _is_part(field, name)]
        is_wide = any(0 < seen.high - seen.low <= width < float("inf") for width, seen in widths)
        yield limited("tolerance", subject, "is wider than the field's range", "narrow it"), is_wide
        least = max((each.absolute for field, each in (floor or {}).items() if _is_part(field, name)), default=0.0)
        is_wider = any(width > WIDEST * least for width, _ in widths)
        much = limited("tolerance", subject, "is wider than ten times its noise floor", f"that is {least:.2g}")
        yield much, None if floor is None else is_wider


def _is_part(field: str, name: str) -> bool:
    return field == name or field.startswith(f"{name}.")


def _width(tolerance: Tolerance, seen: Variation) -> float:
    size = max(abs(seen.low), abs(seen.high))
    widths = tolerance.absolute, (tolerance.relative + tolerance.ulps * 2.0**-23) * size
    return 0.0 if tolerance.ignored else max(widths)


def _of_fields(measured: Measurements) -> Iterator[Check]:
    world, fields = measured.world, measured.fields
    shown = (OBSERVATION, "reward", STATE)
    telling = [field for name, field in fields.items() if name.startswith(shown) and name != f"{STATE}.seed"]
    empty = Reason(Verdict.INCONCLUSIVE, "field", "nothing", "varies", _PLAY)
    yield empty, bool(telling) and all(field.is_constant for field in telling)
    for name, field in fields.items():
        if name.startswith((OBSERVATION, STATE)):
            yield limited("field", name, "never varies", _PLAY), field.is_constant
        nan = Reason(Verdict.INCONCLUSIVE, "field", name, "holds nothing but NaN", "correct both engines")
        yield nan, name.startswith(OBSERVATION) and field.is_empty
    if (reward := fields.get("reward")) is not None:
        yield limited("field", "reward", "is always 0", _PLAY), reward.is_zero
    free = {name for name, price in prices_in_reward(world).items() if not price}
    for name, noun, states in (
        ("components", "component", "is always 0"),
        ("facts", "fact", "never varies"),
        ("events", "event", "never happens"),
    ):
        labels = getattr(world, name) if name in fields else ()
        for place, label in enumerate(labels if name != "components" or len(labels) > 1 else ()):
            stays = place in fields[name].constant and (name == "facts" or not fields[name].first[place])
            yield limited("field", f"{noun} {label}", states, _PLAY), None if label in free else stays


def _of_play(pair: Pair, settings: Settings, measured: Measurements) -> Iterator[Check]:
    """How the games were played: masks, actions and ends."""
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
    yield limited("action", "actions", "have no effect", "correct both engines"), measured.ignored.get("actions")
    chance = "pass it on, or say draws=False in a World"
    yield limited("seed", "every seed", "plays the same game", chance), measured.ignored.get("seeds")
    ends, longer = measured.ends, "play more --steps"
    yield limited("end", "no game", "ends", longer), not any(ends.values())
    limits = [engine.declarations().get("time_limit", 1) for engine in pair.both]
    for name in ends:
        if name in measured.fields and (name == "terminated" or any(limits)):
            yield limited("end", "no game", f"is {name}", longer), not ends[name] if any(ends.values()) else None
    yield limited("end", "every game", "ends at its first step", _PLAY), measured.longest == 1 and settings.steps > 1

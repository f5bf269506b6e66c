"""Measurements of a run: which compared fields ever varied, how games ended and which actions were taken."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import OBSERVATION, STATE, Fields, element_names, elements_that_differ, state_differences
from rlparity.core.guard import json_copy
from rlparity.engine import Array, BatchStep, Slots, State
from rlparity.spaces import is_number
from rlparity.world import World

_MANY, _EVERY = 64, 8
"""Fields with more elements are sampled only every eighth step once one of their elements has varied."""


class Variation:
    """Variation of a field over a run, tracked for each element or only for the whole field.

    varied: elements that ever had another value than ``first``; all of them where the whole field is tracked.
    """

    def __init__(self, values: Array, *, whole: bool) -> None:
        self.first = values.reshape(len(values), -1)[0].copy()
        self.varied = np.zeros(len(self.first), np.bool_)
        self.elements = 1 if whole else len(self.first)
        self._axis, self._calls, self._is_settled = (None if whole else 0), 0, False
        self._has_nan = values.dtype.kind == "f" and bool(np.isnan(self.first).any())

    def add(self, values: Array) -> None:
        """Add the values of some games."""
        self._calls += 1
        if self._is_settled or (self.elements > _MANY and self._calls % _EVERY and not self.is_constant):
            return
        flat = values.reshape(len(values), -1)
        differ = flat != self.first
        if self._has_nan:
            differ &= ~(np.isnan(flat) & np.isnan(self.first))
        self.varied |= differ.any(axis=self._axis)
        self._is_settled = bool(self.varied.all())

    @property
    def is_constant(self) -> bool:
        """Whether no element ever varied; true also for a field without elements."""
        return not self.varied.any()

    @property
    def is_zero(self) -> bool:
        """Whether the field was always 0."""
        return self.is_constant and not self.first.any()

    @property
    def is_empty(self) -> bool:
        """Whether the field is constant and holds only NaN and infinity."""
        return self.is_constant and self.first.dtype.kind == "f" and not np.isfinite(self.first).any()

    def values(self, names: Sequence[str]) -> dict[str, Any]:
        """Counts of all and of varied elements, and the first hundred constant ones, by name where they have names."""
        found: dict[str, Any] = {"elements": self.elements}
        found["varied"] = min(self.elements, int(self.varied.sum()))
        if found["varied"] < self.elements > 1:
            places = np.flatnonzero(~self.varied)[:100].tolist()
            found["constant"] = [names[place] for place in places] if names else places
        return found


def is_part(field: str, name: str) -> bool:
    """Tell whether a field is the one called ``name``, or a part of it."""
    return field == name or field.startswith(f"{name}.")


class Measurements:
    """Measurements of what the reference engine of a pair shows in a run.

    fields: variation by field, with one for each part of a state or dict observation. taken: how often each action was
    taken; invalid: steps with an action that the mask forbids. ends: games that were ``terminated`` and ``truncated``.
    longest: actions of the longest game. explained: steps whose differences the ledger explains; excused: steps that
    differ within a tolerance. reach: for each field or state part with a tolerance, the elements that ever had another
    value than at first, and those that left the tolerance around it. ignored: whether games ignore ``seeds`` and
    ``actions``, where that was tested. are_one: the two names stand for the same engine.
    """

    def __init__(self, world: World, games: int) -> None:
        self.world = world
        self.fields: dict[str, Variation] = {}
        self.taken = np.zeros(len(world.actions), np.int64)
        self.invalid = self.longest = self.explained = self.excused = self.rows = 0
        self.ends = dict.fromkeys(("terminated", "truncated"), 0)
        self.ignored: dict[str, bool] = {}
        self.are_one = False
        self.reach: dict[str, tuple[Any, Any]] = {}
        ignored = {name: each for name in world.tolerances if (each := world.tolerance_of(name)) and each.ignored}
        self._exact = replace(world, tolerances=ignored)
        self._ages, self._over = np.zeros(games, np.int64), np.zeros(games, np.bool_)
        self._mask: NDArray[np.bool_] = np.ones((games, len(world.actions)), np.bool_)

    def start(self, fields: Fields, slots: Slots, *, placed: bool) -> None:
        """Add what games show at their start; ``placed``: in a state that they were put into, even amid a game."""
        begun = slots[self._over[slots]] if placed else slots
        self._ages[begun], self._over[begun] = 0, False
        self._add(fields, slots, np.ones(len(slots), np.bool_))

    def step(self, fields: Fields, step: BatchStep, actions: NDArray[Any], *, restarting: bool) -> None:
        """Add what a step of all games shows."""
        playing = ~self._over
        self.rows += len(playing)
        if self.taken.size:
            self.taken += np.bincount(actions, minlength=len(self.taken))
            self.invalid += int((playing & ~self._mask[np.arange(len(actions)), actions]).sum())
        self._ages += playing
        self.longest = max(self.longest, int(self._ages.max()))
        ended = step.ended & playing
        if ended.any():
            for name in self.ends:
                if name in fields:
                    flags = np.asarray(fields[name])[ended].reshape(int(ended.sum()), -1)
                    self.ends[name] += int(flags.any(axis=1).sum())
            self._over |= ended & (not restarting)
            self._ages[ended & restarting] = 0
        self._add(fields, np.arange(len(actions)), ~self._over)

    def _add(self, fields: Fields, slots: Slots, playing: NDArray[np.bool_]) -> None:
        has_arrays = any(name.startswith(f"{STATE}.") for name in fields)
        for name, values in fields.items():
            if name == "mask":
                self._mask[slots] = values
                if playing.any():  # masks of ended games mean nothing
                    self._note(name, np.asarray(values)[playing])
            elif isinstance(values, list):
                for key in () if has_arrays or not values else values[0]:
                    self._note_states(f"{name}.{key}", key, values)
            elif name == OBSERVATION and self.world.observation_fields:
                for part in self.world.observation_fields:
                    self._note(f"{name}.{part}", values[part])
            else:
                self._note(name, values, whole=name.startswith(f"{STATE}."))

    def _note(self, name: str, values: Array, *, whole: bool = False) -> None:
        if (known := self.fields.get(name)) is None:
            known = self.fields[name] = Variation(values, whole=whole)
        known.add(values)
        tolerance = self.world.tolerance_of(name)
        if tolerance is not None and not tolerance.ignored and not values.dtype.hasobject:
            first = np.broadcast_to(known.first.reshape(values.shape[1:]), values.shape)
            sides = (elements_that_differ(first, values, each) for each in (None, tolerance))
            self._reach(name, *(side.any(axis=0) for side in sides))

    def _note_states(self, name: str, key: str, states: list[State]) -> None:
        """Add one key of states that are dicts."""
        known = self.fields.get(name)
        if known is None or known.is_constant:
            values = (json_copy(state.get(key)) for state in states)
            self._note(name, np.fromiter(values, object, len(states)), whole=True)
        if any(is_part(name, each) or is_part(each, name) for each in self.world.tolerances):
            first = self.fields[name].first[0]
            apart = (each for state in states for each in state_differences(self._exact, first, state.get(key), name))
            for each in apart:
                if is_number(each.expected) and is_number(each.observed):
                    sides = float(each.expected), float(each.observed)
                    exceeds = any(state_differences(self.world, *sides, each.field))
                    self._reach(re.sub(r"\[\d+\]", "", each.field), True, exceeds)

    def _reach(self, name: str, varied: Any, exceeded: Any) -> None:  # noqa: ANN401 - flags, or a flag
        before = self.reach.get(name, (False, False))
        self.reach[name] = before[0] | varied, before[1] | exceeded

    def values(self) -> dict[str, Any]:
        """All measurements as JSON values."""
        names, rows = element_names(self.world), max(self.rows, 1)
        return {
            "fields": {name: field.values(names.get(name, ())) for name, field in self.fields.items()},
            "actions": dict(zip(self.world.actions, self.taken.tolist(), strict=True)),
            "invalid_actions": self.invalid,
            "ends": {**self.ends, "longest_game": self.longest},
            "excused_share": self.excused / rows,
            "explained_share": self.explained / rows,
        }

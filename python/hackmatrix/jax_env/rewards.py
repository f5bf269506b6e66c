"""Quantities that a step is paid for, the reward components in thousandths (W, W1, W3) and the float reward."""

from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.pathfinding import shortest_path
from hackmatrix.jax_env.state import Snapshot
from hackmatrix.jax_env.tables import split_prices
from rlworldkit.jax.exact import divided
from rlworldkit.jax.marks import mark


class StepEvents(NamedTuple):
    """Events of a step, beyond what the states around it show. All is 0 or false where the action was invalid."""

    valid: Array
    completed: Array
    """The action completed a stage, the last one included (C3)."""
    undone: Array
    """The action was UNDO."""
    reset: Array
    """The action was RESET."""
    kills: Array
    """Kills of the action (V4); for UNDO the negative of those since the record (W3)."""
    pickups: Array
    """Pickups walked onto; for UNDO the negative of those since the record (W3)."""
    missed: Array
    """Credits and energy that the siphon missed (W2); 0 for other actions."""


PriceCounts = dict[str, Array]
"""Quantities that a step is paid for, by the names of the prices in table W: int32, or bool where it is at most 1.

``stage_index``, int32, is the index of the stage whose completion and death prices apply, 0 for stage 1.
"""


def count(before: Snapshot, after: Snapshot, events: StepEvents) -> tuple[PriceCounts, Array]:
    """Count what a step is paid for, and return the new closest approach too (W1).

    ``before`` and ``after`` enclose everything the step did except generating the next stage, which changes nothing
    that is rewarded. After UNDO the closest approach of ``after`` is the restored one.
    """
    has_path, length = shortest_path(bb.single(after.player), bb.single(after.exit), after.blocks)
    same_stage = events.valid & ~events.completed & ~events.undone
    approaches = same_stage & (after.hp > 0) & has_path
    mark("W1.noPath", lambda: same_stage & (after.hp > 0) & ~has_path)
    mark("W1.death", lambda: same_stage & (after.hp <= 0))
    closest = jnp.where(approaches, jnp.minimum(after.closest_approach, length), after.closest_approach)
    undone = events.undone
    gained = jnp.where(undone, before.closest_approach - after.closest_approach, after.closest_approach - closest)
    mark("W1.closer", lambda: approaches & (gained > 0))
    mark("W3.distance", lambda: undone & (gained < 0))
    gained = jnp.where(events.completed, before.closest_approach, gained)
    mark("W1.completed", lambda: events.completed)

    died = (before.hp > 0) & (after.hp <= 0)
    won = events.completed & (before.stage == rules.NUM_STAGES)
    resources = after.credits + after.energy
    siphon_enemy_near = bb.overlaps(bb.neighbours(bb.single(after.player)), after.enemies & after.from_siphon)

    mark("W3.kills", lambda: undone & (events.kills < 0))
    mark("W3.pickups", lambda: undone & (events.pickups < 0))
    counts = PriceCounts(
        step_penalty=events.valid,
        stage_completion=events.completed,
        score_gain=after.score - before.score,
        kills=events.kills,
        data_siphon=events.pickups,
        distance_shaping=gained,
        victory=won,
        victory_per_score=jnp.where(won, after.score, 0),
        death_penalty=died,
        resource_gain=resources - before.credits - before.energy,
        resource_holding=jnp.where(events.completed, resources, 0),
        damage_penalty=jnp.maximum(before.hp - after.hp, 0),
        hp_recovery=jnp.maximum(after.hp - before.hp, 0),
        siphon_quality=events.missed,
        siphon_death_penalty=died & siphon_enemy_near,
        program_waste=events.reset & (before.hp == 2),
        stage_index=jnp.clip(before.stage - 1, 0, rules.NUM_STAGES - 1),
    )
    return counts, closest


def components(counts: PriceCounts, prices: ArrayLike) -> Array:
    """The components of one step in the order of table W: int32 ``(components,)``, in thousandths.

    ``prices``: int32 ``(prices,)`` in the order of ``tables.PRICES``.
    """
    paid = {
        name: counts[name] * each[counts["stage_index"] if len(each) > 1 else 0]
        for name, each in split_prices(prices).items()
    }
    paid["victory"] += paid.pop("victory_per_score")
    for name, value in paid.items():
        mark(f"W.{name}", partial(jnp.not_equal, value, 0))
    return jnp.stack([paid[name] for name in rules.COMPONENTS])


def reward(components: Array) -> Array:
    """The float reward: float32(total) / float32(1000), correctly rounded.

    ``components`` is int32 ``(*batch, components)``; the result float32 ``(*batch,)``.
    """
    return divided(jnp.sum(components, axis=-1, dtype=jnp.int32), 1000)

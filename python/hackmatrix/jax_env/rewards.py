"""The reward components in thousandths (W, W1, W3) and the float reward."""

from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env.pathfinding import shortest_path
from hackmatrix.jax_env.state import Snapshot
from hackmatrix.jax_env.tables import PRICE
from worldkit.jax.exact import divided
from worldkit.jax.marks import mark


class StepEvents(NamedTuple):
    """Events of a step, beyond what the states around it show. All is 0 or false where the action was invalid."""

    valid: Array
    completed: Array
    """The action completed a stage, the last one included (C3)."""
    undone: Array
    """It was UNDO."""
    reset: Array
    """It was RESET."""
    kills: Array
    """Kills of the action (V4); for UNDO the negative of those since the record (W3)."""
    pickups: Array
    """Pickups walked onto; for UNDO the negative of those since the record (W3)."""
    missed: Array
    """Credits and energy that the siphon missed (W2); 0 for other actions."""


def components(before: Snapshot, after: Snapshot, deed: StepEvents) -> tuple[Array, Array]:
    """The components (int32, ``(*batch, components)``) in the order of table W, and the new closest approach (W1).

    ``before`` and ``after`` enclose everything the step did except generating the next stage, which changes nothing
    that is rewarded. After UNDO the closest approach of ``after`` is the restored one.
    """
    has_path, length = shortest_path(bb.single(after.player), bb.single(after.exit), after.blocks)
    same_stage = deed.valid & ~deed.completed & ~deed.undone
    approaches = same_stage & (after.hp > 0) & has_path
    mark("W1.noPath", lambda: same_stage & (after.hp > 0) & ~has_path)
    mark("W1.death", lambda: same_stage & (after.hp <= 0))
    closest = jnp.where(approaches, jnp.minimum(after.closest_approach, length), after.closest_approach)
    gained = jnp.where(deed.undone, before.closest_approach - after.closest_approach, after.closest_approach - closest)
    mark("W1.closer", lambda: approaches & (gained > 0))
    mark("W3.distance", lambda: deed.undone & (gained < 0))
    gained = jnp.where(deed.completed, before.closest_approach, gained)
    mark("W1.completed", lambda: deed.completed)

    died = (before.hp > 0) & (after.hp <= 0)
    won = deed.completed & (before.stage == rules.NUM_STAGES)
    stage_index = jnp.clip(before.stage - 1, 0, rules.NUM_STAGES - 1)
    resources = after.credits + after.energy
    siphon_enemy_near = bb.overlaps(bb.neighbours(bb.single(after.player)), after.enemies & after.from_siphon)

    by_name = {
        "step_penalty": PRICE.step_penalty * deed.valid.astype(jnp.int32),
        "stage_completion": jnp.where(deed.completed, jnp.asarray(PRICE.stage_completion, jnp.int32)[stage_index], 0),
        "score_gain": PRICE.score_gain * (after.score - before.score),
        "kills": PRICE.kills * deed.kills,
        "data_siphon": PRICE.data_siphon * deed.pickups,
        "distance_shaping": PRICE.distance_shaping * gained,
        "victory": jnp.where(won, PRICE.victory + PRICE.victory_per_score * after.score, 0),
        "death_penalty": jnp.where(died, jnp.asarray(PRICE.death_penalty, jnp.int32)[stage_index], 0),
        "resource_gain": PRICE.resource_gain * (resources - before.credits - before.energy),
        "resource_holding": jnp.where(deed.completed, PRICE.resource_holding * resources, 0),
        "damage_penalty": PRICE.damage_penalty * jnp.maximum(before.hp - after.hp, 0),
        "hp_recovery": PRICE.hp_recovery * jnp.maximum(after.hp - before.hp, 0),
        "siphon_quality": PRICE.siphon_quality * deed.missed,
        "siphon_death_penalty": PRICE.siphon_death_penalty * (died & siphon_enemy_near).astype(jnp.int32),
        "program_waste": PRICE.program_waste * (deed.reset & (before.hp == 2)).astype(jnp.int32),
    }
    for name, value in by_name.items():
        mark(f"W.{name}", partial(jnp.not_equal, value, 0))
    mark("W3.kills", lambda: deed.undone & (deed.kills < 0))
    mark("W3.pickups", lambda: deed.undone & (deed.pickups < 0))
    return jnp.stack([by_name[name] for name in rules.COMPONENTS], axis=-1), closest


def reward(components: Array) -> Array:
    """The float reward: float32(total) / float32(1000), correctly rounded.

    ``components`` is int32 ``(*batch, components)``; the result float32 ``(*batch,)``.
    """
    return divided(jnp.sum(components, axis=-1, dtype=jnp.int32), 1000)

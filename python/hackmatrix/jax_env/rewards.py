"""The 15 reward components in thousandths (W1-W3)."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix.jax_env import bitboard as bb
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.marks import note
from hackmatrix.jax_env.pathfinding import shortest_path
from hackmatrix.jax_env.siphon import Missed
from hackmatrix.jax_env.state import Snapshot
from hackmatrix.jax_env.tables import REWARD


class Facts(NamedTuple):
    """What the step did, beyond what before and after show. All are 0 or false where the action was invalid."""

    valid: Array
    completed: Array
    """Whether the action completed a stage, the last one included (C3)."""
    undone: Array
    """Whether the action was UNDO."""
    reset: Array
    """Whether the action was RESET."""
    kills: Array
    """Kills of the action (V4); for UNDO the negative of those since the record (W3)."""
    pickups: Array
    """Pickups walked onto; for UNDO the negative of those since the record (W3)."""
    missed: Missed
    """What the siphon missed (W2); 0 for other actions."""


def shaping(before: Snapshot, after: Snapshot, facts: Facts) -> tuple[Array, Array]:
    """W1: the cells gained on the closest approach, and the new closest approach.

    ``after`` is the state before the next stage is generated; after UNDO it holds the restored approach.
    """
    path = shortest_path(bb.single(after.player), bb.single(after.exit), after.blocks)
    approaches = facts.valid & ~facts.completed & ~facts.undone & (after.hp > 0) & path.exists
    closest = jnp.where(approaches, jnp.minimum(after.closest, path.length), after.closest)
    gained = jnp.where(facts.undone, before.closest - after.closest, after.closest - closest)
    gained = jnp.where(facts.completed, before.closest, gained)
    goes_on = facts.valid & ~facts.completed & ~facts.undone
    note(
        lambda: {
            "W1.completed": facts.completed,
            "W1.death": goes_on & (after.hp <= 0),
            "W1.noPath": goes_on & (after.hp > 0) & ~path.exists,
            "W1.closer": approaches & (gained > 0),
            "W3.kills": facts.undone & (facts.kills < 0),
            "W3.pickups": facts.undone & (facts.pickups < 0),
            "W3.distance": facts.undone & (gained < 0),
        }
    )
    return gained, closest


def components(before: Snapshot, after: Snapshot, facts: Facts, gained: Array) -> Array:
    """The 15 components (int32, ``(*batch, 15)``) in the order of table W.

    ``before`` and ``after`` enclose everything the step did except generating the next stage, which
    changes nothing that is rewarded; ``gained`` is W1's.
    """
    survived = after.hp > 0
    died = (before.hp > 0) & ~survived
    won = facts.completed & (before.stage == tables.NUM_STAGES)
    stage_index = jnp.clip(before.stage - 1, 0, tables.NUM_STAGES - 1)
    resources_before = before.credits + before.energy
    resources = after.credits + after.energy
    siphon_enemy_near = bb.overlaps(bb.neighbours(bb.single(after.player)), after.enemies & after.from_siphon)

    by_name = {
        "step_penalty": jnp.where(facts.valid, REWARD.step_penalty, 0),
        "stage_completion": jnp.where(facts.completed, jnp.asarray(tables.STAGE_COMPLETION)[stage_index], 0),
        "score_gain": REWARD.score_gain * (after.score - before.score),
        "kills": REWARD.kill * facts.kills,
        "data_siphon": REWARD.data_siphon * facts.pickups,
        "distance_shaping": REWARD.distance_shaping * gained,
        "victory": jnp.where(won, REWARD.victory + REWARD.victory_per_score * after.score, 0),
        "death_penalty": jnp.where(died, -(jnp.asarray(tables.STAGES_BEFORE)[stage_index] // 2), 0),
        "resource_gain": REWARD.resource_gain * (resources - resources_before),
        "resource_holding": jnp.where(facts.completed, REWARD.resource_holding * resources, 0),
        "damage_penalty": -REWARD.hp * jnp.maximum(before.hp - after.hp, 0),
        "hp_recovery": REWARD.hp * jnp.maximum(after.hp - before.hp, 0),
        "siphon_quality": REWARD.siphon_quality * (facts.missed.credits + facts.missed.energy),
        "siphon_death_penalty": jnp.where(died & siphon_enemy_near, REWARD.siphon_death_penalty, 0),
        "program_waste": jnp.where(facts.reset & (before.hp == 2), REWARD.program_waste, 0),
    }
    note(lambda: {f"W.{name}": value != 0 for name, value in by_name.items()})
    return jnp.stack([by_name[name] for name in tables.REWARD_NAMES], axis=-1)


def reward(components: Array) -> Array:
    """The float reward: float32(total) / float32(1000), correctly rounded, on every backend.

    ``components`` is int32 ``(*batch, 15)``; the result float32 ``(*batch,)``. Compilers may replace a
    division by a constant with a multiplication, which rounds differently, so the quotient of the
    multiplication is corrected by its exact remainder (Dekker's product; no step depends on fused
    multiply-add).
    """
    total = jnp.sum(components, axis=-1, dtype=jnp.int32).astype(jnp.float32)
    quotient = total * jnp.float32(0.001)
    # quotient = high + low with 12 bits each, so that their products with 1000 are exact
    high = quotient * jnp.float32(4097.0)
    high = high - (high - quotient)
    low = quotient - high
    remainder = (total - high * jnp.float32(1000.0)) - low * jnp.float32(1000.0)
    return quotient + remainder * jnp.float32(0.001)

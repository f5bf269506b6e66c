"""The networks of the game: what they see around the player, and that parameters tell whose they are."""

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from jax import Array

from hackmatrix import jax_env, rules
from hackmatrix.egocentric import EgocentricBoard
from hackmatrix.env import ENV, HackMatrixJaxEnv
from hackmatrix.jax_env.observation import player_cell
from rlworldkit.jax.target import tracing_for
from rlworldkit.ppo.networks import ActorCritic
from rlworldkit.ppo.networks import make_network as make_kit_network

NETWORKS = HackMatrixJaxEnv().networks()


def make_network(name: str, *sizes: int, dtype: str = "float32") -> ActorCritic:
    return make_kit_network(name, NETWORKS[name], *sizes, dtype=dtype)


@cache
def compiled(module: nn.Module) -> Any:  # noqa: ANN401 - of JAX
    """``apply`` of a network or an encoder, compiled once for all tests."""
    return jax.jit(module.apply)


@cache
def shapes_of(module: nn.Module, shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - a tree
    """Shapes of the parameters of a network or an encoder of observations of this shape."""
    return jax.eval_shape(module.init, jax.random.key(0), jax.ShapeDtypeStruct(shape, jnp.float32))


def drawn(module: nn.Module, obs: Array | np.ndarray) -> Any:  # noqa: ANN401 - a tree
    """Parameters of a network or an encoder, other than those that it begins with, which take seconds to compile."""
    rng = np.random.default_rng(3)
    return jax.tree.map(lambda leaf: rng.normal(0, 0.1, leaf.shape).astype(leaf.dtype), shapes_of(module, obs.shape))


def test_many_observations_are_seen_as_each_alone(key: Array) -> None:
    network = make_network("conv", rules.NUM_ACTIONS, 8, 1)
    obs = jax.random.uniform(key, (3, 2, rules.OBSERVATION_SIZE))
    params, apply = drawn(network, obs), compiled(network)
    logits, values = apply(params, obs)
    assert (logits.shape, values.shape) == ((3, 2, rules.NUM_ACTIONS), (3, 2))
    np.testing.assert_allclose(logits[2, 1], apply(params, obs[2, 1])[0], rtol=1e-5, atol=1e-6)


@partial(jax.jit, static_argnames="is_sorted")
def product_and_gradients(seen: EgocentricBoard, kernel: Array, above: Array, is_sorted: bool) -> tuple[Array, ...]:
    """The product with a kernel, and the gradients of board, others and kernel; ``above`` is that of the product."""

    def product(board: Array, others: Array, kernel: Array) -> Array:
        return seen._replace(board=board, others=others).times(kernel, is_sorted)

    made, gradients = jax.vjp(product, seen.board, seen.others, kernel)
    return made, *gradients(above)


class TestSorted:
    """The product without the field, for samples that are sorted by the cell from which they see the board."""

    @staticmethod
    def samples(cells: np.ndarray, dtype: str = "float32") -> tuple[EgocentricBoard, Array]:
        """Boards seen by players in these cells, and a kernel; all numbers are small and whole."""
        rng = np.random.default_rng(len(cells))
        board, others = (rng.integers(-2, 3, (len(cells), *shape)).astype(dtype) for shape in ((6, 6, 2), (5,)))
        place = np.stack(np.divmod(cells, 6), axis=1).astype(np.int32)
        seen = EgocentricBoard(*map(jnp.asarray, (board, place, others)))
        return seen, jnp.asarray(rng.integers(-2, 3, (11 * 11 * 2 + 5, 3)), dtype)

    @pytest.mark.parametrize(
        ("cells", "dtype"),
        [
            (np.sort(np.arange(300) % 36), "float32"),
            (np.sort(np.arange(300) % 36), "bfloat16"),
            (np.full(300, 14), "float32"),
            (np.repeat([0, 35], [128, 172]), "float32"),
            (np.random.default_rng(0).integers(0, 36, 300), "float32"),
            (np.arange(37)[::-1] % 36, "float32"),
        ],
        ids=["all cells", "in bfloat16", "one cell", "whole chunks", "in no order", "fewer than a chunk"],
    )
    def test_it_and_its_gradients_are_those_of_the_field(self, cells: np.ndarray, dtype: str) -> None:
        seen, kernel = self.samples(cells, dtype)
        above = jnp.asarray(np.random.default_rng(1).integers(-2, 3, (len(cells), 3)), dtype)

        # sums of small whole numbers are exact, in whatever order; bfloat16 rounds sums of more than 256
        both = (product_and_gradients(seen, kernel, above, is_sorted) for is_sorted in (False, True))
        for field, window in zip(*both, strict=True):
            field, window = (np.asarray(leaf, np.float32) for leaf in (field, window))
            np.testing.assert_allclose(field, window, rtol=0 if dtype == "float32" else 2**-6, atol=0)

    @pytest.mark.parametrize("platform", ["cpu", "gpu", "tpu"])
    def test_only_cpus_sort_by_the_player_s_cell(self, platform: str) -> None:
        compact = jnp.zeros(jax_env.PACKED_SIZE, jnp.uint32)
        with tracing_for(platform):
            assert (ENV.sort_key(compact) is not None) == (platform == "cpu")

    def test_the_player_s_cell_is_that_of_the_state(self) -> None:
        packed = jax.jit(jax_env.compact)(jax_env.set_state({"player": {"row": 2, "col": 4}}))
        assert packed.shape == (jax_env.PACKED_SIZE,)
        assert int(player_cell(packed)) == 2 * rules.SIZE + 4


class TestTurned:
    network = make_network("turned", rules.NUM_ACTIONS, 8, 1)

    @staticmethod
    def observation(place: tuple[int, int], corner: int, key: Array) -> np.ndarray:
        obs = np.array(jax.random.uniform(key, (rules.OBSERVATION_SIZE,)))
        obs[:2] = np.float32(place[0] / 5), np.float32(place[1] / 5)
        exits = obs[rules.GRID_PART].reshape(rules.NUM_CELLS, -1)[:, rules.CELL_FEATURES.index("exit")]
        exits[:] = np.arange(rules.NUM_CELLS) == corner
        return obs

    @pytest.mark.parametrize("corner", rules.CORNERS)
    @pytest.mark.parametrize("place", [(0, 0), (1, 4), (4, 1), (3, 3)])
    def test_boards_that_differ_by_a_symmetry_have_one_value_and_logits_that_follow_their_moves(
        self, place: tuple[int, int], corner: int, key: Array
    ) -> None:
        obs = self.observation(place, corner, key)
        board = obs[rules.GRID_PART].reshape(rules.GRID_SHAPE)
        row, column = place
        up, down, left, right = range(4)
        images = {
            "rows reversed": (board[::-1], (5 - row, column), [down, up, left, right]),
            "columns reversed": (board[:, ::-1], (row, 5 - column), [up, down, right, left]),
            "exchanged": (board.swapaxes(0, 1), (column, row), [right, left, down, up]),
        }
        params, apply = drawn(self.network, obs), compiled(self.network)
        logits, value = apply(params, obs)
        if (row if corner >= 30 else 5 - row) == (column if corner % 6 else 5 - column):
            images.pop("exchanged")  # a player on the exit's diagonal has no side of it
        for image, seen_at, moves in images.values():
            other = np.concatenate([np.array(seen_at, np.float32) / 5, obs[2 : rules.GRID_PART.start], image.ravel()])
            theirs, same = apply(params, other)
            np.testing.assert_allclose(same, value, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(theirs[:4], logits[np.array(moves)], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(theirs[4:], logits[4:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["mlp", pytest.param("conv", marks=pytest.mark.long)])
def test_bfloat16_computes_nearly_the_same_and_keeps_float32_outside(name: str, key: Array) -> None:
    exact, rough = (make_network(name, rules.NUM_ACTIONS, 64, 1, dtype=dtype) for dtype in ("float32", "bfloat16"))
    seen = jax.random.uniform(key, (20, rules.OBSERVATION_SIZE))
    params = drawn(exact, seen)
    assert {leaf.dtype for leaf in jax.tree.leaves(jax.eval_shape(rough.init, key, seen))} == {np.dtype(np.float32)}
    for precise, quick in zip(*(jax.jit(each.apply)(params, seen) for each in (exact, rough)), strict=True):
        assert quick.dtype == np.float32
        np.testing.assert_allclose(precise, quick, atol=0.05)
        assert (precise != quick).any()

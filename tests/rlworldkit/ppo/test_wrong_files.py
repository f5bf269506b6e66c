"""Checkpoints and parameters that somebody hands in: whatever is wrong with one is a sentence, and soon."""

import os
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from flax.traverse_util import flatten_dict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlparity.errors import ParityError
from rlworldkit.ppo.checkpoint_format import DEVIATION, CheckpointError, dumps, loads
from rlworldkit.ppo.checkpoints import (
    Log,
    LoopState,
    Progress,
    check_fits,
    check_metrics,
    read_checkpoint,
    restored,
    save_checkpoint,
)
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.masked_ppo import LossStats
from rlworldkit.ppo.networks import load_logits
from rlworldkit.ppo.params import load_params
from rlworldkit.ppo.rollout import RolloutMetrics, RunnerState
from rlworldkit.ppo.training import keeps_games
from rlworldkit.ppo.update import UpdateStats, init_runner
from rlworldkit.settings import saved_settings
from tests.mutations import ARRAYS, WRONG, altered, damaged, is_one_line, said_or_read

from .conftest import SMALL
from .orchards import PackedOrchard
from .sealing import payload_of, sealed

ENV = PackedOrchard()
DONE, LOGGED = Progress(20, 20 * SMALL.batch_size, 1.5), Progress(18, 18 * SMALL.batch_size, 1.25)
LEAF = ".train_state.params['params']['value']['bias']"
Payload = dict[str, Any]


class Good(NamedTuple):
    """A good checkpoint: its payload, its file, and a new run that it fits."""

    payload: Payload
    data: bytes
    fresh: RunnerState


def stats(updates: int) -> UpdateStats:
    """The stats of some updates."""
    each: Any = np.zeros(updates, np.float32)
    rollout: dict[str, Any] = dict.fromkeys(RolloutMetrics._fields, each) | {
        "sums": {"share": each},
        "maxima": {"most": each},
    }
    rollout["component_sums"] = np.zeros((updates, len(ENV.components)), np.float32)
    return UpdateStats(LossStats(**dict.fromkeys(LossStats._fields[:-1], each)), RolloutMetrics(**rollout))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    path = tmp_path_factory.mktemp("good") / "checkpoint_20.pkl"
    fresh = init_runner(SMALL, ENV)
    save_checkpoint(
        path, LoopState(fresh, DONE, Log(LOGGED, {"train/entropy": 1.0}, (stats(1), stats(1)))), asdict(SMALL), ENV
    )
    data = path.read_bytes()
    return Good(payload_of(data), data, fresh)


def changed(payload: Payload, place: tuple[Any, ...], value: object) -> Payload:
    """The payload with another value at a place; ``...`` for a value removes what is there."""
    name, *rest = place
    copied: Any = payload.copy()
    if rest:
        copied[name] = changed(copied[name], tuple(rest), value)
    elif value is ...:
        del copied[name]
    else:
        copied[name] = value
    return copied


def go_on(path: Path, fresh: RunnerState) -> None:
    """All that resuming does with a checkpoint before it plays."""
    checkpoint = read_checkpoint(path, ENV)
    saved_settings(TrainConfig, checkpoint.config, path)
    check_fits(checkpoint, fresh, ENV)
    restored(checkpoint, fresh, with_games=keeps_games(checkpoint, fresh, SMALL))
    check_metrics(checkpoint, stats(1))


def test_a_good_one_is_read(good: Good, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint_20.pkl"
    path.write_bytes(sealed(good.payload))
    go_on(path, good.fresh)
    assert read_checkpoint(path, ENV).log.at == LOGGED


ONE = np.zeros(1, np.float32)
WRONG_PAYLOADS: list[tuple[tuple[Any, ...], Any, str]] = [
    *(((name,), ..., f"it lacks '{name}'") for name in ("runner", "progress", "config", "rules_version", "metrics")),
    (("logged",), ..., "it lacks 'logged'"),
    (("unlogged",), ..., "it lacks 'unlogged'"),
    (("runner",), [], "runner is no object of arrays"),
    (("runner",), {}, "does not bear|bear out"),
    (("runner", LEAF), np.array(["text"]), "runner is no object of arrays"),
    (("runner", LEAF), np.array([np.nan], np.float32), "contains NaN or infinity"),
    (("runner", DEVIATION), np.array(-1, np.float32), "the scale of its values is not above 0"),
    (("runner", LEAF), ..., "is of another network"),
    (("runner", LEAF), np.zeros((1, 1), np.float32), "is of another network"),
    (("runner", ".train_state.more"), ONE, "is of another network"),
    (("progress", "updates"), ..., "progress must be made of"),
    (("progress", "epochs"), 3, "progress must be made of"),
    (("progress", "updates"), -1, "the updates of its progress are -1"),
    (("progress", "timesteps"), 2**63, "the timesteps of its progress are 92233"),
    (("progress", "seconds"), float("nan"), "the seconds of its progress are nan"),
    (("progress", "seconds"), -0.5, "the seconds of its progress are -0.5"),
    (("config",), ["num_envs"], "config is no object"),
    (("config", "num_envs"), 0, "keeps 0 as num_envs, which must be a whole number from 1 to"),
    (("config", "num_envs"), 10**12, "its num_envs is 1000000000000, which its arrays do not bear out"),
    (("config", "num_layers"), 10**9, "its num_layers is 1000000000, which"),
    (("rules_version",), 1, "its rules_version is 1"),
    (("rules_version",), "0\n", r"its rules_version is '0\\n'"),
    (("metrics",), {"loss": "low"}, "metrics are no object of numbers"),
    (("logged", "updates"), 21, "log is ahead of its progress"),
    (("logged",), None, "log must be made of"),
    (("unlogged",), {}, "unlogged updates are no list"),
    (("unlogged",), [], "holds other metrics than this world has, or not those since"),
    (("unlogged", 0), {"loss": {}}, "an unlogged update is not made of"),
    (("unlogged", 0), None, "an unlogged update is not made of"),
    (("unlogged", 0, "loss", "entropy"), ..., "an unlogged update is not made of"),
    (("unlogged", 0, "loss", "entropy"), 1.0, "holds other metrics"),
    (("unlogged", 0, "rollout", "episodes"), np.zeros(2), "holds other metrics"),
    (("unlogged", 0, "rollout", "episodes"), np.array(0.0), "holds other metrics"),
    (("unlogged", 0, "rollout", "component_sums"), np.zeros((1, 4)), "holds other metrics"),
    (("unlogged", 0, "rollout", "maxima"), {"most": ONE, "least": ONE}, "holds other metrics"),
]


@pytest.mark.parametrize(("place", "value", "sentence"), WRONG_PAYLOADS, ids=lambda part: str(part)[:40])
def test_a_wrong_payload_under_a_right_checksum_is_one_sentence(
    good: Good, place: tuple[Any, ...], value: object, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint_20.pkl"
    path.write_bytes(sealed(changed(good.payload, place, value)))
    with pytest.raises(ParityError, match=sentence) as caught:
        go_on(path, good.fresh)
    assert is_one_line(caught.value)


FRAME = b"\x80\x04"
ENTRY = b"\x8c\x01a"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "needs pickle's operation GLOBAL"),
        (FRAME + b"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", "needs pickle's operation STACK_GLOBAL"),
        (b"", "it is damaged"),
        (b"hello", "is no good checkpoint: .*give another one"),
        (FRAME + b"a.", "it is damaged"),
        (FRAME + b"}K\1K\1s.", "a name in it is no text"),
        (FRAME + b"]" * 20_000 + b"a" * 19_999 + b".", "nested too deeply"),
        (FRAME + b"}" + (ENTRY + b"}") * 10_000 + b"s" * 10_000 + b".", "nested too deeply"),
        (FRAME + b"\x8c\x02\xff\xfe.", "it is damaged"),
        (FRAME + b"\x8e" + (2**60).to_bytes(8, "little") + b"x.", "it is damaged"),
        (FRAME + b"K\1r\xff\xff\xff\x7f.", "pickle's operation LONG_BINPUT"),
        (FRAME + b"j\xff\xff\xff\x7f.", "it is damaged"),
        (FRAME + b"]\x94(" + b"h\0" * 9 + b"e.", "one object in several places"),
        (FRAME + b"\x96" + (2**40).to_bytes(8, "little") + b".", "it is damaged"),
        (FRAME + b"\x8a\xffx.", "it is damaged"),
        (b"\x80\x02\x82\x01.", "operation EXT1"),
        (FRAME + b"K\1Q.", "operation BINPERSID"),
        (pickle.dumps({1, 2}), "operation EMPTY_SET"),
        (pickle.dumps([1, 2]), "something else than a run of orchard"),
        (pickle.dumps({"format": "orchard checkpoint", "version": "\n"}), r"version '\\n'"),
        (pickle.dumps({"format": "orchard checkpoint", "version": 1}), "checksum is wrong"),
        (sealed(b""), "it is damaged"),
        (sealed([]), "it lacks 'progress'"),
        (sealed(pickle.dumps({"runner": {"x": {"__array__": "|O", "shape": [1], "data": b"x" * 8}}})), "holds objects"),
        (sealed(pickle.dumps({"x": {"__array__": "<f4", "shape": [10**12], "data": b"x"}})), "it is damaged"),
        (sealed(pickle.dumps({"x": {"__array__": "<f4", "shape": "wide", "data": b"xxxx"}})), "it is damaged"),
    ],
    ids=lambda part: repr(part)[:50],
)
def test_a_wrong_pickle_is_one_sentence_and_takes_no_memory(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint_20.pkl"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=sentence) as caught:
            read_checkpoint(path, ENV)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()
    assert is_one_line(caught.value)


@pytest.mark.parametrize("reader", [partial(read_checkpoint, env=ENV), load_params], ids=["checkpoint", "parameters"])
def test_a_file_larger_than_any_is_one_sentence(reader: Callable[[Path], object], tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY), 2**32 + 1)
    with pytest.raises(ParityError, match=r"larger than [24] GiB"):
        reader(tmp_path / "file")
    with pytest.raises(ParityError, match="does not exist; give the path"):
        reader(tmp_path / "missing")


def test_a_checkpoint_that_could_not_be_read_again_is_not_written(
    good: Good, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rlworldkit.ppo.checkpoints.LIMIT", 0)
    with pytest.raises(CheckpointError, match="would be larger than 0 GiB, the most that is read of a checkpoint"):
        save_checkpoint(tmp_path / "checkpoint_1.pkl", LoopState(good.fresh, DONE, Log(DONE)), {}, ENV)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def arrays(good: Good) -> dict[str, np.ndarray]:
    """The parameters of a network by their paths."""
    return {name: np.asarray(leaf) for name, leaf in flatten_dict(good.fresh.train_state.params, sep="/").items()}


def play(path: Path) -> None:
    """Read parameters and find out whether they take the world's observations."""
    jax.eval_shape(load_logits(path, ENV), jax.ShapeDtypeStruct((1, *ENV.observation_shape), np.float32))


HIDDEN = "params/hidden_0/kernel"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({HIDDEN: None}, "not those of an ActorCritic"),
        ({"params/value/kernel": None}, "a network for other observations"),
        ({HIDDEN: np.zeros((7, 32), np.float32)}, "a network for other observations"),
        ({HIDDEN: np.zeros(3, np.float32)}, "not those of an ActorCritic"),
        ({"params/policy/bias": np.zeros(3, np.float32)}, "a network for other observations"),
        ({"params/policy/bias": np.full(rules_size := ENV.num_actions, np.nan, np.float32)}, "not made of numbers"),
        ({HIDDEN: np.zeros((2, 2), np.int32)}, "'params/hidden_0/kernel' is not made of numbers"),
        ({HIDDEN: np.array([object()])}, "its part 'params/hidden_0/kernel.npy' is no array of numbers"),
        ({"params": np.zeros(1)}, "'params' is an array and holds others"),
        ({"params/hidden_7x": np.zeros(1)}, "a network for other observations"),
        ({"two\nlines": np.array("x")}, r"'two\\nlines' is not made of numbers"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_wrong_parameters_are_one_sentence(
    arrays: dict[str, np.ndarray], change: dict[str, np.ndarray | None], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "params_1.npz"
    np.savez(path, **{name: array for name, array in {**arrays, **change}.items() if array is not None})  # type: ignore[arg-type]
    with pytest.raises(ParityError, match=sentence) as caught:
        play(path)
    assert is_one_line(caught.value)


EXAMPLES = pytest.mark.parametrize("examples", [100, pytest.param(5_000, marks=pytest.mark.long)])
mutations = partial(settings, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@EXAMPLES
def test_mutated_checkpoints_are_read_or_refused(good: Good, tmp_path: Path, examples: int) -> None:
    path = tmp_path / "checkpoint_20.pkl"

    @mutations(max_examples=2 * examples)
    @given(st.data())
    def every_one_is_read_or_refused(data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(("file", "payload", "tree", "tree", "tree", "envelope")))
        if kind == "file":
            content = data.draw(damaged(good.data))
        elif kind == "payload":
            content = sealed(data.draw(damaged(dumps(changed(good.payload, ("runner",), {LEAF: ONE})))))
        elif kind == "tree":
            content = sealed(data.draw(altered(good.payload, WRONG + ARRAYS)))
        else:
            content = dumps(data.draw(altered(loads(good.data), WRONG + ARRAYS)))
        path.write_bytes(content)
        said_or_read(lambda: go_on(path, good.fresh))

    every_one_is_read_or_refused()


@EXAMPLES
def test_mutated_parameters_are_read_or_refused(arrays: dict[str, np.ndarray], tmp_path: Path, examples: int) -> None:
    path = tmp_path / "params_20.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    whole = path.read_bytes()
    numbers: list[Any] = [np.asarray(value) for value in ARRAYS]

    @mutations(max_examples=examples)
    @given(st.data())
    def every_one_is_read_or_refused(data: st.DataObject) -> None:
        tree = None if data.draw(st.booleans()) else data.draw(altered(arrays, numbers))
        if isinstance(tree, dict):
            np.savez(path, **tree)
        else:
            path.write_bytes(data.draw(damaged(whole)))
        said_or_read(lambda: play(path))

    every_one_is_read_or_refused()

"""Every kind of file that a command reads: a good one, its reader, and how a part of it is changed."""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from evaluated import evaluation_by_hand
from flax.traverse_util import flatten_dict
from onnx import TensorProto, helper, numpy_helper
from orchard import WORLD as ORCHARD
from sb3_contrib import MaskablePPO

from goodharts.architecture import NetworkConfig
from goodharts.config import USER_FILE, read_config
from goodharts.evaluation.report import as_json, comparison, read_results
from goodharts.models import read_model
from goodharts.torch_networks import ActorCritic
from hackmatrix.cli.main import PROGRAM
from hackmatrix.world import WORLD
from rlparity.core.ledger import read_ledger
from rlparity.core.prices import read_prices
from rlparity.core.trace import Case, Trace, read_trace, write_trace
from rlparity.io.console import open_console
from rlparity.tools.mutant_judges import project_bench
from rlparity.tools.project import read_tables
from rlworldkit.agents.onnx_policy import read_onnx
from rlworldkit.agents.reader import read_agent
from rlworldkit.cli.group_plan import read_group
from rlworldkit.envs.sb3_vec_env import WorldVecEnv
from rlworldkit.ppo.checkpoints import (
    Log,
    LoopState,
    check_fits,
    check_metrics,
    keeps_games,
    read_checkpoint,
    restored,
    save_checkpoint,
)
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.metrics import RolloutMetrics
from rlworldkit.ppo.ppo import LossStats, UpdateStats
from rlworldkit.ppo.state import RunnerState, init_runner
from rlworldkit.runs.folder import read_saved_config
from rlworldkit.runs.run import Progress
from rlworldkit.runs.sinks import CsvLog, JsonLinesLog, read_csv
from rlworldkit.sb3.callbacks import earlier_evaluations
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.model_file import PLAIN
from rlworldkit.sb3.models import load_model, model_content
from rlworldkit.settings import from_file, saved_settings
from rlworldkit.sweep.space import read_sweep
from tests.rlworldkit.ppo.conftest import SMALL
from tests.rlworldkit.ppo.orchards import PackedOrchard
from tests.rlworldkit.ppo.sealing import payload_of, sealed

from .mutations import ARRAYS, WRONG

Tree = Any
ENV = PackedOrchard()
JSON_WRONG = WRONG[:7] + WRONG[8:]  # without the number that JSON has no digits for
IN_NUMPY = [np.asarray(value) for value in ARRAYS]
POLICY, OPTIMIZER = "policy.pth", "policy.optimizer.pth"


class Kind(NamedTuple):
    """A kind of file.

    tree: what a good one says, as plain values. content: the file that says so. read: all that a command does with it
    before it works. wrong: values that may stand in the tree instead; none where it is bytes alone that are changed.
    """

    tree: Callable[[], Tree]
    content: Callable[[Tree], bytes]
    read: Callable[[Path], object]
    wrong: Sequence[Any] = ()


def toml(text: str, good: str, read: Callable[[Path], object]) -> Kind:
    """A kind of TOML file, in which ``VALUE`` stands for one."""
    return Kind(lambda: good, lambda value: text.replace("VALUE", str(value)).encode(), read)


def as_json_bytes(tree: Tree) -> bytes:
    return json.dumps(tree).encode("utf-8", "surrogatepass")


def as_csv(tree: Tree) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(row if isinstance(row, list) else [row] for row in tree)
    return file.getvalue().encode()


def as_npz(tree: Tree) -> bytes:
    file = io.BytesIO()
    np.savez(file, **(tree if isinstance(tree, dict) else {}))
    return file.getvalue()


def as_torch(tree: Tree) -> bytes:
    file = io.BytesIO()
    torch.save(tree, file)
    return file.getvalue()


def as_zip(tree: Tree) -> bytes:
    """An archive of bytes, of plain values as JSON, and of tensors as torch saves them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in tree.items() if isinstance(tree, dict) else ():
            written = part if isinstance(part, bytes) else as_torch(part) if name in LOADED else as_json_bytes(part)
            archive.writestr(str(name), written)
    return file.getvalue()


LOADED = (POLICY, OPTIMIZER)


@cache
def model_tree() -> Tree:
    with closing(WorldVecEnv(ORCHARD, 2, engine="plain", seed=1)) as env:
        model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=1, device="cpu").learn(16)
    with zipfile.ZipFile(io.BytesIO(model_content(model))) as archive:
        files: Tree = {name: archive.read(name) for name in archive.namelist()}
    loaded = {name: torch.load(io.BytesIO(files[name]), weights_only=True) for name in LOADED}
    return files | loaded | {POLICY: dict(loaded[POLICY]), PLAIN: json.loads(files[PLAIN])}


def stats(updates: int) -> UpdateStats:
    """The stats of some updates."""
    each: Any = np.zeros(updates, np.float32)
    rollout: dict[str, Any] = dict.fromkeys(RolloutMetrics._fields, each)
    rollout |= {"sums": {"share": each}, "maxima": {"most": each}}
    rollout["component_sums"] = np.zeros((updates, len(ENV.components)), np.float32)
    return UpdateStats(LossStats(**dict.fromkeys(LossStats._fields[:-1], each)), RolloutMetrics(**rollout))


@cache
def fresh() -> RunnerState:
    return init_runner(SMALL, ENV)


DONE, LOGGED = Progress(20, 20 * SMALL.batch_size, 1.5), Progress(18, 18 * SMALL.batch_size, 1.25)


@cache
def checkpoint_tree() -> Tree:
    log = Log(LOGGED, {"train/entropy": 1.0}, (stats(1), stats(1)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint_20.pkl"
        save_checkpoint(path, LoopState(fresh(), DONE, log), asdict(SMALL), ENV)
        return payload_of(path.read_bytes())


def go_on(path: Path) -> None:
    """All that resuming does with a checkpoint before it plays."""
    checkpoint = read_checkpoint(path, ENV)
    saved_settings(TrainConfig, checkpoint.config, path)
    check_fits(checkpoint, fresh(), ENV)
    restored(checkpoint, fresh(), with_games=keeps_games(checkpoint, fresh(), SMALL))
    check_metrics(checkpoint, stats(1))


def parameters() -> Tree:
    return {name: np.asarray(leaf) for name, leaf in flatten_dict(fresh().train_state.params, sep="/").items()}


def play(path: Path) -> None:
    """Read parameters and find out whether they take the world's observations."""
    read_agent(ORCHARD, path)


def go_on_logging(path: Path) -> None:
    """Do all that a resumed run does with its metrics."""
    read_csv(path)
    CsvLog(path, after=10).write({"update": 11})


def traced() -> Tree:
    with tempfile.TemporaryDirectory() as folder:
        write_trace(Trace("orchard", ("plain", "planes"), Case((1, 2), seed=7)), Path(folder) / "trace.json")
        return json.loads((Path(folder) / "trace.json").read_text())


@cache
def goodharts_tree() -> Tree:
    policy = ActorCritic(NetworkConfig("mlp", hidden=8, privileged=True))
    return {
        "format": 1,
        "mode": "proxy",
        "config": {"training": {"gamma": 0.5}},
        "update": 3,
        "timesteps": 72,
        "weights": dict(policy.state_dict()),
    }


def show_results(path: Path) -> None:
    """Whatever is read can also be shown and written."""
    read = read_results(path)
    with open_console().capture():
        open_console().print(comparison(read))
    as_json(read)


def onnx_content(tree: Tree) -> bytes:
    """A linear policy."""
    size, actions = ENV.observation_shape[0], ENV.num_actions
    observation, scores = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ("N", length))
        for name, length in (("obs", size), ("scores", actions))
    )
    kernel = numpy_helper.from_array(np.full((size, actions), tree, np.float32), "kernel")
    product = helper.make_node("MatMul", ["obs", "kernel"], ["scores"])
    graph = helper.make_graph([product], "theirs", [observation], [scores], [kernel])
    content: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return content


SETTINGS = {"timesteps": 1000, "learning_rate": 3e-4, "num_envs": 8, "seed": 3, "engine": None, "wandb_id": "abc"}
ENTRY = f"""
worlds = ["orchard"]
[entries.known]
kind = "bug"
citation = "its docstring"
versions = {{numpy = "2"}}
fields = ["state.hp"]
then = "resynchronise"
witness = '{json.dumps(traced())}'
share = VALUE
"""
EVALUATIONS = {
    "timesteps": np.array([10, 20]),
    "results": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "ep_lengths": np.array([[5, 6], [7, 8]]),
}
KINDS: dict[str, Kind] = {
    "ledger.toml": toml(ENTRY, "0.5", read_ledger),
    "prices.toml": toml("kills = VALUE", "1", lambda path: WORLD.with_prices(read_prices([], path)).price_values),
    "pyproject.toml": toml("[tool.rlparity.worlds.orchard]\nseed = VALUE", "1", read_tables),
    "mutants.toml": toml("ignore = VALUE\ntests = []", "[]", project_bench),
    "settings.toml": toml("seed = VALUE", "1", lambda path: from_file(TrainConfig, path)),
    "sweep.toml": toml(
        "steps = 64\n[settings]\nlearning_rate = VALUE", "[1e-3, 1e-4]", lambda path: read_sweep(PROGRAM, path, {})
    ),
    USER_FILE: toml(
        "[training]\nlearning_rate = VALUE", "1e-3", lambda path: read_config(folder=path.parent, environ={})
    ),
    "trace.json": Kind(traced, as_json_bytes, read_trace, JSON_WRONG),
    "group.json": Kind(
        lambda: {"seed": 3, "seeds": 2, "others": {"variants": [], "words": []}}, as_json_bytes, read_group, JSON_WRONG
    ),
    "config.json": Kind(
        lambda: SETTINGS,
        as_json_bytes,
        lambda path: saved_settings(MaskablePPOConfig, read_saved_config(path.parent), path),
        JSON_WRONG,
    ),
    "metrics.csv": Kind(
        lambda: [["update", "train/entropy"], ["1", "0.5"], ["2", ""]],
        as_csv,
        go_on_logging,
        ["", "nan", "x", "1e999", "\0", ",", '"'],
    ),
    "metrics.jsonl": Kind(
        lambda: [{"update": 1, "train/entropy": 0.5}, {"update": 2}],
        lambda tree: b"".join(as_json_bytes(line) + b"\n" for line in (tree if isinstance(tree, list) else [tree])),
        lambda path: JsonLinesLog(path, after=10).write({"update": 11}),
        JSON_WRONG,
    ),
    "evaluations.npz": Kind(lambda: EVALUATIONS, as_npz, earlier_evaluations, IN_NUMPY),
    "checkpoint_20.pkl": Kind(checkpoint_tree, sealed, go_on, WRONG + ARRAYS),
    "params_20.npz": Kind(parameters, as_npz, play, IN_NUMPY),
    "model.zip": Kind(model_tree, as_zip, lambda path: load_model(path, ORCHARD, "cpu")),
    "policy.onnx": Kind(lambda: 1.0, onnx_content, lambda path: read_onnx(path, ORCHARD)),
    "ppo_proxy.pth": Kind(goodharts_tree, as_torch, read_model),
    "results.json": Kind(lambda: json.loads(as_json([evaluation_by_hand()])), as_json_bytes, show_results, JSON_WRONG),
}


def good(name: str) -> bytes:
    """A good file of a kind."""
    return KINDS[name].content(KINDS[name].tree())

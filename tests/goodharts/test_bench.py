"""``goodharts bench``: its records have the form of every world's, and measure what they say."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch

from goodharts.bench import env, train
from goodharts.cli.game import GAME
from goodharts.cli.main import main
from goodharts.config import Training
from goodharts.rules import MODES
from goodharts.torch_env.env import Games, Outcome
from goodharts.training.torch_trainer import TorchTrainer
from worldkit.bench import gym, timing
from worldkit.bench.records import Record, plain_record
from worldkit.cli.bench import kit_benchmarks

KEYS = ["name", "value", "unit", "num_envs", "spread", "compile_seconds", "trace_seconds", "peak_bytes"]


def test_a_world_without_an_engine_in_jax_has_the_other_benchmarks() -> None:
    assert list(kit_benchmarks(GAME)) == ["gym", "sb3"]
    assert list(GAME.benchmarks) == ["env", "train"]


def test_the_engine_s_benchmark_plays_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "STEPS", 150)
    monkeypatch.setattr(env, "STEPS_OF_ALL", 1)
    steps, restarts = [], []
    step, restart = Games.step, Games.restart

    def counted(games: Games, actions: object) -> Outcome:
        steps.append(len(actions))  # type: ignore[arg-type]
        return step(games, actions)  # type: ignore[arg-type]

    monkeypatch.setattr(Games, "step", counted)
    monkeypatch.setattr(Games, "restart", lambda games, rows: restarts.append(len(rows)) or restart(games, rows))  # type: ignore[func-returns-value]
    record = next(env.measure(8, 2))
    assert (record.name, record.unit, record.num_envs) == ("env_steps_per_second_torch", "steps/s", 8)
    assert steps == [8] * 3 * 150
    assert sum(restarts) > 8


def test_the_benchmark_of_the_engine_in_jax_plays_looks_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SECONDS_PER_REPETITION", 0.01)
    ends: list[env.Play] = []

    def measured(call: Callable[[env.Play], env.Play], start: env.Play, repetitions: int) -> list[float]:
        ends.append(call(start))
        return timing.calls_per_second(call, ends[-1], repetitions)

    monkeypatch.setattr(env, "calls_per_second", measured)
    *_, record = env.measure(8, 2)
    assert (record.name, record.unit, record.num_envs) == ("env_steps_per_second_jax", "steps/s", 8)
    assert record.value > 0
    assert record.compile_seconds is not None
    (end,) = ends
    assert (np.asarray(end.state.event) == env.STEPS_PER_CALL).all()
    assert (np.asarray(end.state.steps.low) < env.STEPS_PER_CALL).any(), "nobody began a second life"
    assert len(set(np.asarray(end.seen).tolist())) == 8


def test_json_is_a_list_of_the_documented_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(env, "STEPS", 3)
    monkeypatch.setattr(env, "STEPS_OF_ALL", 1)
    # compiled from scratch for every count, which the test before this one does
    monkeypatch.setattr(env, "compile_program", lambda function, start: timing.Program(lambda play: play, 0.0, 0.0, 0))
    monkeypatch.setattr(timing, "SECONDS_PER_REPETITION", 0.01)
    monkeypatch.setattr(gym, "SECONDS_ALONE", 0.01)
    monkeypatch.setattr(gym, "STEPS_PER_GAME", 5)
    assert main(["bench", "env", "gym", "--num-envs", "2,3", "--repetitions", "1", "--json", "-"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert all(list(record) == KEYS and record["value"] > 0 for record in records)
    assert [(record["name"], record["num_envs"]) for record in records] == [
        ("env_steps_per_second_torch", 2),
        ("env_steps_per_second_jax", 2),
        ("env_steps_per_second_torch", 3),
        ("env_steps_per_second_jax", 3),
        ("gym_steps_per_second", 1),
        ("gym_vector_steps_per_second", 2),
        ("gym_steps_per_second", 1),
        ("gym_vector_steps_per_second", 3),
    ]


def test_the_trainer_s_benchmark_measures_each_network_beside_games_that_do_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[tuple[type[Games], int]] = []
    update = TorchTrainer.step

    def counted(trainer: TorchTrainer) -> object:
        played.append((type(trainer.player.games), trainer.config.training.steps_per_env))
        return update(trainer)

    monkeypatch.setattr(train, "NETWORKS", ("mlp",))  # the other takes longer
    monkeypatch.setattr(TorchTrainer, "step", counted)
    records = list(train.measure(2, 1))
    assert [(record.name, record.num_envs) for record in records] == [
        (f"train_{figure}_mlp", 2) for figure in ("steps_per_second", "ceiling_steps_per_second", "share_of_ceiling")
    ]
    assert all(record.value > 0 for record in records)
    steps = Training().steps_per_env if torch.cuda.is_available() else train.CPU_STEPS
    assert played == [(Games, steps), (train.NothingGames, steps)] * 2


def test_the_records_of_a_network_are_there_before_the_next_one_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def measured(network: str, num_envs: int, repetitions: int) -> list[Record]:
        begun.append(network)
        return [plain_record(f"of {network}", num_envs, [1.0])]

    monkeypatch.setattr(train, "_measure", measured)
    records = train.measure(2, 1)
    assert (next(records).name, begun) == ("of cnn", ["cnn"])
    assert (next(records).name, begun) == ("of mlp", ["cnn", "mlp"])


def test_games_that_do_nothing_show_one_moment_and_never_end() -> None:
    games = train.NothingGames(MODES["ground_truth"], 3, torch.device("cpu"))
    first = games.look()
    outcomes = [games.step(torch.tensor([0, 3, 7])) for _ in range(4)]
    assert all(torch.equal(outcome.codes, first) for outcome in outcomes)
    assert not any((outcome.terminated | outcome.truncated).any() or outcome.reward.any() for outcome in outcomes)

"""The commands around MaskablePPO as a person types them."""

import json
from pathlib import Path

import pytest
from sb3_contrib import MaskablePPO

from hackmatrix.cli.main import main
from rlworldkit.runs.run import Progress, TrainResult
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.models import model_content
from tests.hackmatrix.conftest import CommandRefused


def test_a_resumed_run_keeps_its_settings_unless_others_are_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "checkpoint_1000000_steps.zip"
    model.touch()
    (tmp_path / "config.json").write_text(json.dumps({"timesteps": 5_000_000, "num_envs": 2, "save_freq": 100}))
    trained: list[tuple[MaskablePPOConfig, dict[str, object]]] = []

    def train(config: MaskablePPOConfig, *_: object, changes: dict[str, object], **__: object) -> TrainResult:
        trained.append((config, changes))
        return TrainResult(Progress(1, config.timesteps), Progress(), [model])

    monkeypatch.setattr("rlworldkit.sb3.training.train", train)
    flags = ["--save-freq", "7", "--learning-rate", "1e-5", "--models-dir", "elsewhere"]
    assert main(["train-sb3", "--no-wandb", "--resume", str(model), *flags]) == 0
    config = MaskablePPOConfig(timesteps=5_000_000, num_envs=2, save_freq=7, learning_rate=1e-5)
    assert trained == [(config, {"learning_rate": 1e-5})]
    said = capsys.readouterr().out
    assert f"--checkpoint-dir has no effect: the run continues in {tmp_path}." in said
    assert f"tensorboard --logdir {tmp_path.parent}" in said


def test_mistakes_are_one_sentence(refused: CommandRefused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    missing, cart = tmp_path / "no.zip", tmp_path / "cart.zip"
    cart.write_bytes(model_content(MaskablePPO("MlpPolicy", "CartPole-v1", n_steps=64)))
    too_few = "timesteps must cover at least one rollout of 8 x 2,048 = 16,384 steps, got 16,383: ask for "
    for words, sentence in (
        (["train-sb3", "--resume", missing], "there is no MaskablePPO model"),
        (["watch-sb3", "--model", missing], "there is no MaskablePPO model of this world"),
        (["train-sb3", "--trust"], "--trust goes with --resume"),
        (["train-sb3", "--timesteps", "16383"], too_few),
        (["train-sb3", "--fly"], "unrecognized arguments: --fly"),
        (
            ["watch-sb3", "--render", "ansi", "--engine", "jax", "--model", cart],
            "cart.zip cannot be read as a MaskablePPO model of this world: its mlp_extractor.policy_net.0.",
        ),
    ):
        assert sentence in refused(*words)
    monkeypatch.setattr("rlworldkit.cli.train_sb3.NEEDED", ("no_such_library",))
    assert "pip install 'rlworldkit[sb3]'" in refused("train-sb3")

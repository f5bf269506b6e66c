"""``train --config FILE``: which layer wins, and one sentence for a file that cannot be used."""

from pathlib import Path

import pytest
from toy_world.adapter import GAME

from worldkit.cli import train
from worldkit.cli.app import main
from worldkit.ppo.config import TrainConfig


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[TrainConfig]:
    """The configurations that the command would have trained with."""
    configs: list[TrainConfig] = []
    monkeypatch.chdir(tmp_path)

    def keep(game: object, config: TrainConfig, *rest: object) -> int:
        configs.append(config)
        return 0

    monkeypatch.setattr(train, "_train", keep)
    return configs


def test_flags_override_the_file_which_overrides_the_defaults(configured: list[TrainConfig]) -> None:
    Path("settings.toml").write_text("learning_rate = 1\nnum_envs = 16\nvalue_head = 'popart'\nlearning_rate_end = 0.5")
    assert main(GAME, ["train", "--config", "settings.toml", "--num-envs", "32", "--total-timesteps", "5000"]) == 0
    (config,) = configured
    assert (config.num_envs, config.learning_rate, config.learning_rate_end) == (32, 1.0, 0.5)
    assert type(config.learning_rate) is float
    assert (config.value_head, config.gamma) == ("popart", 0.99)


def test_train_sb3_reads_a_file_too(configured: list[TrainConfig], capsys: pytest.CaptureFixture[str]) -> None:
    Path("settings.toml").write_text("n_steps = 0")
    with pytest.raises(SystemExit):
        main(GAME, ["train-sb3", "--config", "settings.toml"])
    assert "settings.toml: n_steps must be a whole number from 1 to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lr = 0.1", "settings.toml has an unknown key lr: there are num_envs,"),
        ("[train]\ngamma = 1", "settings.toml has an unknown key train: there are num_envs,"),
        ("gamma = 'much'", "settings.toml: gamma must be a number from 0 to 1, got 'much'."),
        ("gamma = true", "settings.toml: gamma must be a number, not true or false, got True."),
        ("num_envs = 1.5", "settings.toml: num_envs must be a whole number from 1 to 1,048,576, got 1.5."),
        ("clip_value_loss = 1", "settings.toml: clip_value_loss must be true or false, got 1."),
        ("network = 1", "settings.toml: network must be a text, got 1."),
        ("num_minibatches = 3", "num_minibatches must divide the batch"),
        ("gamma =", "settings.toml is no TOML ("),
        (None, "There is no settings.toml: name a TOML file of settings."),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(
    text: str | None, sentence: str, configured: list[TrainConfig], capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path("settings.toml").write_text(text)
    with pytest.raises(SystemExit) as caught:
        main(GAME, ["train", "--config", "settings.toml"])
    error = capsys.readouterr().err
    assert (caught.value.code, error.count("\n"), configured) == (2, 1, [])
    assert sentence in error

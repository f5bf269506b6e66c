"""The configuration: which value wins, and one sentence that names what is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodharts.cli.main import main
from goodharts.config import DEFAULTS_FILE, Config, as_toml, read_config
from goodharts.rules import DEFAULT_NUMBERS
from goodharts.world import WORLDS
from rlparity.core.prices import price_values
from rlparity.errors import UsageError
from rlworldkit.sections import Layer

from .small_runs import reproducibly


def write(folder: Path, text: str) -> None:
    (folder / "config.toml").write_text(text, encoding="utf-8")


def test_config_default_toml_says_what_the_fields_and_the_command_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert DEFAULTS_FILE.read_text(encoding="utf-8") == as_toml()
    assert main(["config"]) == 0
    assert capsys.readouterr().out == as_toml()


def test_defaults_are_those_of_config_default_toml_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_config(folder=tmp_path, environ={}) == Config()
    file = tmp_path / "config.default.toml"
    monkeypatch.setattr("goodharts.config.DEFAULTS_FILE", file)
    assert read_config(folder=tmp_path, environ={}) == Config()  # an installed package has none
    file.write_text(as_toml().replace("gamma = 0.99 ", "gamma = 0.98 "), encoding="utf-8")
    assert read_config(folder=tmp_path, environ={}).training.gamma == 0.98


def test_the_default_world_is_that_of_the_rules() -> None:
    assert Config().numbers() == DEFAULT_NUMBERS


def test_flags_win_over_the_environment_over_config_toml_over_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "[training]\ngamma = 0.1\nlearning_rate = 0.1\nn_envs = 1")
    monkeypatch.chdir(tmp_path)
    environ = {"GOODHARTS_TRAINING_GAMMA": "0.2", "GOODHARTS_TRAINING_LEARNING_RATE": "0.2", "HOME": "/"}
    environ |= {"GOODHARTS_RUNTIME_AMP": "False", "GOODHARTS_DEVICE": "cuda:1", "GOODHARTS_RUNTIME_DEVICE": "cpu"}
    config = read_config({"training": {"gamma": 0.3}}, environ=environ)
    training, runtime = config.training, config.runtime
    assert (training.gamma, training.learning_rate, training.n_envs, training.k_epochs) == (0.3, 0.2, 1, 4)
    switches = [read_config(environ={"GOODHARTS_RUNTIME_AMP": word}).runtime.amp for word in ("true", "1", "0")]
    assert switches == [True, True, False]
    assert (runtime.amp, runtime.device) == (False, "cuda:1")  # the documented variable goes over its long name


def test_prices_go_over_what_settings_of_the_world_make_of_them_and_those_over_the_games_own() -> None:
    assert "prices" not in Config().plain()
    assert all(Config().price_values(mode) == price_values(world) for mode, world in WORLDS.items())
    world: Layer = {"world": {"step_energy": 0.0204, "food_energy": 3, "death_reward": -1.234567}}
    layer: Layer = {**world, "handhold": {"death_reward": 4}, "world": {**world["world"], "food_interestingness": 0.25}}
    config = Config().over(layer, "the test").over({"prices": {"food": 0.5, "poison": -0.000004}}, "the test")
    assert config.price_values("ground_truth") == (-2000, 50_000, 0, -123_457)
    assert config.changed_prices("proxy") == {"food": 0.5, "poison": 0.0}
    assert config.changed_prices("ground_truth_handhold") == {"food": 0.5, "poison": 0.0, "death": 4.0}
    assert config.numbers().food_energy == 3000
    environ = {"GOODHARTS_PRICES_STEP": "-0.5"}
    assert read_config(environ=environ).changed_prices("proxy") == {"step": -0.5}


WRONG_FILES = {
    "[trainign]\ngamma = 1": "config.toml has an unknown section 'trainign' (did you mean 'training'?): there are",
    "training = 1": "config.toml gives training as a value, but it is a section",
    "[training]\ngama = 1": "config.toml has an unknown key 'gama' (did you mean 'gamma'?) in [training]: there",
    "[training]\ngamma = 1.5": "config.toml: gamma in [training] must be a number from 0 to 1, got 1.5.",
    "[training]\nnetwork = 'rnn'": "config.toml: network in [training] must be cnn or mlp or auto, got 'rnn'.",
    "[runtime]\ndevice = 1": "config.toml: device in [runtime] must be a text, got 1.",
    "[training]\nmin_food = 9\nmax_food = 8": "min_food is 9 and max_food 8: the least must not be above the most.",
    "[training]\nminibatches = 5": "minibatches must divide the batch of 192 x 128 = 24576 steps, got 5.",
    "[training]\nn_envs = 1\nsteps_per_env = 1": "The steps of an update must be a whole number from 2 to",
    "[training]\nn_envs = 1_000_000\nsteps_per_env = 60_000": "to 2,147,483,647, got 1000000 x 60000: change",
    "[prices]\nfood = 1001": "config.toml: food in [prices] must be a number from -1000 to 1000, got 1001.",
    "[training\n": "config.toml cannot be read as a file of settings: it is no TOML (line 1, column 10: ",
}


@pytest.mark.parametrize("text", WRONG_FILES)
def test_a_wrong_config_toml_is_one_sentence(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        read_config(environ={})
    assert WRONG_FILES[text] in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("variable", "word", "said"),
    [
        ("GOODHARTS_TRAINING_GAMMA", "", "GOODHARTS_TRAINING_GAMMA must be a number from 0 to 1, got ''."),
        ("GOODHARTS_RUNTIME_AMP", "yes", "GOODHARTS_RUNTIME_AMP must be true or false, got 'yes'."),
        ("GOODHARTS_TRAINING_GAMA", "1", "variable 'GOODHARTS_TRAINING_GAMA' (did you mean 'GOODHARTS_TRAINING_GAMMA'"),
        ("GOODHARTS_TRAINING_LR", "2", "GOODHARTS_TRAINING_LR must be a number from 0 to 1"),
    ],
)
def test_a_wrong_variable_is_one_sentence(variable: str, word: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_config(environ={variable: word})
    assert said in str(caught.value)


@reproducibly
@given(st.integers(-1_000_000, 1_000_000), st.integers(0, 1000))
def test_G9_values_are_rounded_to_thousandths_once(poison: int, interest: int) -> None:
    layer: Layer = {"world": {"poison_energy": poison / 1000, "poison_interestingness": interest / 1000}}
    numbers = Config().over(layer, "the test").numbers()
    assert (numbers.poison_energy, numbers.poison_interest) == (poison, interest)

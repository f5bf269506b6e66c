"""The file of a trained model: what is written comes back, and anything else is one sentence."""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from goodharts.architecture import NETWORKS, NetworkConfig, NetworkKind
from goodharts.models import Model, model_path, read_model, write_model
from goodharts.networks import ActorCritic
from goodharts.training.checkpoints import read_checkpoint
from rlparity.errors import UsageError

from .small_runs import small_trainer


def model(kind: NetworkKind = "mlp", privileged: bool = True) -> Model:
    network = NetworkConfig(kind, channels=(2, 3), hidden=8, privileged=privileged)
    return Model("proxy", network, {"training": {"gamma": 0.5}}, 3, 72, ActorCritic(network))


@pytest.mark.parametrize("privileged", [True, False])
@pytest.mark.parametrize("kind", NETWORKS)
def test_what_is_written_is_read_again(kind: NetworkKind, privileged: bool, tmp_path: Path) -> None:
    path = model_path("proxy", tmp_path)
    assert path == tmp_path / "ppo_proxy.pth"
    written = model(kind, privileged)
    write_model(path, written)
    before = torch.random.get_rng_state()
    read = read_model(path)
    assert torch.equal(torch.random.get_rng_state(), before)
    for name in ("mode", "network", "config", "update", "timesteps"):
        assert getattr(read, name) == getattr(written, name)
    weights = written.policy.state_dict()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in read.policy.state_dict().items())
    seen = torch.rand(5, 2, 11, 11)
    assert torch.equal(read.policy.logits(seen), written.policy.logits(seen))


def test_the_values_of_a_model_are_in_units_of_reward() -> None:
    trainer = small_trainer()
    trainer.step()
    assert trainer.learner.scale.deviation != 1
    codes, counts = trainer.player.codes, torch.full((8, 2), 100)
    _, values = trainer.learner.judge(codes, counts)
    seen, privileges = trainer.learner._inputs(codes, counts)
    with torch.no_grad():
        _, said = trainer.model().policy(seen, privileges)
    torch.testing.assert_close(said, values)


def content(**changes: object) -> dict[str, Any]:
    settings = {"network": NETWORK, "config": {"training": {"gamma": 0.5}}}
    plain = {"format": 1, "mode": "proxy", **settings, "update": 3, "timesteps": 72}
    return plain | {"weights": model().policy.state_dict()} | changes


def weights(**changes: object) -> dict[str, Any]:
    return dict(model().policy.state_dict()) | {name.replace("_", "."): value for name, value in changes.items()}


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("executed",)


NETWORK = {"kind": "mlp", "channels": [2, 3], "hidden": 8, "privileged": True}
WRONG: dict[str, tuple[Any, str]] = {
    "another format": (content(format=2), "it is of format 2, not 1"),
    "no dict": ([1, 2], "it is none of our files"),
    "a pickle that executes": (content(mode=Evil()), "it holds more than plain values and tensors"),
    "another mode": (content(mode="greed"), "its mode is 'greed', none of ground_truth,"),
    "no count": (content(update=-1), "its update is -1, not a count"),
    "no settings": (content(config=[1]), "it does not say which settings it was trained with"),
    "no network": (content(network={"kind": "mlp"}), "it does not say which network it holds"),
    "another network": (content(network=NETWORK | {"kind": "rnn"}), "its network is 'rnn', neither cnn nor mlp"),
    "a huge network": (content(network=NETWORK | {"hidden": 10**9}), "its network has impossible sizes"),
    "a claimed network": (content(network=NETWORK | {"hidden": 8192}), "is of shape"),
    "no channels": (content(network=NETWORK | {"channels": []}), "its network has impossible sizes"),
    "missing weights": (content(weights={}), "its weights are those of another network"),
    "weights of another shape": (
        content(weights=weights(policy_bias=torch.zeros(9))),
        "its policy.bias is of shape (9,), not (8,)",
    ),
    "weights of another type": (
        content(weights=weights(policy_bias=torch.zeros(8, dtype=torch.float64))),
        "its policy.bias is no tensor of torch.float32",
    ),
    "weights that are no numbers": (
        content(weights=weights(policy_bias=torch.full((8,), torch.nan))),
        "its policy.bias contains NaN or infinity",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.pth"
    torch.save(WRONG[name][0], path)
    with pytest.raises(UsageError) as caught:
        read_model(path)
    assert WRONG[name][1] in str(caught.value)
    assert str(caught.value).endswith("; name a file that `goodharts train` wrote.")
    assert capsys.readouterr().out == ""


def test_a_file_that_is_cut_off_or_none_at_all_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pth"
    write_model(path, model())
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:-1], pickle.dumps({"format": 1})):
        path.write_bytes(damaged)
        with pytest.raises(UsageError, match=r"wrong.pth cannot be read: it is no zip archive"):
            read_model(path)


def test_a_file_that_unpacks_to_more_than_it_seems_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodharts.models.LIMIT", 2**20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(2**21))
    path = tmp_path / "wrong.pth"
    path.write_bytes(packed.getvalue())
    with pytest.raises(UsageError, match="unpacked it is larger than 1 MiB"):
        read_model(path)


def test_a_missing_file_says_how_to_train_one(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^There is no model .*ppo_proxy.pth: train one with `goodharts train --mode proxy`, or"
    ):
        read_model(tmp_path / "ppo_proxy.pth")


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    write_model(tmp_path / "a.pth", model())
    with pytest.raises(UsageError, match="cannot be read: it is no checkpoint; leave --resume out to begin anew"):
        read_checkpoint(tmp_path / "a.pth")

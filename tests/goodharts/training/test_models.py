"""The file of a trained model: what is written comes back, and anything else is one sentence."""

from pathlib import Path

import pytest
import torch
from evaluated import small_model

from goodharts.architecture import NETWORKS, NetworkKind
from goodharts.config import model_path
from goodharts.models import read_model, write_model
from goodharts.training.jobs import read_checkpoint
from rlparity.errors import UsageError

from .small_runs import small_trainer


@pytest.mark.parametrize("privileged", [True, False])
@pytest.mark.parametrize("kind", NETWORKS)
def test_what_is_written_is_read_again(kind: NetworkKind, privileged: bool, tmp_path: Path) -> None:
    path = model_path("proxy", tmp_path)
    assert path == tmp_path / "ppo_proxy.pth"
    written = small_model(kind=kind, privileged=privileged, training={"gamma": 0.5})
    write_model(path, written)
    before = torch.random.get_rng_state()
    read = read_model(path)
    assert torch.equal(torch.random.get_rng_state(), before)
    for name in ("mode", "config", "update", "timesteps"):
        assert getattr(read, name) == getattr(written, name)
    assert read.policy.config == written.policy.config
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


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    write_model(tmp_path / "a.pth", small_model())
    with pytest.raises(UsageError, match=r"cannot be read as a checkpoint: .*: leave --resume out to begin anew"):
        read_checkpoint(tmp_path / "a.pth")

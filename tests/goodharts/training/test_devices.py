"""Torch's device and precision."""

from pathlib import Path

import pytest
import torch

from goodharts import devices
from goodharts.devices import choose_device, mixed_precision
from rlparity.errors import UsageError


def test_a_device_is_chosen_by_its_name_and_rank_or_refused_with_those_that_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UsageError, match=r"^There is no device cuda:7 here: choose one of cpu, cuda:0, cuda:1\.$"):
        choose_device("cuda:7")
    for name in ("mps", "gpu", "cpu:1", "cuda:x", "", "CPU", "\0"):
        with pytest.raises(UsageError, match=r"^There is no device "):
            choose_device(name)
    # processes on one machine take a GPU each
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert choose_device("cuda") == torch.device("cuda:1")
    assert choose_device("cuda:0") == torch.device("cuda:0")


def test_auto_is_the_first_accelerator_else_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert choose_device() == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == torch.device("mps")
    with pytest.raises(UsageError, match=r"choose one of cpu, mps\.$"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert choose_device() == torch.device("cuda:0")


@pytest.mark.parametrize(
    ("flags", "precision"), [("fpu amx_bf16 amx_tile", torch.bfloat16), ("fpu avx512_bf16", None), (None, None)]
)
def test_cpus_compute_in_bfloat16_where_they_have_amx(
    flags: str | None, precision: torch.dtype | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    if flags is not None:
        info.write_text(f"model name : some\nflags : {flags}\n", encoding="utf-8")
    monkeypatch.setattr(devices, "_CPU_INFO", info)
    assert mixed_precision(torch.device("cpu")) is precision
    assert mixed_precision(torch.device("cpu"), is_wanted=False) is None

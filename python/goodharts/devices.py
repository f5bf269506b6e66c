"""Torch's device, precision and number of threads."""

import os
from pathlib import Path

import torch

from goodharts.config import AUTO
from rlparity.errors import UsageError

_CPU_INFO = Path("/proc/cpuinfo")


def choose_device(name: str = AUTO) -> torch.device:
    """The device of this name; ``auto`` is the first accelerator that there is, else the CPU.

    Of several processes that ``torchrun`` started on a machine, each takes a GPU, unless ``name`` has a number.
    Raises UsageError, which lists the available devices, where the device is missing.
    """
    has_mps = torch.backends.mps.is_available()
    if name == AUTO:
        name = "cuda" if torch.cuda.is_available() else "mps" if has_mps else "cpu"
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    available = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count())), *["mps"] * has_mps]
    if name not in available:
        raise UsageError(f"There is no device {name} here: choose one of {', '.join(available)}.")
    return torch.device(name)


def prepare(device: torch.device) -> None:
    """Make a GPU current and let torch search for the fastest convolutions, except on ROCm.

    ROCm's MIOpen does not keep the results from one process to the next, and its search takes longer than it saves.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.backends.cudnn.benchmark = torch.version.hip is None  # ROCm's GPUs are called cuda, too
        torch.set_float32_matmul_precision("high")


def mixed_precision(device: torch.device, is_wanted: bool = True) -> torch.dtype | None:
    """Return the dtype of matrix products: bfloat16 where the hardware has it, None (float32) elsewhere.

    CPUs with AMX have it; other CPUs emulate it, which is slower than float32.
    """
    if not is_wanted:
        return None
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else None
    return torch.bfloat16 if device.type == "cpu" and has_amx() else None


def has_amx() -> bool:
    """Return whether this CPU multiplies matrices of bfloat16 in hardware; False where Linux does not say so."""
    try:
        return "amx_bf16" in _CPU_INFO.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return False


def describe(device: torch.device) -> str:
    """The device in words, such as ``cuda:0 (NVIDIA H100)``."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)

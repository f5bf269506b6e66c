"""Compiler settings that must be in the environment before JAX makes its first backend."""

import os
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import platformdirs

from rlparity.engines.python_process import python_command, python_environment
from rlparity.errors import EngineError
from rlparity.io.arguments import IntRange
from rlworldkit.jax.cache_entries import replace_damaged_entries

PARTS = IntRange(1, 2**8)
"""Numbers of devices that a processor can be split into."""
CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
_ENABLED, _LEAST_SECONDS = "JAX_ENABLE_COMPILATION_CACHE", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
"""JAX's variables for using the folder at all, and for the least compile time of an entry in seconds."""
_WIDE_VECTORS = "--xla_cpu_prefer_vector_width"
PTX_CALL = "__gpu$xla.gpu.ptx"
"""XLA's custom call that launches a kernel of PTX; its parameters are pointers to the operands and the results."""
C_FLAGS_VARIABLE = "RLWORLDKIT_C_FLAGS"
"""Environment variable with extra options for the C compiler, appended to the project's own."""
_COMMAND_BUFFERS: dict[str, str | bool] = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE",
    "xla_gpu_graph_min_graph_size": "1",
}
"""XLA options that make CUDA graphs of loops and branches, too, which XLA does not by default."""
_DEVICES, _THREADS = "--xla_force_host_platform_device_count", "PJRT_NPROC"

_STARTING = tuple(str(Path("jax", "_src", name)) for name in ("config.py", "xla_bridge.py"))
"""JAX's modules that read its variables and look for devices."""


def prefer_wide_vectors() -> None:
    """Let XLA's CPU code use 512-bit vectors where the processor has them, unless XLA_FLAGS says otherwise.

    A batch of games is computed as long vectors of words, which wide registers speed up.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _WIDE_VECTORS not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_WIDE_VECTORS}=512".strip()


def compiler_options(platform: str, text: Callable[[], str]) -> dict[str, str | bool]:
    """Return XLA options to compile a program for ``platform``, without those that XLA_FLAGS already sets.

    On a GPU, games that XLA plays are loops of small operations. The host would launch each one, and wait for the
    condition of each loop; in a CUDA graph the GPU does both. text: returns the lowered program's text, which tells
    whether kernels play the games.
    """
    given = os.environ.get("XLA_FLAGS", "")
    options = _COMMAND_BUFFERS if platform == "gpu" and PTX_CALL not in text() else {}
    return {name: value for name, value in options.items() if name not in given}


def of_parts(parts: int) -> dict[str, str]:
    """Return environment variables that split the processor into ``parts`` JAX devices, each with its share of cores.

    A step of the games is thousands of small operations. Handing one to a second thread takes longer than the
    operation itself, so a device plays faster on a core of its own.
    """
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_DEVICES}={parts}".strip(), **threads_of_a_share(parts)}


def threads_of_a_share(parts: int) -> dict[str, str]:
    """Return environment variables that limit one processor device to its share, 1 / ``parts``, of the cores.

    A PJRT_NPROC that is already set is kept.
    """
    return {_THREADS: os.environ.get(_THREADS, str(share_of_cores(parts)))}


def for_mutants(copy: Path) -> dict[str, str]:
    """Return environment variables that make a mutant's run fast; most of its time is compilation.

    All copies share one compilation cache, and compile without optimisation, which does not change results.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip()
    cache = {CACHE_VARIABLE: str(copy.parent / "jax-cache"), _LEAST_SECONDS: "0.5"}
    return {**cache, "XLA_FLAGS": flags, C_FLAGS_VARIABLE: "-O0"}


def traced_program(world: str, environment: Mapping[str, str], *host: Path) -> bytes:
    """Identify what a copy of a world in JAX computes: the digest of its jaxprs, and its source files ``host``.

    world: as MODULE:NAME. environment: variables with which Python imports the copy. host: files whose code runs in
    Python, and so is in no jaxpr. Raises EngineError if the copy cannot be traced.
    """
    command = python_command("-m", "rlworldkit.jax.program_digest", world)
    variables = python_environment(environment) | {"PYTHONDONTWRITEBYTECODE": "1", "JAX_TRACEBACK_FILTERING": "off"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1].rstrip(".")
        raise EngineError(f"the copy of {world} cannot be traced ({reason}): correct it first.")
    return b"\0".join([done.stdout.encode(), *(path.read_bytes() for path in host)])


def enable_compilation_cache(application: str) -> None:
    """Enable JAX's on-disk compilation cache.

    The folder is JAX_COMPILATION_CACHE_DIR if that is set, else in the user's cache directory of ``application``. A
    folder that cannot be written is only read; without a readable folder, or without a home, nothing is cached.
    Damaged entries are replaced.
    """
    folder = _cache_folder(application)
    if folder is None:
        return
    os.environ[CACHE_VARIABLE] = str(folder)
    replace_damaged_entries()
    if not write_fault(folder):
        return
    if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK):
        os.environ[_LEAST_SECONDS] = "inf"
    else:
        os.environ[_ENABLED] = "false"


def write_fault(folder: Path) -> str:
    """Return why a folder cannot be written to, or an empty string if it can; creates the folder if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(b"\0")  # fails on a full disk
            return ""
    except FileExistsError:
        return f"{folder} is no folder"
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror})"


def jax_refusal(error: BaseException) -> str:
    """Explain why JAX does not start, if ``error`` is about a JAX_* variable or a missing device; else empty."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not frames[-1].filename.endswith(_STARTING):
        return ""
    reason = (str(error).splitlines() or [f"no device for JAX_PLATFORMS={os.environ.get('JAX_PLATFORMS', '')}"])[0]
    return f"JAX does not start ({reason}): correct the JAX_* variables of the environment."


def is_remote(folder: str) -> bool:
    """Whether a cache folder, such as ``gs://…``, is on a network rather than in the file system."""
    return "://" in folder


def _cache_folder(application: str) -> Path | None:
    """Return the folder of the compilation cache; None if there is none, or if it is remote, which only JAX handles."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named and not is_remote(named) else None
    try:
        folder = Path(platformdirs.user_cache_dir(application)) / "jax"
    except RuntimeError:  # a user without a home, such as an arbitrary one in a container
        return None
    return folder if folder.is_absolute() else None


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_of_cores(processes: int) -> int:
    """Return the number of cores for each of ``processes`` processes, at least one."""
    return max(1, available_cores() // processes)

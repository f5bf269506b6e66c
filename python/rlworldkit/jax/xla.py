"""Settings of the compiler that must be in the environment before JAX makes its first backend."""

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
"""Into how many devices a processor can be split."""
CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
_ENABLED, _LEAST_SECONDS = "JAX_ENABLE_COMPILATION_CACHE", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
"""Use of the folder at all, and the least compile time of what JAX writes there."""
_WIDE_VECTORS = "--xla_cpu_prefer_vector_width"
PTX_CALL = "__gpu$xla.gpu.ptx"
"""XLA's custom call that launches a kernel of PTX; its parameters are pointers to the operands and the results."""
C_FLAGS_VARIABLE = "RLWORLDKIT_C_FLAGS"
"""More options of the C compiler, after those that the project gives."""
_COMMAND_BUFFERS: dict[str, str | bool] = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE",
    "xla_gpu_graph_min_graph_size": "1",
}
"""What XLA makes CUDA graphs of: by default neither of loops nor of branches."""
_DEVICES, _THREADS = "--xla_force_host_platform_device_count", "PJRT_NPROC"

_STARTING = tuple(str(Path("jax", "_src", name)) for name in ("config.py", "xla_bridge.py"))
"""JAX's modules that read its variables and look for devices."""


def prefer_wide_vectors() -> None:
    """Let XLA's CPU code use 512-bit vectors where the processor has them, unless XLA_FLAGS says otherwise.

    A batch of games is long vectors of words, which is what wide registers are for.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if _WIDE_VECTORS not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_WIDE_VECTORS}=512".strip()


def compiler_options(platform: str, text: Callable[[], str]) -> dict[str, str | bool]:
    """Options with which XLA compiles a program for ``jax.default_backend()``, but for those that XLA_FLAGS has.

    Games that XLA plays on a GPU are loops of small operations. The host would start each, and wait before it goes on
    for what the condition of a loop says; in a CUDA graph the GPU does both. text: of the lowered program, which tells
    whether kernels play the games.
    """
    given = os.environ.get("XLA_FLAGS", "")
    options = _COMMAND_BUFFERS if platform == "gpu" and PTX_CALL not in text() else {}
    return {name: value for name, value in options.items() if name not in given}


def of_parts(parts: int) -> dict[str, str]:
    """Environment variables with which JAX sees the processor as so many devices, each with its share of the cores.

    A step of the games is thousands of small operations: to hand one out to a second thread takes longer than the
    operation, so that a core plays faster by itself.
    """
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_DEVICES}={parts}".strip(), **threads_of_a_share(parts)}


def threads_of_a_share(parts: int) -> dict[str, str]:
    """Environment variables with which a device of the processor uses one of so many shares of the cores.

    It is left as it is where PJRT_NPROC says so.
    """
    return {_THREADS: os.environ.get(_THREADS, str(share_of_cores(parts)))}


def for_mutants(copy: Path) -> dict[str, str]:
    """Environment variables that spare a mutant's run most of its time, which is compiling.

    What is the same in all copies is compiled once; and what is computed is the same at any level of optimisation.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip()
    cache = {CACHE_VARIABLE: str(copy.parent / "jax-cache"), _LEAST_SECONDS: "0.5"}
    return {**cache, "XLA_FLAGS": flags, C_FLAGS_VARIABLE: "-O0"}


def traced_program(world: str, environment: Mapping[str, str], *host: Path) -> bytes:
    """What a copy of a world in JAX computes: a digest of its programs, and the files ``host`` of its source.

    world: as MODULE:NAME. environment: in which Python imports the copy. host: what runs in Python, and so is in no
    program. Raises EngineError where the copy cannot be traced.
    """
    command = python_command("-m", "rlworldkit.jax.program_digest", world)
    variables = python_environment(environment) | {"PYTHONDONTWRITEBYTECODE": "1", "JAX_TRACEBACK_FILTERING": "off"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1].rstrip(".")
        raise EngineError(f"the copy of {world} cannot be traced ({reason}): correct it first.")
    return b"\0".join([done.stdout.encode(), *(path.read_bytes() for path in host)])


def enable_compilation_cache(application: str) -> None:
    """Keep what XLA compiles from one run to the next.

    It is kept in JAX_COMPILATION_CACHE_DIR if that is set, else in the user's cache directory of ``application``. A
    folder that cannot be written is only read from; without one that can be read, or without a home, nothing is kept.
    Entries that are damaged are replaced.
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
    """The reason why a folder cannot be written, or None; the folder is created if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(b"\0")  # for which a full disk has no room
            return ""
    except FileExistsError:
        return f"{folder} is no folder"
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror})"


def jax_refusal(error: BaseException) -> str:
    """Why JAX does not start, if ``error`` says that it refuses a JAX_* variable or finds no device; else empty."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not frames[-1].filename.endswith(_STARTING):
        return ""
    reason = (str(error).splitlines() or [f"no device for JAX_PLATFORMS={os.environ.get('JAX_PLATFORMS', '')}"])[0]
    return f"JAX does not start ({reason}): correct the JAX_* variables of the environment."


def is_remote(folder: str) -> bool:
    """True for a cache folder that JAX reaches over a network, such as ``gs://…``, and that no file system has."""
    return "://" in folder


def _cache_folder(application: str) -> Path | None:
    """The folder of the compilation cache; None where there is none, or where JAX alone can see to it."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named and not is_remote(named) else None
    try:
        folder = Path(platformdirs.user_cache_dir(application)) / "jax"
    except RuntimeError:  # a user without a home, such as an arbitrary one in a container
        return None
    return folder if folder.is_absolute() else None


def available_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_of_cores(processes: int) -> int:
    """The number of cores for each of so many processes, at least one."""
    return max(1, available_cores() // processes)

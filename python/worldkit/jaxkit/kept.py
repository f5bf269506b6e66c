"""Traced programs that are kept from one run to the next, beside what XLA compiled of them.

With JAX's own compilation cache a second start compiles nothing, but it still traces every program in Python, which
then takes longest. So the trace is kept as well (`jax.export`), in a file that is asked for by what the trace was made
of: the sources of the packages that say what is computed, what it is computed for, the versions and settings of JAX.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax import export
from jax.sharding import NamedSharding
from jax.stages import Wrapped

Tree = Any

FOLDER = "traces"
"""In the folder of JAX's compilation cache."""
MOST_KEPT = 200
"""Files of about half a megabyte; the one that was not used for longest goes first."""
_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "distrax", "tensorflow-probability")
"""What else is traced through: another version of one of these may compute something else."""
_SETTINGS = (
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
    "jax_threefry_partitionable",
)
"""The settings of JAX that change what is traced."""


class Program(NamedTuple):
    """A traced function.

    results: their shapes, `jax.ShapeDtypeStruct` or alike. compile: makes what is called with the arguments.
    """

    results: Tree
    compile: Callable[[], Callable[..., Tree]]


def traced(function: Wrapped, *args: Tree, about: Sequence[str], packages: Iterable[str]) -> Program:
    """A jitted function traced for arguments like ``args``, from its kept trace where there is one.

    What it computes must not depend on anything but its arguments, the sources of ``packages``, those of this kit, and
    what ``about`` says: its name and the settings that it closes over. A trace is kept where packages are named and
    JAX has a folder for its compilation cache, which is to be trusted: whoever can write there can run code here. A
    file that is broken, or was made of something else, is replaced.

    Args:
        function: what to trace.
        args: its arguments, or trees of `jax.ShapeDtypeStruct` in their place; with the sharding of what is to be
            spread over several devices of this process.
        about: what tells this program from all others of these packages.
        packages: by name; none for a program that is not to be kept, such as one of several processes.
    """
    folder, names = _folder(), tuple(packages)
    if folder is None or not names:
        lowered = function.lower(*args)
        return Program(lowered.out_info, lowered.compile)
    leaves, tree = jax.tree.flatten(args)
    shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=_over_devices(leaf)) for leaf in leaves]
    made_of = _made_of(names, [*about, str(tree), *map(str, shapes)])
    path = folder / hashlib.sha256(made_of).hexdigest()[:32]
    kept = _read(path, made_of)
    if kept is None:
        kept = _trace(function, tree, shapes)
        _write(path, made_of, *kept)
    exported, outputs = kept

    def compile_it() -> Callable[..., Tree]:
        on_leaves = jax.jit(exported.call).lower(*shapes).compile()
        return lambda *args: jax.tree.unflatten(outputs, on_leaves(*jax.tree.leaves(args)))

    results = [jax.ShapeDtypeStruct(result.shape, result.dtype) for result in exported.out_avals]
    return Program(jax.tree.unflatten(outputs, results), compile_it)


def _over_devices(leaf: Any) -> NamedSharding | None:
    """How a leaf is spread over the devices of a mesh; None where it lies on any one device."""
    sharding = getattr(leaf, "sharding", None)
    return sharding if isinstance(sharding, NamedSharding) else None


def _trace(function: Wrapped, tree: Any, shapes: Sequence[Any]) -> tuple[export.Exported, Any]:
    """The trace of ``function`` on flat arguments and results, and the tree of its results."""
    trees = []

    def on_leaves(*leaves: Any) -> list[Any]:
        results, outputs = jax.tree.flatten(function(*jax.tree.unflatten(tree, leaves)))
        trees.append(outputs)
        return results

    exported = export.export(jax.jit(on_leaves))(*shapes)
    return exported, trees[0]


def _folder() -> Path | None:
    folder = _setting("jax_compilation_cache_dir")
    return Path(folder) / FOLDER if folder and _setting("jax_enable_compilation_cache") else None


def _setting(name: str) -> Any:
    """A setting of JAX as it holds here and now."""
    return getattr(jax.config, name)


def _made_of(packages: tuple[str, ...], about: Sequence[str]) -> bytes:
    settings = [f"{name} {_setting(name)}" for name in _SETTINGS]
    sources = _sources((__name__.partition(".")[0], *packages))
    return "\n".join([*_versions(), jax.default_backend(), *settings, sources, *about]).encode()


@cache
def _versions() -> tuple[str, ...]:
    return tuple(f"{library} {_version(library)}" for library in _LIBRARIES)


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


@cache
def _sources(packages: tuple[str, ...]) -> str:
    """A digest of all sources of some packages."""
    digest = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(f"{package} {path.relative_to(folder)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(path: Path, made_of: bytes) -> tuple[export.Exported, Any] | None:
    """What is kept in a file; None where there is nothing that can be used."""
    try:
        kept, outputs, trace = pickle.loads(path.read_bytes())
        if kept != made_of:
            return None
        exported = export.deserialize(trace)
        os.utime(path)
    except Exception:  # bytes that are no trace can fail anywhere, and then it is made again
        return None
    return exported, outputs


def _write(path: Path, made_of: bytes, exported: export.Exported, outputs: Any) -> None:
    """Keep a trace; a folder that cannot be written only costs the next start its time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # other processes may be writing the same trace; half a file after a power cut is a file that cannot be used
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(pickle.dumps((made_of, outputs, bytes(exported.serialize()))))
        unfinished.replace(path)
        oldest_first = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in oldest_first[:-MOST_KEPT]:
            file.unlink()
    except OSError:
        return

"""On-disk cache of exported traces, beside JAX's cache of compiled programs.

With JAX's own compilation cache a second start compiles nothing, but it still traces every program in Python, which
then takes longest. So this module caches the traces as well (`jax.export`). A file's name is a digest of everything
that its trace depends on: the sources of the packages that define the computation, the shapes and settings that it is
traced for, JAX's versions and switches. The file holds a line of JSON and the trace; reading it executes nothing.
"""

import contextlib
import gc
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax import export
from jax.sharding import NamedSharding
from jax.stages import Compiled, Lowered, Wrapped

from rlparity import threefry
from rlparity.errors import UsageError
from rlparity.io.safe_read import json_of
from rlworldkit.jax import program_cache
from rlworldkit.jax.cache_entries import replace_damaged_entries
from rlworldkit.jax.native import cpu
from rlworldkit.jax.switches import FIXED, RECORDED, cache_folder, switch
from rlworldkit.jax.xla import CACHE_VARIABLE, PTX_CALL, compiler_options, write_fault

Tree = Any

_PLAIN = (tuple, list, dict, type(None))
"""Pytree node types that `jax.export` serializes by itself."""
_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "distrax", "tensorflow-probability")
"""Libraries whose functions are part of traces: another version of one may compute something else."""
_SETTINGS = (*RECORDED, *FIXED)
"""The settings of JAX that change what is traced."""


class TracedProgram(NamedTuple):
    """A traced function: the shapes of its results, and ``compile``, which returns the compiled function."""

    results: Tree
    compile: Callable[[], Callable[..., Tree]]


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Context without Python's garbage collector of cycles, which takes a tenth of the time of a trace."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@without_collector()
def load_or_trace(function: Wrapped, *args: Tree, about: Sequence[str], packages: Iterable[str]) -> TracedProgram:
    """Trace a jitted function for arguments like ``args``, or load its trace from the cache.

    The function may depend on nothing but its arguments, the sources of ``packages`` and of rlworldkit, and ``about``:
    its name and the settings that it closes over. A trace is cached if packages are named, JAX has a folder for its
    compilation cache, and the results are a tree of tuples, named tuples, lists, dicts and None. A file that is
    damaged or belongs to another program is replaced. The folder must be trusted: JAX runs the machine code that it
    finds there.

    args: arrays, or `jax.ShapeDtypeStruct` in their place, with a sharding for those spread over several devices of
    this process. packages: empty for a program that must not be cached, such as one that runs on several
    processes.
    """
    replace_damaged_entries()
    names = tuple(packages)
    if cache_folder() is None or not names:
        lowered = function.lower(*args)
        return TracedProgram(lowered.out_info, partial(_compiled, lowered))
    leaves, tree = jax.tree.flatten(args)
    # how a leaf is spread over the devices of a mesh; None for a leaf on a single device
    shardings = [getattr(leaf, "sharding", None) for leaf in leaves]
    shapes = [
        jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=each if isinstance(each, NamedSharding) else None)
        for leaf, each in zip(leaves, shardings, strict=True)
    ]
    key = _cache_key(names, [*about, str(tree), *map(str, shapes)])
    path = program_cache.path_of(key)
    exported, sources = _read_trace(path, key) or (None, set())
    if exported is None:
        jitted = jax.jit(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)))
        checks = [export.DisabledSafetyCheck.custom_call(name) for name in (cpu.TARGET, PTX_CALL)]
        with cpu.deferred() as sources:
            exported = export.export(jitted, disabled_checks=checks)(*shapes)
        _write_trace(path, key, exported, sources)

    def compile_it() -> Callable[..., Tree]:
        on_leaves = _compiled(jax.jit(exported.call).lower(*shapes))
        for source in sources:
            cpu.start(source).result()
        return lambda *args: on_leaves(*jax.tree.leaves(args))

    results = [jax.ShapeDtypeStruct(result.shape, result.dtype) for result in exported.out_avals]
    return TracedProgram(jax.tree.unflatten(exported.out_tree, results), compile_it)


def _compiled(lowered: Lowered) -> Compiled:
    return lowered.compile(compiler_options(jax.default_backend(), lowered.as_text))


def compile_in_background() -> ThreadPoolExecutor:
    """Make a thread that compiles while the caller traces other programs: XLA works outside Python's lock.

    Modules that both threads need are imported first: two threads that begin with different modules of a package can
    wait for each other, and then the import fails.
    """
    import_module("scipy.linalg")  # needed by JAX's first compilation, and by distrax during tracing
    return ThreadPoolExecutor(1)


def reuse_text() -> str:
    """Return the part of a message that tells whether later runs reuse the programs compiled by this one."""
    folder = cache_folder()
    if folder is not None and not write_fault(folder):
        return "a minute or two once per configuration; later runs reuse the result"
    return f"a minute or two; later runs reuse the result only if {CACHE_VARIABLE} names a folder that can be written"


def _cache_key(packages: tuple[str, ...], about: Sequence[str]) -> str:
    settings = [f"{name} {switch(name)}" for name in _SETTINGS]
    sources = _source_digest((__name__.partition(".")[0], threefry.__name__, *packages))
    return "\n".join([*_versions(), jax.default_backend(), *settings, sources, *about])


@cache
def _versions() -> tuple[str, ...]:
    return tuple(f"{library} {_version(library)}" for library in _LIBRARIES)


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


@cache
def _source_digest(packages: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for package in packages:
        for name, path in _sources(package):
            digest.update(f"{package} {name}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(package: str) -> list[tuple[str, Path]]:
    """List the Python files of a package or module, symbolic links followed, as (name, path); raises UsageError."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # the parent package is missing
        spec = None
    if spec is None:
        raise UsageError(f"there is no package '{package}', which JaxEnv.packages names: correct its name.")
    if spec.submodule_search_locations is None:
        return [(package, Path(spec.origin or ""))]
    return sorted(
        (str(path.relative_to(top)), path)
        for top in spec.submodule_search_locations
        for folder, _, names in os.walk(top, followlinks=True)
        for path in (Path(folder, name) for name in names)
        if path.suffix == ".py"
    )


def _read_trace(path: Path | None, key: str) -> tuple[export.Exported, set[str]] | None:
    """Read a trace and the sources of its native programs; None if the file is missing or unusable."""
    try:
        line, _, trace = (program_cache.read(path) or b"").partition(b"\n")
        header = json_of(line)
        if header["key"] != key:
            return None
        for name in header["types"]:
            _register(_named_tuple(name))
        for source in header["native"]:
            cpu.start(source)
        return export.deserialize(bytearray(trace)), set(header["native"])
    except Exception:  # malformed bytes can fail anywhere; the caller then traces again
        return None


def _write_trace(path: Path | None, key: str, exported: export.Exported, sources: set[str]) -> None:
    """Write a trace to the cache, if the types of its results can be found by name."""
    try:
        types = {_name_of(kind) for kind in _types_in(exported.out_tree) if kind not in _PLAIN}
        for name in types:
            _register(_named_tuple(name))
        header = json.dumps({"key": key, "types": sorted(types), "native": sorted(sources)})
        program_cache.write(path, header.encode() + b"\n" + exported.serialize())
    except (TypeError, KeyError, ValueError):  # a type that cannot be looked up by its name
        return


def _types_in(tree: Any) -> Iterator[type]:
    """Yield the types of the nodes of a tree of results."""
    if (node := tree.node_data()) is not None:
        yield node[0]
        for child in tree.children():
            yield from _types_in(child)


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _named_tuple(name: str) -> type[tuple[Any, ...]]:
    """Look up a named tuple type by name, importing nothing; raises TypeError for any other type."""
    module, _, qualified = name.partition(":")
    found: Any = sys.modules[module]
    for part in qualified.split("."):
        found = vars(found)[part]
    if not (isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")):
        raise TypeError(f"{name} is no type of named tuples")
    return found


def _register(kind: type[tuple[Any, ...]]) -> None:
    """Register a named tuple type under its name for `jax.export`."""
    with contextlib.suppress(ValueError):  # already registered
        export.register_namedtuple_serialization(kind, serialized_name=_name_of(kind))

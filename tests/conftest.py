"""Settings of JAX before it is imported: the CPU, and a cache of compiled programs."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "jax"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# As in an activated environment, in which commands are typed by their names alone.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# Sources are compiled once for all processes, also where the environment keeps Python from writing what it compiles.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# One thread of torch for each worker: more of them wait for each other on the same cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# W&B reports its own errors over the network, and waits for that.
os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
# It recommends another package where a test of the same process has imported the server for agents.
os.environ.setdefault("WANDB_DISABLE_WEAVE", "true")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
# Most programs are small, and compiled by several processes, and again after they were forgotten.
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
# Programs that run for seconds are not worth what optimising them costs; `make test-long` optimises them.
if os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true") == "true":
    os.environ.setdefault("RLWORLDKIT_C_FLAGS", "-O0")
    if version("jax").split(".")[:2] == ["0", "10"]:  # later ones end the process over a flag that they do not know
        # To split a program for threads costs a tenth of compiling it, and the cores have other workers.
        cheap = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
        flags = os.environ.get("XLA_FLAGS", "")
        if cheap not in flags:  # a test that runs pytest reads this again, and JAX keeps programs by flags
            os.environ["XLA_FLAGS"] = f"{flags} {cheap}".strip()

import jax  # noqa: E402 - JAX must find its settings first
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from xdist.remote import Producer  # noqa: E402
from xdist.scheduler import LoadFileScheduling  # noqa: E402

from hackmatrix.swift_env import SwiftEngine, SwiftEngineError  # noqa: E402
from rlparity.pytest_plugin import ROOT, ParityItem  # noqa: E402
from rlworldkit.jax import engine  # noqa: E402
from rlworldkit.jax.xla import prefer_wide_vectors  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

# As commands do: JAX keeps programs by XLA's flags, and those of the tests serve commands in processes of their own.
prefer_wide_vectors()
# Other work may have the cores.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SLOWEST = (
    (  # which wait for clocks and other processes, at first: then lint, documents and Swift take the cores
        *("rlworldkit/runs/test_live_page", "parity/viewer", "parity/test_debug_screen.py"),
        *("parity/test_mcp.py", "parity/test_remote.py", "rlworldkit/test_onnx_policies.py"),
        "project/test_accelerator_check.py",
    ),
    (
        "rlparity::hackmatrix",
        *(f"hackmatrix/{name}" for name in ("lockstep", "test_environments.py", "evaluation", "explain")),
    ),
    ("hackmatrix/rules",),
    ("hackmatrix/train",),
    ("rlworldkit/ppo",),
    ("rlworldkit/test_own_world.py",),
    ("hackmatrix/sb3",),
    *((f"rlworldkit/{name}",) for name in ("runs", "test_sweep.py", "test_search.py")),
    ("goodharts/training",),
    ("project/test_native",),
    ("rlworldkit/test_switches.py",),
    tuple(f"project/test_{name}.py" for name in ("packaging", "bundle", "parity_alone")),  # wheels
)
"""The tests that wait or take longest, to begin with. Those of an entry go to one process: most share programs."""

LARGE = ("tests/hackmatrix/lockstep", "tests/hackmatrix/evaluation", "tests/hackmatrix/train")
"""Folders of which each file has large programs of its own."""


def entry_of(test: str) -> int:
    """Index of a test's id in SLOWEST, its length for all others."""
    within = test.removeprefix("tests/")
    return next((number for number, paths in enumerate(SLOWEST) if within.startswith(paths)), len(SLOWEST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first, so that several processes end together; in CI every engine must start."""
    items.sort(key=lambda item: entry_of(item.nodeid))
    for item in items:
        if isinstance(item, ParityItem) and os.environ.get("CI") == "true":
            item.checks = {(): item.checks[()]._replace(optional=())}


def pytest_collection() -> None:
    """Look for no garbage until all tests are collected: imports leave little, and a third of the time went into it."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and never look at what imports have left: tracing makes objects by the million."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Give each process whole files, as ``--dist loadfile`` does, pairs of engines and entries of SLOWEST."""

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist ships no types
        def _split_scope(self, nodeid: str) -> str:
            entry = entry_of(nodeid)
            if entry < len(SLOWEST):
                return str(entry)
            return nodeid.rpartition("::")[0] if nodeid.startswith(f"{ROOT}::") else nodeid.split("::")[0]

    return Scheduling(config, log)


def shares_programs_with(test: str) -> str:
    """Key of a test's id, the same for tests that share compiled programs."""
    file = test.split("::")[0]
    return file if file.startswith(LARGE) else str(Path(file).parent)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Forget the programs that no test to come uses: all of them together would take gigabytes.

    What is left, such as modules imported since, is not looked at again: pytest, where a test runs it, collects garbage
    several times.
    """
    yield
    if nextitem is None or shares_programs_with(nextitem.nodeid) != shares_programs_with(item.nodeid):
        if nextitem is None or not entry_of(nextitem.nodeid) == entry_of(item.nodeid) < len(SLOWEST):
            engine._PROGRAMS.clear()  # which take seconds even where the cache has them
        jax.clear_caches()
        gc.collect()
        gc.freeze()
        if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
            libc.malloc_trim(0)  # else the C library keeps for itself what was freed


@pytest.fixture
def shadowing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with files that are named like modules of the standard library."""
    monkeypatch.chdir(tmp_path)
    for name in ("types", "random", "queue", "math"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} is shadowed')")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium: where there is none, these tests are skipped, aloud, and fail in CI.

    For one module at a time: while Playwright is at work its thread runs no other loop of events.
    """
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sentence = "No Chromium on the PATH: install it (on Debian: apt install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(f"{sentence} The tests of pages are required where CI=true.")
        pytest.skip(sentence)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> BrowserContext:
    """One of a desktop, which waits for what should be there within a second: other tests may have the cores."""
    from playwright.sync_api import expect

    patience = 60_000  # milliseconds
    expect.set_options(timeout=patience)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(patience)
    return context


@pytest.fixture(scope="session")
def swift_built() -> None:
    """The Swift engine can be started: else these tests are skipped, aloud, and fail in CI."""
    try:
        SwiftEngine(1).close()
    except SwiftEngineError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))

"""``hackmatrix doctor``: check the installation and suggest fixes."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hackmatrix
import rlworldkit
from hackmatrix import RULES_VERSION, __version__
from hackmatrix.swift_env.process import BINARY_VARIABLE, binary_path, build_hint, is_checkout
from hackmatrix.world import rules_of
from rlparity.cli.doctor import BROKEN, NOTE, OK, packages, print_checks, python, versions
from rlparity.engines.python_process import python_command
from rlparity.errors import ParityError, install_command
from rlparity.io.arguments import Parser
from rlparity.tools.documents import Check
from rlworldkit.extras import EXTRAS
from rlworldkit.jax.cache_entries import damaged_entries
from rlworldkit.jax.xla import CACHE_VARIABLE, enable_compilation_cache, write_fault
from rlworldkit.render.display import has_display

PROBE_SECONDS = 180.0
"""Time limit for a subprocess: the first JAX program on a cold accelerator is slow, and a busy TPU never answers."""
_PROBE_NAME = "hackmatrix_doctor"
_PACKAGE = Path(hackmatrix.__file__).resolve().parent


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line for each check and return the exit code: 1 where something is broken, else 0."""
    parser = Parser(
        prog="hackmatrix doctor",
        description="Check the installation and suggest fixes.",
        epilog="Exit codes: 0 nothing is broken, 1 something is broken. A note does not count as broken.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    args = parser.parse_args(argv)
    enable_compilation_cache("hackmatrix")
    cache = os.environ.get(CACHE_VARIABLE)
    return print_checks(_checks(Path(cache) if cache else None), as_json=args.json)


def _checks(cache: Path | None) -> Iterator[Check]:
    yield python()
    title = f"hackmatrix {__version__}, rules {RULES_VERSION}"
    yield packages("hackmatrix", ("goodharts", "hackmatrix"), title, _PACKAGE, remedy=_setup())
    kit = Path(rlworldkit.__file__).parent
    yield packages("rlworldkit", ("rlworldkit",), f"rlworldkit {__version__}", kit, remedy=_setup())
    if is_checkout():
        yield swift_toolchain()
    yield swift_engine()
    yield from jax_and_cache(cache)
    yield from (extra(name) for name in EXTRAS if name != "jax")
    if has_display():
        yield Check("display", OK, "windows can be opened")
    else:
        yield Check("display", NOTE, "there is none for windows", "run on a desktop, or draw text or pictures instead")


def _setup() -> str:
    """The command that installs everything again, in a form for the current directory."""
    if not is_checkout():
        return install_command("hackmatrix")
    root = _PACKAGE.parents[1]
    return "make setup" if Path.cwd() == root else shlex.join(["make", "-C", str(root), "setup"])


def swift_toolchain() -> Check:
    """Check the Swift compiler, which is needed only to build the engine."""
    version = None
    if shutil.which("swift"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            version = re.search(r"Swift version (\S+)", _run("swift", "--version").stdout)
    if version is None:
        remedy = "to build the Swift engine install Swift 6.2 or later (https://www.swift.org/install)"
        return Check("Swift toolchain", NOTE, "there is no swift on the PATH that runs", remedy)
    return Check("Swift toolchain", OK, f"Swift {version[1]}")


def swift_engine() -> Check:
    """Check that the engine's binary exists, runs, and has this package's protocol and rules."""
    name, named = "Swift engine", os.environ.get(BINARY_VARIABLE)
    try:
        path = binary_path()
    except ParityError as error:
        # A user who named a binary needs it; a user who built none may only want the other engine.
        return Check(name, BROKEN if named else NOTE, str(error).rstrip("."), "the JAX engine needs none of this")
    try:
        rules = rules_of("swift")["rulesVersion"]
    except ParityError as error:
        return Check(name, BROKEN, f"{path}: {str(error).rstrip('.')}")
    if rules != RULES_VERSION:
        rebuild = build_hint() + (f" and give {BINARY_VARIABLE} the path it prints" if named and is_checkout() else "")
        return Check(name, BROKEN, f"{path} has rules {rules}, but these are rules {RULES_VERSION}", rebuild)
    return Check(name, OK, f"{path} runs, rules {RULES_VERSION}")


def jax_and_cache(cache: Path | None) -> tuple[Check, Check]:
    """Check JAX's devices, and that one process finds in the cache what another has compiled.

    Two processes run the same small program, which was never compiled before: the first must miss the cache and the
    second must hit it.
    """
    name = "compilation cache"
    fault = "there is no folder for it, since this user has no home" if cache is None else write_fault(cache)
    variables = {} if fault else {CACHE_VARIABLE: str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    number = int.from_bytes(os.urandom(3))
    first = _probe(number, variables)
    jax = _devices(first)
    if cache is None or fault:
        remedy = f"give {CACHE_VARIABLE} a folder that you can write to; without one every run compiles for minutes"
        return jax, Check(name, BROKEN, fault, remedy)
    if jax.status == BROKEN:
        return jax, Check(name, BROKEN, f"{cache} could not be tried, because JAX does not run", "fix JAX first")
    second = _probe(number, variables)
    for left in cache.glob(f"jit_{_PROBE_NAME}-*"):
        left.unlink(missing_ok=True)
    if first.get("hit") or not second.get("hit"):
        found = f"{cache} can be written to, but a second process did not find there what the first one compiled"
        return jax, Check(name, BROKEN, found, "look for JAX_ENABLE_COMPILATION_CACHE=0 or another JAX_* setting")
    if damaged := sorted(damaged_entries(cache)):
        found = f"{len(damaged)} of its entries cannot be read, such as {damaged[0]}"
        return jax, Check(name, NOTE, found, "the next run that needs one compiles it and replaces it; or remove them")
    return jax, Check(name, OK, f"{cache}, a second process found there what the first one compiled")


def _devices(probed: dict[str, Any]) -> Check:
    if "fault" in probed:
        remedy = f"with JAX_PLATFORMS=cpu JAX runs without the accelerator; else run `{_setup()}` again"
        return Check("JAX", BROKEN, f"JAX does not run: {probed['fault']}", remedy)
    devices = ", ".join(f"{count} x {kind}" for kind, count in Counter(probed["devices"]).items())
    if probed["platform"] == "cpu" and "JAX_PLATFORMS" not in os.environ and shutil.which("nvidia-smi"):
        return Check("JAX", NOTE, f"{devices}, though there is an NVIDIA GPU", install_command("hackmatrix[cuda]"))
    return Check("JAX", OK, f"{devices} ({probed['platform']})")


_PROBE = f"""
import json
import jax, numpy
events = []
devices = jax.devices()
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
def {_PROBE_NAME}(x):
    return x * {{number}}.0 + 1
jax.jit({_PROBE_NAME})(numpy.ones(3, numpy.float32)).block_until_ready()
print(json.dumps(dict(
    devices=[device.device_kind for device in devices],
    platform=devices[0].platform,
    hit="/jax/compilation_cache/cache_hits" in events,
)))
"""


def _probe(number: int, variables: dict[str, str]) -> dict[str, Any]:
    """Devices, platform and cache hit of JAX in a subprocess, or ``fault``: the reason why JAX does not run."""
    try:
        done = _run(*python_command("-c", _PROBE.format(number=number)), **variables)
    except subprocess.TimeoutExpired:
        return {"fault": f"it did not start within {PROBE_SECONDS:g} s (is another process using the accelerator?)"}
    if done.returncode:
        return {"fault": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PROBE_SECONDS,
        check=False,
    )


def extra(name: str) -> Check:
    """Check whether an optional extra of the package is installed."""
    wanted = [module.replace("_", "-") for module in EXTRAS[name]]
    found = versions(wanted)
    if missing := [each for each in wanted if each not in {installed.split()[0] for installed in found}]:
        remedy = install_command(f"hackmatrix[{name}]")
        return Check(f"extra {name}", NOTE, f"not installed: {', '.join(missing)}", remedy)
    return Check(f"extra {name}", OK, ", ".join(found))

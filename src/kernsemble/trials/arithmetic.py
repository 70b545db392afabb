"""One arithmetic for all trials: the same kernels of BLAS, and one thread, on every computer.

OpenBLAS sums in another order for each kind of processor that it knows, so last digits depend on the
processor. Its kernels for Haswell run on every x86-64 processor with AVX2: trials ask for them, wherever they
run. OpenBLAS reads the variable when it is loaded, so it must stand before NumPy is imported, and this module
does not import NumPy. Other processors have nothing in common to ask for; that what they round differently
does not matter is the business of the methods (``kernsemble.one_path``).

``KERNSEMBLE_CORETYPE`` names other kernels, to test that results do not depend on them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
CORE_VARIABLE = "OPENBLAS_CORETYPE"
CORE_TYPE = "Haswell"
_X86_64 = ("x86_64", "amd64")
# What OpenBLAS calls kernels that it builds once for several processors.
_SAME_KERNELS = {"prescott": "katmai", "zen": "haswell"}


def core_type() -> str | None:
    """Return the kernels that trials ask OpenBLAS for; None where the processor does not have them."""
    if platform.machine().lower() not in _X86_64:
        return None
    return os.environ.get("KERNSEMBLE_CORETYPE") or (CORE_TYPE if _has_avx2() else None)


def variables() -> dict[str, str]:
    """Return the environment variables of a process that runs trials."""
    kernels = core_type()
    return dict.fromkeys(THREAD_VARIABLES, "1") | ({CORE_VARIABLE: kernels} if kernels else {})


def pin_kernels() -> None:
    """Ask for the kernels of trials in this process; it must not have imported NumPy yet."""
    if kernels := core_type():
        os.environ[CORE_VARIABLE] = kernels


@contextmanager
def pinned_environment(**others: str) -> Iterator[None]:
    """Set the variables of trials, and others, for processes that start inside."""
    inside = variables() | others
    before = {name: os.environ.get(name) for name in inside}
    os.environ.update(inside)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def arithmetic() -> str:
    """Return what the last digits of this process come from, such as ``openblas-0.3.31 Haswell x86_64``.

    It names the BLAS that came with NumPy (where it did not come with one, the first that is loaded), its
    kernels, and the processor's architecture.
    """
    libraries = _libraries()
    own = [library for library in libraries if "numpy" in Path(library["filepath"]).parent.name.lower()]
    found = next(iter(own + libraries), {})
    version = ".".join(str(found.get("version") or "unknown").split(".")[:3])
    name = f"{found.get('internal_api', 'unknown')}-{version}"
    return " ".join(filter(None, (name, found.get("architecture"), platform.machine())))


def other_kernels() -> str | None:
    """Return the kernels that a BLAS of this process has in place of those of trials; None if they agree."""
    wanted = core_type()
    if wanted is None:
        return None
    loaded = (found.get("architecture") for found in _libraries() if found["internal_api"] == "openblas")
    return next((name for name in loaded if name and _kernels(name) != _kernels(wanted)), None)


def remedy() -> str:
    """Return how a worker starts with the kernels of trials."""
    return f"start it as `{CORE_VARIABLE}={core_type()} dask worker ADDRESS`"


def _kernels(name: str) -> str:
    return _SAME_KERNELS.get(name.lower(), name.lower())


def _libraries() -> list[dict[str, Any]]:
    """Return the BLAS libraries that are loaded: those of NumPy and SciPy in any case."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return [library for library in threadpool_info() if library["user_api"] == "blas"]


def _has_avx2() -> bool:
    """Whether this x86-64 processor has AVX2; where the system does not tell, as good as all have it."""
    if not sys.platform.startswith("linux"):
        return True
    return "avx2" in (of_processor("flags") or "avx2").split()


def of_processor(what: str) -> str:
    """Return what Linux tells of the first processor, such as its ``model name``; empty where it does not."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{what}\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


LOCK_FILE = Path(__file__).parents[3] / "requirements.lock"
OTHER = "other"


class Provenance(NamedTuple):
    """The libraries and the arithmetic of the process that computed a row; empty: not recorded."""

    lock: str = ""
    arithmetic: str = ""


NOT_RECORDED = Provenance()


@cache
def provenance() -> Provenance:
    """Return the provenance of what this process computes."""
    return Provenance(lock_digest(LOCK_FILE), arithmetic())


def lock_digest(path: Path) -> str:
    """Return eight digits of the lock; "other" when what is installed is not what it pins, "" without one.

    A package that is pinned and not installed does not matter.
    """
    if not path.is_file():
        return ""
    text = path.read_bytes()
    pins: dict[str, set[str]] = {}
    for name, pinned in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text.decode(), re.MULTILINE):
        pins.setdefault(name, set()).add(pinned)
    if any(installed(name) not in (None, *allowed) for name, allowed in pins.items()):
        return OTHER
    return hashlib.sha256(text).hexdigest()[:8]


def installed(name: str) -> str | None:
    """Return the installed version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None

"""Kernels into ensembles and back: five papers, their solvers, scikit-learn estimators with certificates."""

import os
import sys
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

_ESTIMATORS = {
    "AdaBoost": "adaboost",
    "AdaBoostECC": "multiclass_boosting",
    "AdaBoostMH": "multiclass_boosting",
    "AdaBoostMO": "multiclass_boosting",
    "CGBoostClassifier": "cg_boost",
    "CGBoostNovelty": "cg_boost_novelty",
    "CGBoostRegressor": "cg_boost_regressor",
    "CGEns": "cgens",
    "CGEnsSLS": "cgens_sls",
    "DRM": "drm",
    "DistanceKernelSVC": "distance_svc",
    "DistanceKernelSVCCV": "distance_svc",
    "DistanceKernelSVR": "distance_svr",
    "ExRM": "exrm",
    "LPBoost": "lpboost",
    "MultiBoost": "multiboost",
}
_OTHERS = {
    "ShapeDisplay": "estimators.shape_display",
    "StreamedCGEns": "growth.streamed_cgens",
    "load": "data",
    "perceptron_kernel": "kernels",
    "stump_kernel": "kernels",
}

__all__ = ["__version__", *_ESTIMATORS, *_OTHERS]


def _let_numba_cache() -> None:
    """Give numba a folder for this process where it can write neither to the package nor to a cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for folder in (Path(__file__).parent / "__pycache__", home / "numba"):
        if _can_write(folder):
            return
    import atexit
    import shutil
    import tempfile
    import warnings

    try:
        folder = tempfile.mkdtemp(prefix="kernsemble-")
    except OSError as error:
        raise RuntimeError(
            "kernsemble compiles, and found no folder to write to: set NUMBA_CACHE_DIR to one that can be "
            "written to."
        ) from error
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder
    warnings.warn(
        "kernsemble can keep compiled code neither beside itself nor in a user's cache, so each process "
        "compiles anew: set NUMBA_CACHE_DIR to a folder that can be written to.",
        stacklevel=2,
    )


def _can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if it is not there."""
    file = folder / f".kernsemble-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.touch()
        file.unlink()
    except OSError:
        return False
    return True


if "NUMBA_CACHE_DIR" not in os.environ:
    _let_numba_cache()


def __getattr__(name: str):
    """Import a public name when it is first used: ``import kernsemble`` alone stays cheap."""
    if name in _ESTIMATORS:
        return getattr(import_module(f"kernsemble.estimators.{_ESTIMATORS[name]}"), name)
    if name in _OTHERS:
        return getattr(import_module(f"kernsemble.{_OTHERS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

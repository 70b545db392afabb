"""Kernels into ensembles and back: five papers, their solvers, scikit-learn estimators with certificates."""

from importlib import import_module

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


def __getattr__(name: str):
    """Import a public name when it is first used: ``import kernsemble`` alone stays cheap."""
    if name in _ESTIMATORS:
        return getattr(import_module(f"kernsemble.estimators.{_ESTIMATORS[name]}"), name)
    if name in _OTHERS:
        return getattr(import_module(f"kernsemble.{_OTHERS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

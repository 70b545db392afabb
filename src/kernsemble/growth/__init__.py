"""Sets that do not fit in memory, streamed from files or spread over Dask workers. This is the one door."""

from importlib import import_module

_PUBLIC = {
    "DaskStumpOracle": "dask_stumps",
    "DaskTeam": "dask_stumps",
    "StreamedCGEns": "streamed_cgens",
    "StreamedStumpHypotheses": "streamed_stumps",
    "StreamedStumpOracle": "streamed_stumps",
    "partitioned_adaboost": "partitioned",
    "partitioned_stump_machine": "partitioned_splines",
}

__all__ = [
    "DaskStumpOracle",
    "DaskTeam",
    "StreamedCGEns",
    "StreamedStumpHypotheses",
    "StreamedStumpOracle",
    "partitioned_adaboost",
    "partitioned_stump_machine",
]


def __getattr__(name: str):
    """Import a public name when it is first used."""
    if name in _PUBLIC:
        return getattr(import_module(f"kernsemble.growth.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

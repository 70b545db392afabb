"""Datasets: loading, generating, splitting, scaling, image features; ``load`` is re-exported here."""

from importlib import import_module

_PUBLIC = {
    "Dataset": "base",
    "DatasetDamaged": "base",
    "DatasetUnavailable": "base",
    "dataset_names": "sources",
    "load": "store",
}

__all__ = ["Dataset", "DatasetDamaged", "DatasetUnavailable", "dataset_names", "load"]


def __getattr__(name: str):
    """Import a public name when it is first used."""
    if name in _PUBLIC:
        return getattr(import_module(f"kernsemble.data.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

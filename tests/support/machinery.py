"""What the tests of the machinery share: the fake paper's repository, and papers written on the spot."""

import itertools
import shutil
import sys
from importlib import import_module, invalidate_caches
from pathlib import Path

from kernsemble.trials.study import Study

FAKE = Path(__file__).parent / "fake_paper"
MODULE = "support.fake_paper.trials"
_numbers = itertools.count()


def make_repository(folder: Path) -> Path:
    """Lay out a repository that holds the fake paper."""
    (folder / "published").mkdir(parents=True)
    (folder / "notebooks" / "fake_paper").mkdir(parents=True)
    shutil.copy(FAKE / "params.yaml", folder)
    for name in ("published.csv", "claims.yaml"):
        shutil.copy(FAKE / name, folder / "published")
    return folder


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace what stands in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def change_params(root: Path, old: str = "bias: 0.5", new: str = "bias: 0.25") -> None:
    """Give the fake paper another parameter, or another selection of trials."""
    replace_in(root / "params.yaml", old, new)


def open_fake(root: Path, scale: str = "paper", **options) -> Study:
    """Open the fake paper."""
    return Study(MODULE, scale, root, **options)


def without_seconds(path: Path) -> list[str]:
    """Lines of a file of evidence without what differs between runs: timing, seconds, and the check."""
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    drop = {
        header.index(name) - len(header) for name in ("fit_seconds", "seconds", "check") if name in header
    }
    rows = [line.split(",") for line in lines]
    return [",".join(c for i, c in enumerate(r) if i - len(r) not in drop) for r in rows]


def write_package(folder: Path, monkeypatch, **sources: str) -> str:
    """Write a package of modules (name=source; PACKAGE stands for its name) and put it on the path."""
    name = f"written_{next(_numbers)}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    for module, source in sources.items():
        (folder / name / f"{module}.py").write_text(source.replace("PACKAGE", name))
    monkeypatch.syspath_prepend(str(folder))
    invalidate_caches()
    return name


def forget(package: str) -> None:
    """Forget a package and what is cached of its sources, as a new process would."""
    from kernsemble.trials import identity

    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]
    identity.forget()
    invalidate_caches()


def reload_paper(package: str):
    """Import a written paper anew and return it."""
    forget(package)
    return import_module(f"{package}.trials").paper


class Written:
    """A paper written on the spot, whose files can be changed between two studies; all of it is computed."""

    def __init__(self, folder: Path, monkeypatch, params: str, **sources: str) -> None:
        self.folder, self.sources = folder, sources
        self.package = write_package(folder, monkeypatch, **sources)
        (folder / "params.yaml").write_text(params)
        reload_paper(self.package)
        self.study().run()

    def study(self, scale: str = "paper") -> Study:
        """Open the paper as it is now."""
        return Study(f"{self.package}.trials", scale, self.folder)

    def edit(self, file: str, *pairs: tuple[str, str], text: str = "") -> None:
        """Replace something in a file, or in a text that takes its place."""
        path = self.folder / file
        path.write_text(text or path.read_text())
        for old, new in pairs:
            replace_in(path, old, new)
        # a source of the same length, written within a second, would be taken for the compiled one
        shutil.rmtree(self.folder / self.package / "__pycache__", ignore_errors=True)
        reload_paper(self.package)

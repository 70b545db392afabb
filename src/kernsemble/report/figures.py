"""Figures: one style, drawings that recur, and saving that gives the same bytes each time.

Figures are made without pyplot, so a notebook shows them once, where ``show_figure`` stands. A figure drawn
from incomplete evidence, or at a smaller scale than the paper's, says so on its face.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from kernsemble.trials.evidence import write_atomically
from kernsemble.trials.study import Study

# Okabe and Ito, in the order of matplotlibrc.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
METHOD_COLORS = {  # of methods that several articles draw, the same in each
    "AdaBoost.ECC": PALETTE[2], "AdaBoost.MH": PALETTE[4], "AdaBoost.MO": PALETTE[3], "MultiBoost": "#882255",
}  # fmt: skip
_UNSEEN = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_PLACE = re.compile(r' (?:d|x|y)="[^"]*"')
_DECIMAL = re.compile(r"-?\d+\.\d+")
_MARKERS = re.compile(r'<g( clip-path="[^"]*")?>((?:\s*<use [^>]*/>)+)\s*</g>')
_MARKER_STYLE = re.compile(r' style="[^"]*"')


@cache
def _style() -> dict[str, Any]:
    path = files("kernsemble.report").joinpath("matplotlibrc")
    return dict(mpl.rc_params_from_file(str(path), use_default_template=False))


def subplots(n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float] | None = None, **options: Any):
    """Return a figure and its axes in the house style, as ``pyplot.subplots`` does.

    Parameters
    ----------
    n_rows, n_columns : int
    size : tuple of float, optional
        Width and height in inches; by default 3.4 x 2.8 for each of several panels, 6.4 x 3.6 for one.
    **options
        Passed to ``Figure.subplots`` (``sharey=True``, ``squeeze=False``, ..).

    Examples
    --------
    >>> from kernsemble.report.figures import subplots
    >>> figure, axes = subplots(1, 2)
    >>> axes.shape
    (2,)
    """
    mpl.rcParams.update(_style())
    if size is None:
        size = (6.4, 3.6) if n_rows == n_columns == 1 else (3.4 * n_columns, 2.8 * n_rows)
    figure = Figure(figsize=size)
    return figure, figure.subplots(n_rows, n_columns, **options)


def draw_band(
    axes: Axes, x: np.ndarray, curves: np.ndarray, label: str, *, color: str | None = None, **options: Any
) -> None:
    """Draw the mean of curves (runs x points) with a band of one standard error."""
    mean = curves.mean(axis=0)
    (line,) = axes.plot(x, mean, label=label, color=color, **options)
    if len(curves) > 1:
        se = curves.std(axis=0, ddof=1) / len(curves) ** 0.5
        axes.fill_between(x, mean - se, mean + se, color=line.get_color(), alpha=0.2, linewidth=0)


def draw_error_bars(axes: Axes, x: np.ndarray, values: np.ndarray, label: str, **options: Any) -> None:
    """Draw means of values (runs x points) with bars of one standard error."""
    runs = len(values)
    se = values.std(axis=0, ddof=1) / runs**0.5 if runs > 1 else None
    axes.errorbar(x, values.mean(axis=0), yerr=se, label=label, **{"marker": "o", **options})


def plane_grid(X: np.ndarray, n_points: int = 200, margin: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes (n_points each) of a regular grid over two-dimensional data, with a margin."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = margin * (high - low)
    return tuple(np.linspace(a, b, n_points) for a, b in zip(low - pad, high + pad, strict=True))


def grid_points(grid: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the points of a grid, (n_points^2, 2), for a decision function."""
    return np.column_stack([axis.ravel() for axis in np.meshgrid(*grid)])


def draw_boundary(
    axes: Axes,
    grid: tuple[np.ndarray, np.ndarray],
    decision: np.ndarray,
    *,
    color: str = "black",
    shade: bool = True,
) -> None:
    """Draw where a decision function (n_points^2,) changes its sign, and shade its two sides."""
    values = np.asarray(decision, dtype=float).reshape(len(grid[1]), len(grid[0]))
    if shade:
        sides = ListedColormap([PALETTE[1], PALETTE[0]])
        axes.pcolormesh(*grid, values > 0, cmap=sides, alpha=0.15, vmin=0, vmax=1, rasterized=True)
    axes.contour(*grid, values, levels=[0], colors=[color], linestyles=["-"], linewidths=1.2)
    axes.grid(visible=False)


def draw_classes(axes: Axes, X: np.ndarray, signs: np.ndarray, *, size: float = 8) -> None:
    """Draw points of two classes by color and shape."""
    for sign, color, marker in ((1, PALETTE[0], "o"), (-1, PALETTE[1], "^")):
        chosen = X[signs == sign]
        axes.scatter(
            chosen[:, 0], chosen[:, 1], s=size, color=color, marker=marker, linewidths=0, label=f"{sign:+d}"
        )


@dataclass(frozen=True)
class ShownFigure:
    """What a notebook keeps of a figure: the drawing, and its description for those who cannot see it."""

    svg: str
    alt: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.alt}


def show_figure(
    study: Study, figure: Figure, name: str, *, alt: str, exhibits: Iterable[str] | None = None
) -> ShownFigure:
    """Save a figure as SVG in the results folder, and return it for display.

    Parameters
    ----------
    study : Study
    figure : Figure
    name : str
        Name of the file, without ending.
    alt : str
        The figure in words: what one sees, and what follows from it.
    exhibits : iterable of str, optional
        The evidence behind the figure; by default all evidence asked for so far.
    """
    asked = study.asked if exhibits is None else {exhibit: study.evidence(exhibit) for exhibit in exhibits}
    late = [f"{exhibit} {evidence.status}" for exhibit, evidence in asked.items() if not evidence.complete]
    if late:
        figure.text(
            0.5, 0.5, "\n".join(late), ha="center", va="center", rotation=20,
            fontsize=16, color="#B00000", alpha=0.6,
        )  # fmt: skip
    if study.scale != "paper":
        figure.text(
            0.995, 0.005, f"{study.scale} scale", ha="right", va="bottom", fontsize=6, color="#666666"
        )
    svg = describe(render(figure), alt)
    write_atomically(study.folder / "figures" / f"{name}.svg", svg.encode())
    return ShownFigure(svg, alt)


def render(figure: Figure) -> str:
    """Return a figure as SVG, without dates and versions."""
    buffer = io.StringIO()
    with mpl.rc_context(_style()):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return shorten(buffer.getvalue())


def shorten(svg: str) -> str:
    """Return a drawing by matplotlib in a fifth fewer bytes: what nobody sees is said once, or not at all."""
    svg = _PLACE.sub(_shorter, _UNSEEN.sub("", svg))
    return re.sub(r">\s+<", "><", _MARKERS.sub(_styled_once, svg)).replace("<g id=", "\n<g id=")


def _shorter(place: re.Match[str]) -> str:
    """Return a path or a coordinate in hundredths of a point, without blanks around its letters."""
    name, value = place[0].split('="')
    value = _DECIMAL.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    return f'{name}="' + re.sub(r"\s*([A-Za-z])\s*", r"\1", value)


def _styled_once(group: re.Match[str]) -> str:
    """Return a group of markers that look alike with their style at the group."""
    clip, markers = group[1] or "", group[2]
    styles = _MARKER_STYLE.findall(markers)
    if len(styles) != markers.count("<use ") or len(set(styles)) > 1:
        return group[0]
    return f"<g{clip}{styles[0]}>{_MARKER_STYLE.sub('', markers)}</g>"


def describe(svg: str, alt: str) -> str:
    """Write the description into the root element of an SVG, where screen readers look for it."""
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt, quote=True)}" ', 1)

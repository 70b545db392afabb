"""Pictures for cards: a figure, or one panel of it with its labels, small enough to load at once."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from notebook_figures import description
from PIL import Image

CARD, GALLERY = 960, 480  # pixels: the widest picture of a finding, and of the gallery
ABOVE, BELOW, BESIDE = 20.0, 38.0, 8.0  # points around a panel: its title, its axis, a last tick
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_AXES = re.compile(r'<g id="axes_\d+">\s*<g id="patch_\d+">\s*<path d="([^"]*)"')
_POINT = re.compile(r"[ML] ([\d.e-]+) ([\d.e-]+)")


class Box(NamedTuple):
    """A rectangle, in points of the figure or as shares of it."""

    left: float
    top: float
    right: float
    bottom: float


def panels(svg: str) -> list[Box]:
    """Return the frames of the panels of a figure, as shares of its width and height."""
    width, height = map(float, _SIZE.search(svg).groups())
    frames = []
    for path in _AXES.findall(svg):
        x, y = zip(*((float(a), float(b)) for a, b in _POINT.findall(path)), strict=True)
        frames.append(Box(min(x) / width, min(y) / height, max(x) / width, max(y) / height))
    return frames


def around(frames: list[Box], number: int, size: tuple[float, float]) -> Box:
    """Return a panel with its title and labels: to the left all that no other panel has."""
    own = frames[number - 1]
    above, below, beside = ABOVE / size[1], BELOW / size[1], BESIDE / size[0]
    row = [other for other in frames if other.top < own.bottom and own.top < other.bottom]
    column = [other for other in frames if other.left < own.right and own.left < other.right]
    left = max((other.right for other in row if other.right <= own.left), default=0.0)
    alone = not any(other.left >= own.right for other in row)  # a neighbor's labels begin soon
    lower = min((other.top - above for other in column if other.top >= own.bottom), default=1.0)
    right = own.right + (beside if alone else beside / 4)
    bottom = min(own.bottom + below, lower)
    return Box(left, max(0.0, own.top - above), min(1.0, right), bottom)


def picture(path: Path, target: Path, folder: Path, width: int, panel: int = 0) -> str:
    """Write a figure, or one of its panels, ``width`` pixels wide at most; return its ``img``."""
    svg = path.with_suffix(".svg").read_text(encoding="utf-8")
    frames = panels(svg)
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(path) as image:
        shown = image.convert("RGB")
    if panel and len(frames) >= panel:
        size = tuple(map(float, _SIZE.search(svg).groups()))
        box = around(frames, panel, size)
        shown = shown.crop(tuple(round(a * b) for a, b in zip(box, shown.size * 2, strict=True)))
    shown.thumbnail((width, width))
    shown.save(target, "WEBP", quality=82, method=6)
    text = escape(description(svg) or path.stem.replace("_", " "), quote=True)
    return (
        f'<img src="{target.relative_to(folder)}" alt="{text}" width="{shown.width}" height="{shown.height}" '
        'loading="lazy">'
    )

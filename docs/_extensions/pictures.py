"""Pictures for cards: one panel of a figure with its labels, or all of it, as a drawing of its own."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html import escape
from pathlib import Path
from typing import NamedTuple

from kernsemble.report.figures import shorten

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
ElementTree.register_namespace("", SVG.strip("{}"))
ElementTree.register_namespace("xlink", LINK[1:].partition("}")[0])
# Points around a panel: its title, its axis, a last tick, and half a tick's number where there is no title.
ABOVE, BELOW, BESIDE, HALF = 20.0, 33.0, 8.0, 5.0
_NUMBER = re.compile(r"-?[\d.]+")


class Box(NamedTuple):
    """A rectangle, in points of the figure."""

    left: float
    top: float
    right: float
    bottom: float

    def shares_row(self, other: Box) -> bool:
        """Whether the two have a height in common."""
        return self.top < other.bottom and other.top < self.bottom

    def shares_column(self, other: Box) -> bool:
        """Whether the two have a place from left to right in common."""
        return self.left < other.right and other.left < self.right

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        return self.shares_row(other) and self.shares_column(other)


def panels(figure: ElementTree.Element) -> dict[ElementTree.Element, Box]:
    """Return the panels of a figure with their frames."""
    frames = {}
    for group in figure.iter(f"{SVG}g"):
        frame = group.find(f"{SVG}g/{SVG}path")
        if group.get("id", "").startswith("axes_") and frame is not None:
            numbers = [float(number) for number in _NUMBER.findall(frame.get("d"))]
            x, y = numbers[::2], numbers[1::2]
            frames[group] = Box(min(x), min(y), max(x), max(y))
    return frames


def around(frames: dict[ElementTree.Element, Box], panel: ElementTree.Element, size: Box) -> Box:
    """Return a panel with its title and labels: to the left all that no other panel has."""
    own = frames[panel]
    row = [other for other in frames.values() if other.shares_row(own)]
    column = {group: other for group, other in frames.items() if other.shares_column(own)}
    left = max((other.right for other in row if other.right <= own.left), default=0.0)
    gap = min((other.left - own.right for other in row if other.left >= own.right), default=2 * BESIDE)
    right = own.right + min(BESIDE, gap / 2)  # a neighbor's labels begin soon
    highest = all(other.bottom > own.top for other in column.values())
    top = own.top - (ABOVE if highest else _room(panel))
    lower = [other.top - _room(group) for group, other in column.items() if other.top >= own.bottom]
    bottom = min([own.bottom + BELOW, size.bottom, *lower])
    return Box(left, max(0.0, top), min(size.right, right), bottom)


def _room(panel: ElementTree.Element) -> float:
    """Return what a panel takes above its frame: more if it has a title."""
    return ABOVE if any(group.get("id", "").startswith("text_") for group in panel) else HALF


def first_labelled(root: ElementTree.Element) -> int:
    """Return the number of the first panel whose axes have numbers of their own; 0 where none has."""
    labelled = [len(_ticked(panel)) > 1 and all(map(_is_labelled, _ticked(panel))) for panel in panels(root)]
    return labelled.index(True) + 1 if True in labelled else 0


def _ticked(panel: ElementTree.Element) -> list[list[ElementTree.Element]]:
    """Return the ticks of each axis of a panel."""
    axes = [group for group in panel if group.get("id", "").startswith("matplotlib.axis")]
    return [[group for group in axis if "tick_" in group.get("id", "")] for axis in axes]


def _is_labelled(ticks: list[ElementTree.Element]) -> bool:
    """Whether a tick of an axis has a number, or it has no ticks."""
    return not ticks or any(part.get("id", "").startswith("text_") for tick in ticks for part in tick)


def cut_out(root: ElementTree.Element, number: int) -> None:
    """Leave of a figure one of its panels, with what it refers to."""
    frames = panels(root)
    if not 1 <= number <= len(frames):
        return
    size = Box(*(float(value) for value in root.get("viewBox").split()))
    box = around(frames, list(frames)[number - 1], size)
    defined = {element.get("id"): element for element in root.iter() if element.get("id")}
    figure = root.find(f"{SVG}g")
    for group in list(figure):
        if group in frames and not frames[group].meets(box):
            figure.remove(group)
    kept = {element.get("id") for element in root.iter()}
    asked = {element.get(LINK, "").lstrip("#") for element in root.iter(f"{SVG}use")}
    ElementTree.SubElement(root, f"{SVG}defs").extend(defined[name] for name in sorted(asked - kept))
    width, height = box.right - box.left, box.bottom - box.top
    root.set("viewBox", f"{box.left:g} {box.top:g} {width:g} {height:g}")
    root.set("width", f"{width:g}pt")
    root.set("height", f"{height:g}pt")


def picture(path: Path, target: Path, folder: Path, panel: int | None = None) -> str:
    """Write a panel of a figure as a drawing of its own; return its ``img``.

    Without a number it is the first that can be read alone; 0 is the whole figure.
    """
    root = ElementTree.fromstring(shorten(path.read_text(encoding="utf-8")))
    text = escape(root.get("aria-label") or path.stem.replace("_", " "), quote=True)
    cut_out(root, first_labelled(root) if panel is None else panel)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(ElementTree.tostring(root))
    width, height = (round(float(root.get(name).removesuffix("pt")) * 4 / 3) for name in ("width", "height"))
    return (
        f'<img src="{target.relative_to(folder)}" alt="{text}" width="{width}" height="{height}" '
        'loading="lazy">'
    )

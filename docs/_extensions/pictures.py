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
ABOVE, BELOW, BESIDE = 20.0, 38.0, 8.0  # points around a panel: its title, its axis, a last tick
_NUMBER = re.compile(r"-?[\d.]+")


class Box(NamedTuple):
    """A rectangle, in points of the figure."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


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


def around(frames: list[Box], number: int, size: Box) -> Box:
    """Return a panel with its title and labels: to the left all that no other panel has."""
    own = frames[number - 1]
    row = [other for other in frames if other.top < own.bottom and own.top < other.bottom]
    column = [other for other in frames if other.left < own.right and own.left < other.right]
    left = max((other.right for other in row if other.right <= own.left), default=0.0)
    alone = not any(other.left >= own.right for other in row)  # a neighbor's labels begin soon
    lower = min((other.top - ABOVE for other in column if other.top >= own.bottom), default=size.bottom)
    right = own.right + (BESIDE if alone else BESIDE / 4)
    return Box(left, max(0.0, own.top - ABOVE), min(size.right, right), min(own.bottom + BELOW, lower))


def cut_out(root: ElementTree.Element, number: int) -> None:
    """Leave of a figure one of its panels, with what it refers to."""
    frames = panels(root)
    if not 1 <= number <= len(frames):
        return
    size = Box(*(float(value) for value in root.get("viewBox").split()))
    box = around(list(frames.values()), number, size)
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


def picture(path: Path, target: Path, folder: Path, panel: int = 0) -> str:
    """Write a figure, or one of its panels, as a drawing of its own; return its ``img``."""
    root = ElementTree.fromstring(shorten(path.read_text(encoding="utf-8")))
    text = escape(root.get("aria-label") or path.stem.replace("_", " "), quote=True)
    cut_out(root, panel)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(ElementTree.tostring(root))
    width, height = (round(float(root.get(name).removesuffix("pt")) * 4 / 3) for name in ("width", "height"))
    return (
        f'<img src="{target.relative_to(folder)}" alt="{text}" width="{width}" height="{height}" '
        'loading="lazy">'
    )

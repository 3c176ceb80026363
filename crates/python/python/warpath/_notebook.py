"""How answers look in a notebook: a small table, and a histogram of the distances."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

_ROWS = 8
_BARS = 24


def tree(found: Any, unreachable: int | None) -> str:
    """A tree of shortest paths as HTML; ``unreachable`` stands for no distance in integers."""
    distances, predecessors = found.distances, found.predecessors
    count = min(_ROWS, len(distances))
    head = "<th>vertex</th><th>distance</th>" + ("" if predecessors is None else "<th>predecessor</th>")
    rows = []
    for v in range(count):
        reached = _reached(distances[v : v + 1], unreachable)[0]
        cells = [str(v), str(distances[v]) if reached else "not reached"]
        if predecessors is not None:
            cells.append(str(predecessors[v]) if predecessors[v] >= 0 else "")
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return _page(repr(found), head, rows, len(distances) - count, distances, unreachable)


def matrix(found: Any, unreachable: int | None) -> str:
    """A table of distances as HTML, as ``tree``."""
    distances = found.distances
    rows_shown, columns_shown = (min(_ROWS, side) for side in distances.shape)
    targets = found.targets
    names = range(columns_shown) if targets is None else targets[:columns_shown]
    head = "<th></th>" + "".join(f"<th>{name}</th>" for name in names)
    rows = []
    for row, source in enumerate(found.sources[:rows_shown]):
        reached = _reached(distances[row, :columns_shown], unreachable)
        cells = (str(d) if is_reached else "" for d, is_reached in zip(distances[row, :columns_shown], reached))
        rows.append(f"<tr><th>{source}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return _page(repr(found), head, rows, distances.shape[0] - rows_shown, distances, unreachable)


def _reached(distances: Any, unreachable: int | None) -> Any:
    """Which distances are some."""
    return np.isfinite(distances) if unreachable is None else distances != unreachable


def _page(
    title: str, head: str, rows: list[str], more: int, distances: Any, unreachable: int | None
) -> str:
    rest = f"<caption style='caption-side:bottom'>and {more} more rows</caption>" if more > 0 else ""
    table = f"<table>{rest}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div><p><code>{escape(title)}</code></p>{_histogram(distances, unreachable)}{table}</div>"


def _histogram(distances: Any, unreachable: int | None) -> str:
    """A histogram of the distances as SVG, of at most a million of them."""
    some = distances.reshape(-1)
    some = some[:: max(1, len(some) // 1_000_000)]
    some = some[_reached(some, unreachable)]
    if len(some) == 0:
        return ""
    counts, edges = np.histogram(some.astype(np.float64), bins=_BARS)
    highest, width, height = counts.max(), 10, 60
    bars = "".join(
        f"<rect x='{place * width}' y='{height - height * count / highest:.1f}' width='{width - 1}' "
        f"height='{height * count / highest:.1f}' fill='currentColor'><title>{count} from {edges[place]:g} "
        f"to {edges[place + 1]:g}</title></rect>"
        for place, count in enumerate(counts)
    )
    label = f"{edges[0]:g} to {edges[-1]:g}"
    return (
        f"<figure style='margin:0'><svg width='{_BARS * width}' height='{height}' role='img' "
        f"aria-label='histogram of distances'>{bars}</svg><figcaption>distances, {label}</figcaption></figure>"
    )

"""A bar that shows how far a call is, by tqdm if it is installed."""

from __future__ import annotations

import sys
from typing import Any


class _Bar:
    def __init__(self, make: Any) -> None:
        self._make = make
        self._bar: Any = None
        self._stage = ""

    def show(self, stage: str, done: int, total: int) -> None:
        """Moves the bar; a new stage begins a new one."""
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._make(total=total or None, desc=stage, unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()


class _Line:
    """Without tqdm: a line for each stage, on the standard error."""

    def __init__(self) -> None:
        self._stage = ""

    def show(self, stage: str, done: int, total: int) -> None:
        """Tells when a stage begins."""
        if stage != self._stage:
            self._stage = stage
            print(f"warpath: {stage} ...", file=sys.stderr)

    def close(self) -> None:
        """Does nothing: there is no bar."""


def bar() -> Any:
    """What shows progress."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)

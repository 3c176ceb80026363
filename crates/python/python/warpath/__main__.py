"""The command ``warpath``: ``python -m warpath --help``."""

from __future__ import annotations

import signal
import sys

from ._warpath import _command


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # The command ends its work by itself at Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _command(["warpath", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

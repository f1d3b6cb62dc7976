"""The command `flashrig`, in the interpreter's process."""

from __future__ import annotations

import os
import signal
import sys

from . import _flashrig


def main() -> int:
    """The program, with the words and the streams of this process; returns its exit code."""
    # The command listens to Ctrl-C itself. Until it does, and where it never does, Ctrl-C ends it as it ends others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = os.path.abspath(sys.argv[0])
    if os.access(script, os.X_OK) and not script.endswith(".py"):
        _flashrig.program_is(script)
    code = _flashrig.command(["flashrig", *sys.argv[1:]])
    # Python has printed nothing: there is nothing to clean up that takes time.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

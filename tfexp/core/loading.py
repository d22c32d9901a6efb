"""Ctrl-C while a command is being loaded: nothing has begun, so there is nothing to save and no traceback to show.

It imports next to nothing itself: until it has come, Ctrl-C ends in a traceback.
"""

import os
import signal
import sys

__all__ = ["EndedByCtrlC", "is_command"]


def is_command() -> bool:
    """Whether this process is `python -m tfexp…`, whose module is still being looked for, or the command `tfexp`."""
    word = sys.argv[0] if sys.argv else ""
    return word == "-m" or os.path.splitext(os.path.basename(word))[0] == "tfexp"


class EndedByCtrlC:
    """Within, SIGINT ends the process at once, as SIGTERM does; a handler that somebody has set stays.

    Threads but the main one set no handlers: there, nothing changes.
    """

    def __init__(self, when: bool = True) -> None:
        self._when = when
        self._changed = False

    def __enter__(self) -> None:
        if self._when and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._changed = _handle(signal.SIG_DFL)

    def __exit__(self, *raised: object) -> None:
        if self._changed:
            _handle(signal.default_int_handler)


def _handle(handler: object) -> bool:
    try:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    except ValueError:
        return False
    return True

"""What the tools' command lines have in common."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence

from tfexp.experiment.errors import FULL

__all__ = ["helped", "while_read"]


def helped(words: Sequence[str], usage: str, about: str | None, *, needs_words: bool = False) -> int | None:
    """Help for who asks for it, or gives none of the words that are needed: the exit code then; None for all others."""
    if words and words[0] in ("-h", "--help"):
        print(f"{usage}\n\n{about}")
        return 0
    if needs_words and not words:
        print(usage, file=sys.stderr)
        return 2
    return None


def while_read(main: Callable[[], int]) -> int:
    """The exit code of a command that prints; 1 with a message when there is no room for that.

    When nobody reads on (`… | head`), a command that does nothing else has not failed: 0. Letters that the
    terminal's encoding lacks become question marks, and a width of 0 is none that is known.
    """
    if os.environ.get("COLUMNS") == "0":  # rich would print nothing at all
        del os.environ["COLUMNS"]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    code = 0
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        _write_no_more()
    except OSError as error:
        if error.filename is not None or error.errno not in FULL:
            raise
        _write_no_more()
        print(f"tfexp: what was to be written cannot be: {error.strerror}", file=sys.stderr)
        return 1
    return code


def _write_no_more() -> None:
    """Python flushes standard output once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

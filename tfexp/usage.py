"""What the tools' command lines have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

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
    """The exit code of a command that does nothing but print; 0 when nobody reads on (`… | head`)."""
    try:
        code = main()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 0

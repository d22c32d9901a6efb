"""What the tools' command lines say of themselves."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["helped"]


def helped(words: Sequence[str], usage: str, about: str | None, *, needs_words: bool = False) -> int | None:
    """Help for who asks for it, or gives none of the words that are needed: the exit code then; None for all others."""
    if words and words[0] in ("-h", "--help"):
        print(f"{usage}\n\n{about}")
        return 0
    if needs_words and not words:
        print(usage, file=sys.stderr)
        return 2
    return None

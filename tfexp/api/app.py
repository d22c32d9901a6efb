"""`tf.app`: run a program's `main` after its flags have been parsed."""

from __future__ import annotations

import sys as _sys
from collections.abc import Callable, Sequence
from typing import Any

from absl.flags import FLAGS

from tfexp.api import flags as flags


def _known_flags(argv: Sequence[str]) -> list[str]:
    """What is left when the flags that were defined are parsed; flags nobody defined stay in it, as in TF 1.15."""
    rest: list[str] = FLAGS(list(argv), known_only=True)
    return rest


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Parse the flags, call `main(argv)` (`__main__`'s by default) and exit with what it returns. `tf.app.run`."""
    # Imported here because it takes over the process's logging.
    import absl.app

    main = main or _sys.modules["__main__"].main
    absl.app.run(main=main, argv=None if argv is None else list(argv), flags_parser=_known_flags)

"""Where what was compiled is kept for the next process: in the user's folder for caches."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """`tfexp/<kind>` in `XDG_CACHE_HOME`, or in `~/.cache`; it need not be there yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tfexp" / kind

"""Where what was compiled is kept for the next process: in the user's folder for caches, each kind within a bound."""

from __future__ import annotations

import collections
import contextlib
import os
from pathlib import Path

_MAX_BYTES = 512 * 2**20  # of one kind


def cache_folder(kind: str) -> Path:
    """`tfexp/<kind>` in `XDG_CACHE_HOME`, or in `~/.cache`; it need not be there yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tfexp" / kind


def prune(folder: Path, max_bytes: int = _MAX_BYTES) -> None:
    """Delete what was written longest ago, so that `folder` has at most `max_bytes`.

    Files whose names are the same up to the first dot go together. Other processes may use the folder and prune it, too:
    who does not find a file compiles again.
    """
    sizes: collections.Counter[str] = collections.Counter()
    written: dict[str, float] = {}
    files = collections.defaultdict(list)
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # pruned by another process
            status = path.stat()
            if path.is_file():
                name = path.name.partition(".")[0]
                sizes[name] += status.st_size
                written[name] = max(written.get(name, 0.0), status.st_mtime)
                files[name].append(path)
    excess = sizes.total() - max_bytes
    for name in sorted(written, key=written.__getitem__):
        if excess <= 0:
            return
        for path in files[name]:
            path.unlink(missing_ok=True)
        excess -= sizes[name]

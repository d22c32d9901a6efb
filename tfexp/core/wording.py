"""Numbers in sentences."""

from __future__ import annotations


def plural(count: float, noun: str) -> str:
    """`1 worker`, `2 workers`, `2 processes`, `0.5 CPUs`."""
    ending = "" if count == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{count:g} {noun}{ending}" if isinstance(count, float) else f"{count} {noun}{ending}"

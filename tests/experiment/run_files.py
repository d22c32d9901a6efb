"""Reads what a run left in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def numbers(folder: Path) -> dict[str, Any]:
    """The comparable part of the result."""
    return dict(json.loads((folder / "result.json").read_text())["numbers"])


def records(folder: Path) -> list[dict[str, Any]]:
    """The evaluations."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def journalled(folder: Path) -> list[dict[str, Any]]:
    """The events of a sweep's journal."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]

"""Which `pip install` brings what is not there: a package that some of tfexp needs."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["brought_by"]

_DISTRIBUTIONS = {
    "PIL": "pillow",
    "absl": "absl-py",
    "google_crc32c": "google-crc32c",
    "grpc": "grpcio",
    "hydra": "hydra-core",
    "yaml": "pyyaml",
}
"""Modules whose distributions have other names."""


def brought_by(module: str) -> str | None:
    """The command that installs a module which tfexp, or an extra of it, needs; None for any other module."""
    name = module.partition(".")[0]
    wanted = _normal(_DISTRIBUTIONS.get(name, name))
    for distribution, extra in _requirements():
        if _normal(distribution) == wanted:
            return f"pip install 'tfexp[{extra}]'" if extra else f"pip install {distribution}"
    return None


def _requirements() -> Iterator[tuple[str, str]]:
    """(distribution, the extra of tfexp that needs it or "") of all that tfexp needs."""
    try:
        lines = importlib.metadata.requires("tfexp") or []
    except importlib.metadata.PackageNotFoundError:  # not installed, but run from its source
        with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file)["project"]
        lines = [*project["dependencies"]]
        for extra, names in project["optional-dependencies"].items():
            lines += [f"{name}; extra == '{extra}'" for name in names]
    for line in lines:
        found = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        if found:
            yield found.group(), extra.group(1) if extra else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

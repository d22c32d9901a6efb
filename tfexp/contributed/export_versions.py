"""Which of several exports stay: filters of lists of paths. Source: `tf.contrib.learn.utils.gc`, TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Path(NamedTuple):
    """A path, and which version of the exports is there, None where it is not known."""

    path: str
    export_version: int | None


Filter = Callable[[Iterable[Path]], list[Path]]


def _numbered(paths: Iterable[Path]) -> list[tuple[int, Path]]:
    return sorted((path.export_version, path) for path in paths if path.export_version is not None)


def largest_export_versions(n: int) -> Filter:
    """Keeps the `n` largest versions."""
    return lambda paths: sorted(path for _, path in _numbered(paths)[-n:]) if n else []


def one_of_every_n_export_versions(n: int) -> Filter:
    """Keeps the largest version of each of the ranges [0, n], (n, 2n], (2n, 3n]…"""
    return lambda paths: sorted({max(version - 1, 0) // n: path for version, path in _numbered(paths)}.values())


def mod_export_version(n: int) -> Filter:
    """Keeps the multiples of `n`."""
    return lambda paths: sorted(path for version, path in _numbered(paths) if version % n == 0)


def union(lf: Filter, rf: Filter) -> Filter:
    """Keeps what either keeps."""

    def kept(paths: Iterable[Path]) -> list[Path]:
        given = list(paths)
        return sorted({*lf(given), *rf(given)})

    return kept


def negation(f: Filter) -> Filter:
    """Keeps what `f` does not keep."""

    def kept(paths: Iterable[Path]) -> list[Path]:
        given = list(paths)
        return sorted(set(given) - set(f(given)))

    return kept


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """What a folder holds, sorted: of each path what `parser` makes of it, without those that it gives None for."""
    found = (parser(Path(os.path.join(base_dir, name), None)) for name in os.listdir(base_dir))
    return sorted(path for path in found if path)

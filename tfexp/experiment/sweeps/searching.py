"""How the points of a sweep are chosen: the interface, the grid, and the random search."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from tfexp.experiment.errors import SettingError
from tfexp.experiment.sweeps.space import Choices, Dimension, Point, Space

__all__ = ["GridSearch", "RandomSearch", "Search"]


class Search(ABC):
    """Chooses points, one at a time."""

    ahead = True
    """Whether all points can be asked for before any is told: they are then checked before the first runs."""

    @abstractmethod
    def ask(self) -> Point | None:
        """The next point; None when there are no more. A point may come twice: it is then told, and not run again."""

    def tell(self, number: int, value: float | None, *, halved_at: int | None = None) -> None:  # noqa: B027
        """What the point that was asked as the `number`-th (from 0) came to; None if it failed. `halved_at`: the
        step at which it was ended. Most searches learn nothing from it."""

    def take_up(self, asked: list[Point]) -> None:
        """Go on where an earlier stay was ended, which asked for these points; it is then told again of those that are over.

        Raises SettingError if they are not what is asked for now.
        """
        for point in asked:
            again = self.ask()
            if again != point:
                raise SettingError("sweep.resume", f"point {point} of the earlier stay is now {again}")


class GridSearch(Search):
    """Every combination, the last dimension fastest. Where conditions leave dimensions out, each combination comes once."""

    def __init__(self, space: Space) -> None:
        self._names = [dimension.key for dimension in space.dimensions]
        self._values: list[tuple[str, ...]] = []
        for dimension in space.dimensions:
            if not isinstance(dimension.values, Choices):
                problem = (
                    f"{dimension.name}: a grid needs single values: a,b,c or range(...); for intervals choose sweep=random"
                )
                raise SettingError("", problem)  # no key: the file that has a value for it is not at fault
            self._values.append(dimension.values.values)
        self._points = self._all(space)

    def _all(self, space: Space) -> Iterator[Point]:
        seen: set[tuple[tuple[str, str], ...]] = set()
        for combination in itertools.product(*self._values):
            picked = dict(zip(self._names, combination, strict=True))
            point = space.point(lambda dimension, picked=picked: picked[dimension.key])  # type: ignore[misc]
            mark = tuple(point.items())
            if len(point) == len(picked) or mark not in seen:  # what a condition left out makes combinations equal
                seen.add(mark)
                yield point

    def ask(self) -> Point | None:
        return next(self._points, None)


class RandomSearch(Search):
    """`trials` different points, fewer where the space has fewer."""

    _TRIES = 1000
    """Draws that may all be known already before the space counts as exhausted."""

    def __init__(self, space: Space, trials: int, seed: int) -> None:
        self._space, self._left, self._seed = space, trials, seed
        self._draw = 0
        self._seen: set[tuple[tuple[str, str], ...]] = set()

    def ask(self) -> Point | None:
        if self._left == 0:
            return None
        for _ in range(self._TRIES):
            shares = np.random.default_rng([self._seed, self._draw])
            self._draw += 1
            point = self._space.point(lambda dimension, shares=shares: _drawn(dimension, shares.random()))  # type: ignore[misc]
            mark = tuple(point.items())
            if mark not in self._seen:
                self._seen.add(mark)
                self._left -= 1
                return point
        return None


def _drawn(dimension: Dimension, share: float) -> str:
    values = dimension.values
    if isinstance(values, Choices):
        return values.values[int(share * len(values.values))]
    return values.at(share)

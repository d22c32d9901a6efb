"""`confusion.csv`: what the test rows of each class were taken for when the run was last evaluated.

A line for each class, with its name first; a column for each class that its rows were taken for. `confusion.png` is the
picture of it.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

__all__ = ["MOST_CLASSES", "Confusion"]

MOST_CLASSES = 100
"""Of more, no picture could be read."""
_CORNER = "class"
_MANY = 0.2
"""Where so large a share of a class is taken for another, the colour has its full depth."""


@dataclass(frozen=True)
class Confusion:
    """`counts[i][j]` rows of class `names[i]` were taken for `names[j]`."""

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def text(self) -> str:
        written = io.StringIO()
        rows = [(name, *row) for name, row in zip(self.names, self.counts, strict=True)]
        csv.writer(written, lineterminator="\n").writerows([(_CORNER, *self.names), *rows])
        return written.getvalue()

    @classmethod
    def of_text(cls, text: str) -> Confusion:
        """Raises ValueError for what `text` does not write."""
        try:
            (_, *names), *rows = csv.reader(io.StringIO(text))
        except csv.Error as error:
            raise ValueError(str(error)) from error
        counts = tuple(tuple(map(int, row)) for _, *row in rows)
        if [name for name, *_ in rows] != names or any(len(row) != len(names) for row in counts):
            raise ValueError("not a line and a column for each class")
        return cls(tuple(names), counts)

    def depths(self) -> list[list[float]]:
        """How deep the colour of each cell is, from 0 to 1: of what is right, its share of the class's rows; of what is
        wrong, that share beside the greatest one, so that few mistakes are seen, too, though not as if they were many.
        """
        shares = [[count / max(1, sum(row)) for count in row] for row in self.counts]
        wrong = max([_MANY, *(share for at, row in enumerate(shares) for to, share in enumerate(row) if at != to)])
        return [[share if at == to else share / wrong for to, share in enumerate(row)] for at, row in enumerate(shares)]

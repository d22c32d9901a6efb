"""How a test compares what it printed with the text of a source document."""

from __future__ import annotations

import pytest


class Printed:
    """What a test has printed since it last asked."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    @property
    def lines(self) -> list[str]:
        """The printed lines without trailing blanks; asking also forgets them."""
        found = self._capsys.readouterr().out.strip("\n").split("\n")
        return [line.rstrip() for line in found]


def dedent(text: str) -> list[str]:
    """The lines of an expected block, without the indentation it has here."""
    lines = text.strip("\n").split("\n")
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    while lines and not lines[-1].strip():
        lines.pop()
    return [line[margin:].rstrip() for line in lines]

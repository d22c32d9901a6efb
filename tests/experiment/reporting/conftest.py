"""Runs `python -m tfexp.runs` in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfexp import runs


@pytest.fixture
def show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """`show("list", …)`: exit code, output and errors of `python -m tfexp.runs list …`, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = runs.main([str(word) for word in words])
        except SystemExit as end:  # argparse's
            code = int(str(end.code))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run

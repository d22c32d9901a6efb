"""The allocator's setting: it is taken where there is glibc, and nothing happens elsewhere."""

from __future__ import annotations

import platform
import sys

import pytest

from tfexp.distributed.memory import keep_large_buffers


def test_glibc_takes_it() -> None:
    assert keep_large_buffers() is (platform.libc_ver()[0] == "glibc")


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_large_buffers.__wrapped__() is False

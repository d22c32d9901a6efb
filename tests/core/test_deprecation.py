"""Functions that say once that they will go."""

import logging

import pytest

from tfexp.core import deprecation


@pytest.fixture
def said(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    return lambda: [record.getMessage() for record in caplog.records]


@deprecation.deprecated("2030-01-01", "Use another.")
def old(x):
    return x + 1


@deprecation.deprecated_args(None, "Leave it out.", "y", ("z", 3))
def partly(x, y=None, z=3):
    return x


def test_it_is_said_once(said):
    assert old(1) == old(1) == 2
    assert said() == ["old is deprecated and will be removed after 2030-01-01.\nInstructions for updating:\nUse another."]


def test_arguments(said):
    assert partly(1) == partly(1, z=3) == 1 and said() == []
    partly(1, 2)
    partly(1, y=2)
    partly(1, z=4)
    assert [message.split(" is")[0] for message in said()] == ["calling partly with y", "calling partly with z"]


def test_one_of_two_names():
    assert deprecation.deprecated_argument_lookup("new", 1, "old", None) == 1
    assert deprecation.deprecated_argument_lookup("new", None, "old", 2) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 1, "old", 2)


def test_silence(said):
    with deprecation.silence():
        partly(1, 2)
        with deprecation.silence():
            pass
        partly(1, 2)
    assert said() == []

"""The logger: its level, its lines on stderr, counted messages."""

import logging

import pytest

from tfexp.core import log


@pytest.fixture
def alone(monkeypatch):
    """Call it to have no logging set up but the library's: pytest sets up its own for the test itself."""
    return lambda: monkeypatch.setattr(logging.getLogger(), "handlers", [])


@pytest.fixture(autouse=True)
def same_level_after():
    level = log.get_verbosity()
    yield
    log.set_verbosity(level)


def test_lines_go_to_stderr_from_the_level_on(capsys, alone):
    alone()
    log.set_verbosity(logging.WARNING)
    log.info("hidden")
    log.warn("%d left", 3)
    log.set_verbosity(logging.INFO)
    log.info("shown")
    log.log_if(logging.INFO, "never", False)
    log.flush()
    assert capsys.readouterr().err == "WARNING:tensorflow:3 left\nINFO:tensorflow:shown\n"


def test_counted_messages(capsys, alone):
    alone()
    log.set_verbosity(logging.INFO)
    for i in range(7):
        log.log_every_n(logging.INFO, "every third %d", 3, i)
        log.log_first_n(logging.INFO, "first two %d", 2, i)
    lines = capsys.readouterr().err.splitlines()
    assert [line[-1] for line in lines if "every" in line] == ["0", "3", "6"]
    assert [line[-1] for line in lines if "first" in line] == ["0", "1"]


def test_a_program_with_logging_of_its_own_gets_each_message_once(capsys, monkeypatch):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    log.error("once")
    assert [r.getMessage() for r in records] == ["once"]
    assert capsys.readouterr().err == ""

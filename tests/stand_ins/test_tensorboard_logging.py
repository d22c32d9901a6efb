"""`tensorboard_logging`: messages for the log that are events as well. Values and errors are TensorFlow 1.15's."""

import logging

import pytest

from tfexp.stand_ins import tensorboard_logging as logged


class Writer:
    def __init__(self):
        self.messages = []

    def add_event(self, event):
        self.messages.append((event.log_message.level, event.log_message.message))


@pytest.fixture
def writer(monkeypatch):
    for name, value in {"level": logged.WARN, "writer": None, "is_set": False}.items():
        monkeypatch.setattr(logged._Settings, name, value)
    return Writer()


def test_what_is_grave_enough_is_an_event_and_in_the_log(writer, caplog):
    logged.set_summary_writer(writer)
    logged.info("not %s", "this")
    logged.warn("yes %d%%", 3)
    logged.fatal("plain")
    assert writer.messages == [(30, "yes 3%"), (50, "plain")]
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == writer.messages
    logged.set_verbosity("DEBUG")
    logged.debug("this as well")
    assert logged.get_verbosity() == "DEBUG" and writer.messages[2:] == [(10, "this as well")]


def test_without_a_writer_there_is_the_log(writer, caplog):
    with pytest.raises(RuntimeError, match=r"Must call set_summary_writer before doing any logging"):
        logged.debug("text")
    logged.set_summary_writer(None)
    logged.error("text")
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(logging.ERROR, "text")]


def test_levels_are_words(writer):
    for wrong in ("NO", 30):
        with pytest.raises(ValueError, match=f"Level {wrong} is not a valid tensorboard_logging level"):
            logged.log(wrong, "text")
        with pytest.raises(ValueError, match=f"Level {wrong} is not a valid tensorboard_logging level"):
            logged.set_verbosity(wrong)

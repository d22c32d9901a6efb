"""Who is silent, who was heard of again, and whose absence it is."""

from __future__ import annotations

import threading

from tfexp.distributed.watchdog import Silent, Spoke, Watchdog


def _watching() -> Watchdog:
    watchdog = Watchdog(within=5)
    watchdog.watch("a", 0)
    watchdog.watch("b", 0)
    assert watchdog.look(0) == []
    return watchdog


def test_silence_is_said_once_and_its_end_with_how_long_it_was() -> None:
    watchdog = _watching()
    for now in (2, 4):
        watchdog.hear("b", now)
        assert watchdog.look(now) == []
    watchdog.hear("b", 6)
    assert watchdog.look(6) == [Silent("a", 6)]
    assert watchdog.look(7) == []
    assert list(watchdog.silent_for(5, 7)) == ["a"]
    assert list(watchdog.silent_for(8, 7)) == []
    watchdog.hear("a", 9)
    assert watchdog.look(9) == [Spoke("a", 9)]
    assert list(watchdog.silent_for(0, 9)) == []


def test_who_is_left_is_not_missed_and_nobody_else_is_watched() -> None:
    watchdog = _watching()
    watchdog.leave("a")
    watchdog.hear("a", 1)
    watchdog.hear("stranger", 1)
    for now in (4, 8):
        watchdog.hear("b", now)
        assert watchdog.look(now) == []


def test_who_was_away_himself_blames_nobody() -> None:
    watchdog = _watching()
    assert watchdog.look(100) == []
    assert watchdog.look(104) == []
    assert watchdog.look(106) == [Silent("a", 6), Silent("b", 6)]


def test_a_word_that_comes_while_a_task_is_left_does_not_bring_it_back() -> None:
    watchdog = Watchdog(5.0)
    leaving = threading.Thread(target=watchdog.leave, args=["ps:0"])

    class Heard(dict[str, float]):
        def __contains__(self, task: object) -> bool:
            found = super().__contains__(task)
            leaving.start()
            leaving.join(0.05)  # it would be done, did it not wait
            return found

    watchdog._heard = Heard({"ps:0": 0.0})
    watchdog.hear("ps:0", 1.0)
    leaving.join(60)
    assert watchdog.look(9.0) == []

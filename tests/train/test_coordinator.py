"""Coordinators and looping threads."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import tfexp as tf
from tfexp.core.errors import OutOfRangeError


def thread(target: Any, *args: Any) -> threading.Thread:
    made = threading.Thread(target=target, args=args, daemon=True)
    made.start()
    return made


def test_threads_stop_together() -> None:
    coord = tf.train.Coordinator()
    threads = [thread(coord.wait_for_stop) for _ in range(3)]
    assert not coord.should_stop() and not coord.wait_for_stop(0)
    coord.request_stop()
    coord.join(threads)
    assert coord.should_stop() and coord.joined
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined


def test_a_failure_in_a_thread_is_the_joiner_s() -> None:
    coord = tf.train.Coordinator()

    def fail() -> None:
        with coord.stop_on_exception():
            raise KeyError("lost")

    def fail_later() -> None:
        coord.wait_for_stop()
        coord.request_stop(ValueError("second"))

    coord.register_thread(thread(fail_later))
    coord.register_thread(thread(fail))
    with pytest.raises(KeyError, match="lost"):
        coord.join()
    with pytest.raises(KeyError, match="lost"):
        coord.raise_requested_exception()
    # Nobody is left to raise it later.
    with pytest.raises(ValueError, match="too late"):
        coord.request_stop(ValueError("too late"))
    coord.request_stop()


def test_the_end_of_the_input_is_no_failure() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(OutOfRangeError(None, None, "end"))
    coord.join([])
    coord = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    with coord.stop_on_exception():
        raise KeyError("x")
    coord.raise_requested_exception()
    coord.join()
    strict = tf.train.Coordinator(())
    strict.request_stop(OutOfRangeError(None, None, "end"))
    with pytest.raises(OutOfRangeError):
        strict.join()


def test_exceptions_in_all_forms() -> None:
    coord = tf.train.Coordinator()
    try:
        raise KeyError("as a tuple")
    except KeyError:
        coord.request_stop(sys.exc_info())  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="as a tuple"):
        coord.join()
    with pytest.raises(ValueError, match="ex must be an exception"):
        tf.train.Coordinator().request_stop("text")  # type: ignore[arg-type]


def test_threads_that_do_not_stop() -> None:
    let_go = threading.Event()
    straggler = threading.Thread(target=let_go.wait, name="straggler", daemon=True)
    straggler.start()
    coord = tf.train.Coordinator()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running: straggler"):
        coord.join([straggler], stop_grace_period_secs=0.01)
    coord.clear_stop()
    coord.request_stop()
    coord.join([straggler], stop_grace_period_secs=0.01, ignore_live_threads=True)
    coord.clear_stop()
    coord.request_stop(KeyError("why"))
    with pytest.raises(KeyError, match="why"):
        coord.join([straggler], stop_grace_period_secs=0.01)
    let_go.set()
    straggler.join()


def test_joining_waits_for_threads_that_end_by_themselves() -> None:
    coord = tf.train.Coordinator()
    go_on = threading.Event()
    worker = thread(go_on.wait)
    joiner = thread(coord.join, [worker])
    assert joiner.is_alive()
    go_on.set()
    joiner.join(60)
    assert coord.joined


def test_threads_that_were_never_started_have_ended() -> None:
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    coordinator.join([threading.Thread(target=coordinator.request_stop)])
    assert coordinator.joined


def test_loopers() -> None:
    coord = tf.train.Coordinator()
    seen: list[Any] = []

    def count(step: int, *, limit: int) -> None:
        seen.append(step)
        if len(seen) == limit:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, None, count, (7,), {"limit": 3})
    coord.join()
    assert seen == [7, 7, 7] and not looper.is_alive()


def test_a_looper_of_one_s_own() -> None:
    coord = tf.train.Coordinator()
    seen: list[str] = []

    class Looper(tf.train.LooperThread):
        def start_loop(self) -> None:
            seen.append("start")

        def run_loop(self) -> None:
            seen.append("run")
            if len(seen) == 3:
                coord.request_stop()

        def stop_loop(self) -> None:
            seen.append("stop")

    Looper(coord, 1e-4).start()
    coord.join()
    assert seen == ["start", "run", "run", "stop"]
    failing = tf.train.Coordinator()
    tf.train.LooperThread.loop(failing, None, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing.join()
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread(None, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="require that you also pass 'target'"):
        tf.train.LooperThread(coord, None, args=(1,))


def test_a_coordinator_that_has_joined_can_be_asked_to_stop() -> None:
    coordinator = tf.train.Coordinator()
    coordinator.join([])
    coordinator.request_stop()
    assert coordinator.should_stop()

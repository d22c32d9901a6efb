"""How a step's thread waits: until something settles, its deadline passes, or the step is cancelled.

Somebody who waits in vain is told what may be missing: after some seconds, the advice that other parts of the library have
registered is logged once, with the name of what is waited for.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from tfexp.core import log
from tfexp.core.errors import CancelledError
from tfexp.core.waiting import Waiting
from tfexp.plan.plan import Step
from tfexp.runtime.step import StepState, current

# Seconds after which waiting in vain is worth a line in the log.
HINT_AFTER = 5.0
# As long as a thread may sleep at once; longer than anyone will.
_FOR_EVER = threading.TIMEOUT_MAX
# As long as the main thread sleeps at once: a Ctrl-C that comes just before it falls asleep does not wake it (CPython looks
# for signals before it lets go of the interpreter, and again when it is back).
_LOOKS_UP_AFTER = 0.5

# What may be wrong with a graph whose steps wait: text, or None when nothing is.
Advice = Callable[[Any], str | None]
_advice: list[Advice] = []


def register_advice(advice: Advice) -> None:
    """Have `advice(graph)` asked when a step of the graph has been waiting for a while."""
    _advice.append(advice)


def advice_for(graph: Any) -> str | None:
    """What there is to say to somebody who waits for a step of the graph."""
    found = [text for advice in _advice if graph is not None and (text := advice(graph))]
    return " ".join(found) or None


def sleep_until(
    arrived: Callable[[float], bool],
    state: StepState | None,
    hint: Callable[[], None] | None,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Call `arrived(seconds)`, which sleeps for at most that long, until it says yes.

    At its deadline the step is cancelled (which makes what it waits for arrive); after HINT_AFTER seconds `hint` is called.
    """
    if state is not None and state.on_sleep is not None:
        state.on_sleep()
    deadline = None if state is None else state.deadline
    hint_at = None if hint is None else now() + HINT_AFTER
    at_once = _LOOKS_UP_AFTER if threading.current_thread() is threading.main_thread() else _FOR_EVER
    while True:
        until = min((t for t in (deadline, hint_at) if t is not None), default=None)
        if arrived(at_once if until is None else min(at_once, max(0.0, until - now()))):
            return
        if deadline is not None and now() >= deadline:
            assert state is not None
            state.expire()
            deadline = hint_at = None
        if hint_at is not None and now() >= hint_at:
            assert hint is not None
            hint()
            hint_at = None


def log_hint(step: Step, waiting: Waiting) -> None:
    """Say that the step waits, and why that may be, if there is anything to say about it."""
    advice = advice_for(None if step.origin is None else step.origin.graph)
    if advice is not None:
        log.warn("Node %s has been waiting for %g s for %s. %s", step.name, HINT_AFTER, waiting.what, advice)


def wait_for(waiting: Any, step: Step | None = None) -> Any:
    """The result of a kernel, waited for in this thread, which has nothing else to do. `step`: the node's in its plan."""
    while isinstance(waiting, Waiting):
        waiting = _wait_once(waiting, step)
    return waiting


def wait_without_end(waiting: Waiting) -> None:
    """Sleep until it has settled, whatever becomes of the step."""
    settled = threading.Event()
    waiting.on_settled(settled.set)
    settled.wait()


def _wait_once(waiting: Waiting, step: Step | None) -> Any:
    state = current.step
    hint = None if step is None else functools.partial(log_hint, step, waiting)
    settled = threading.Lock()
    settled.acquire()
    waiting.on_settled(settled.release)
    forget = None if state is None else state.on_cancel(lambda: waiting.give_up(_reason(state)), keeps_time=True)
    try:
        sleep_until(lambda seconds: settled.acquire(timeout=seconds), state, hint)
    except BaseException as error:  # Ctrl-C
        waiting.give_up(CancelledError(None, None, f"The step was interrupted: {type(error).__name__}"))
        raise
    finally:
        if forget is not None:
            forget()
    return waiting.result()


def _reason(state: StepState) -> Any:
    return state.reason or CancelledError(None, None, "The step was cancelled")

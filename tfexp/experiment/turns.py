"""Whose turn it is: how a loop that trains takes its part in the steps of a run, of which there are `total` in all.

The loop asks `may_begin`, and makes a step by `make`: that runs what `fetches` says, and tells `made` what that gave, which
says the step that the variables are of now. Between `begin` and `end`, whatever else this process trains with goes on by
itself.
"""

from __future__ import annotations

import contextlib
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import tfexp as tf
from tfexp.experiment.build import Program, Tower
from tfexp.experiment.errors import Diverged

__all__ = ["Alone", "Apart", "Made", "Over", "Towers", "Turns", "check_loss", "turns_of_client"]

_TRACED = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
_UNMETERED = contextlib.nullcontext()


class Over(Exception):  # noqa: N818 -- what happened
    """The training is over, say those that this loop trains with."""


class Made(NamedTuple):
    """A step: which one it was, its loss, what else was fetched, and what was traced of it, if it was to be."""

    step: int
    loss: float
    batch: Any
    metadata: tf.RunMetadata | None


class Turns(ABC):
    """Of a loop that trains with `program`."""

    def __init__(self, program: Program, total: int) -> None:
        self.program, self.total = program, total
        self.own = 0
        """Steps that this loop has made."""

    @property
    def fetches(self) -> Any:
        return self.program.train

    def make(
        self,
        session: tf.Session,
        batch: Any = (),
        *,
        traced: bool = False,
        metered: contextlib.AbstractContextManager[Any] | None = None,
    ) -> Made:
        """Make a step; `batch` is fetched beside the loss. `metered`: entered while it runs. Raises Over as `made` does."""
        metadata = tf.RunMetadata() if traced else None
        fetches = (self.fetches, self.program.loss, batch)
        options = _TRACED if traced else None
        with metered or _UNMETERED:
            fetched, loss, values = session.run(fetches, self.program.batches.next_feeds(), options, metadata)
        return Made(self.made(session, fetched), float(loss), values, metadata)

    # What follows is for those that train beside others; most need little of it.

    def join(self, session: tf.Session) -> int:
        """Take part, in a new session; the chief first prepares what all share beside the variables. The step there is.

        Raises Over when there are no more steps.
        """
        return int(session.run(self.program.global_step))

    def begin(self, session: tf.Session, step: int) -> None:  # noqa: B027
        """The training goes on after `step` steps, with this session."""

    @abstractmethod
    def may_begin(self, step: int) -> bool:
        """Whether this loop is to begin another step, when it has seen `step` of them."""

    @abstractmethod
    def made(self, session: tf.Session, fetched: Any) -> int:
        """The step that the variables are of. Raises Over when no step was made, as there are no more."""

    def steps(self) -> list[int]:
        """Steps made by each copy of the model that this process trains."""
        return [self.own]

    def dropped(self, session: tf.Session) -> list[int] | None:
        """The gradients of each worker that came too late; None where none can."""
        return None

    @contextlib.contextmanager
    def held(self, session: tf.Session) -> Iterator[None]:
        """The variables are those of one step in the block, if whoever changes them can be made to wait."""
        yield

    def end(self, session: tf.Session) -> None:  # noqa: B027
        """This loop will make no more steps: the others of this process end, too. Raises what went wrong in them."""

    def dismiss(self, session: tf.Session) -> None:  # noqa: B027
        """The chief lets the others go, if it is he who does: what they have made is saved."""

    def abandon(self) -> None:  # noqa: B027
        """As `end`, after an error: nothing is waited for."""


class Alone(Turns):
    """The only loop; `copies` of the model have a part in each of its steps."""

    def __init__(self, program: Program, total: int, copies: int) -> None:
        super().__init__(program, total)
        self._copies = copies

    @property
    def fetches(self) -> Any:
        return self.program.train.op

    def begin(self, session: tf.Session, step: int) -> None:
        self._step = step

    def may_begin(self, step: int) -> bool:
        return step < self.total

    def made(self, session: tf.Session, fetched: Any) -> int:
        self.own += 1
        self._step += 1
        return self._step

    def steps(self) -> list[int]:
        return [self.own] * self._copies


class Apart(Turns):
    """One of `workers` loops, each in its process, that make steps by themselves.

    They make `total` steps in all, to the step: a loop begins another one only while it has seen at most `total - workers`
    of them. At most `workers - 1` are left in the end, for the one that is then `alone`.
    """

    def __init__(self, program: Program, total: int, workers: int) -> None:
        super().__init__(program, total)
        self._workers = workers
        self.alone = False

    def may_begin(self, step: int) -> bool:
        return step <= self.total - (1 if self.alone else self._workers)

    def made(self, session: tf.Session, fetched: Any) -> int:
        self.own += 1
        return int(fetched)


class Towers(Turns):
    """The first tower's loop; a thread for each of the others, which make steps by themselves with the same session.

    They begin after step `alone_until`.
    """

    def __init__(self, program: Program, total: int, alone_until: int) -> None:
        super().__init__(program, total)
        assert program.stale is not None
        self._stale = program.stale
        self._alone_until = alone_until
        self._join_in = threading.Event()
        self._lock = threading.Lock()
        self._left = 0
        self._exhausted = self._abandoned = False
        """Whether the steps were all begun; and whether no more are to be."""
        self._made = [0] * len(program.others)
        self._threads: list[threading.Thread] = []
        self._error: BaseException | None = None

    @property
    def fetches(self) -> Any:
        return self.program.train, self._stale.measured[0]

    def begin(self, session: tf.Session, step: int) -> None:
        for thread in self._threads:  # of a session that is closed
            thread.join()
        self._left, self._error = self.total - step, None
        self._exhausted = self._abandoned = False
        self._join_in.clear()
        self._see(step)
        self._threads = [
            threading.Thread(target=self._train, args=(session, number, tower), name=f"tower-{number + 1}", daemon=True)
            for number, tower in enumerate(self.program.others)
        ]
        for thread in self._threads:
            thread.start()

    def _train(self, session: tf.Session, number: int, tower: Tower) -> None:
        self._join_in.wait()
        try:
            while self.may_begin(0):
                fetches = (tower.train, self._stale.measured[number + 1], tower.loss)
                step, staleness, loss = session.run(fetches, tower.batches.next_feeds())
                self._made[number] += 1
                self._give_back_if_dropped(staleness)
                if not math.isfinite(loss):
                    raise Diverged(int(step), f"the loss of tower {number + 1} is {loss} at step {int(step)}")
        except BaseException as error:  # the loop of the first tower raises it
            with self._lock:
                self._error = self._error or error
            self.abandon()

    def may_begin(self, step: int) -> bool:
        with self._lock:
            self._exhausted = not self._left
            self._left -= not self._exhausted
            return not self._exhausted

    def _give_back_if_dropped(self, staleness: int) -> None:
        """A gradient that is dropped makes no step: whoever made it makes another one."""
        if self._stale.drops(staleness):
            with self._lock:
                self._left += not self._abandoned

    def _see(self, step: int) -> None:
        if step >= self._alone_until:
            self._join_in.set()

    def made(self, session: tf.Session, fetched: Any) -> int:
        step, staleness = map(int, fetched)
        self.own += 1
        self._give_back_if_dropped(staleness)
        self._see(step)
        return step

    def steps(self) -> list[int]:
        return [self.own, *self._made]

    def end(self, session: tf.Session) -> None:
        if not self._exhausted:
            self.abandon()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        with self._lock:
            self._left, self._abandoned = 0, True
        self._join_in.set()


def check_loss(loss: float, step: int) -> None:
    """Raises Diverged for the loss of a step that is not finite."""
    if not math.isfinite(loss):
        raise Diverged(step, f"the loss is {loss} at step {step}")


def turns_of_client(program: Program, total: int, copies: int, alone_until: int) -> Turns:
    """Of the only process that trains, with so many copies of the model, of which the others begin after a step."""
    return Towers(program, total, alone_until) if program.others else Alone(program, total, copies)

"""Whose turn it is: how a loop that trains takes its part in the steps of a run, of which there are `total` in all.

The loop asks `may_begin`, runs a step with what `fetches` says, and tells `made` what that gave, which says the step that
the variables are of now. Between `begin` and `end`, whatever else this process trains with goes on by itself.
"""

from __future__ import annotations

import contextlib
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import tfexp as tf
from tfexp.experiment.build import Program, Tower
from tfexp.experiment.errors import Diverged

__all__ = ["Alone", "Apart", "Over", "Towers", "Turns", "turns_of_client"]


class Over(Exception):  # noqa: N818 -- what happened
    """The training is over, say those that this loop trains with."""


class Turns(ABC):
    """Of a loop that trains with `program`."""

    def __init__(self, program: Program, total: int) -> None:
        self.program, self.total = program, total
        self.own = 0
        """Steps that this loop has made."""

    @property
    def fetches(self) -> Any:
        return self.program.train

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
    """The first tower's loop; a thread for each of the others, which make steps by themselves with the same session."""

    def __init__(self, program: Program, total: int) -> None:
        super().__init__(program, total)
        self._lock = threading.Lock()
        self._left = 0
        self._made = [0] * len(program.others)
        self._threads: list[threading.Thread] = []
        self._error: BaseException | None = None

    def begin(self, session: tf.Session, step: int) -> None:
        for thread in self._threads:  # of a session that is closed
            thread.join()
        self._left, self._error = self.total - step, None
        self._threads = [
            threading.Thread(target=self._train, args=(session, number, tower), name=f"tower-{number + 1}", daemon=True)
            for number, tower in enumerate(self.program.others)
        ]
        for thread in self._threads:
            thread.start()

    def _train(self, session: tf.Session, number: int, tower: Tower) -> None:
        try:
            while self.may_begin(0):
                step, loss = session.run((tower.train, tower.loss), tower.batches.next_feeds())
                self._made[number] += 1
                if not math.isfinite(loss):
                    raise Diverged(int(step), f"the loss of tower {number + 1} is {loss} at step {int(step)}")
        except BaseException as error:  # the loop of the first tower raises it
            with self._lock:
                self._error = self._error or error
            self.abandon()

    def may_begin(self, step: int) -> bool:
        with self._lock:
            if not self._left:
                return False
            self._left -= 1
            return True

    def made(self, session: tf.Session, fetched: Any) -> int:
        self.own += 1
        return int(fetched)

    def steps(self) -> list[int]:
        return [self.own, *self._made]

    def end(self, session: tf.Session) -> None:
        self.abandon()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        with self._lock:
            self._left = 0


def turns_of_client(program: Program, total: int, copies: int) -> Turns:
    """Of the only process that trains, with so many copies of the model."""
    return Towers(program, total) if program.others else Alone(program, total, copies)

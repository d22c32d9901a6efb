"""`update=sync` between graphs: how a worker's loop takes part in steps that all workers make together."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import tfexp as tf
from tfexp.experiment.build import Program
from tfexp.experiment.turns import Over, Turns
from tfexp.train.generations import OVER, of_round, step_of_round
from tfexp.train.once_per_step import OncePerStep

__all__ = ["Together"]

# Seconds between two looks at what others do, and how many of them show that they do nothing.
_LOOK_EVERY, _LOOKS = 0.05, 20


class Together(Turns):
    """One of several loops, each in its process, that make each step together, in generations (`train.generations`).

    Only the chief decides when it is over. `spare`: the others do not need each loop in each step.
    """

    def __init__(self, program: Program, total: int, *, chief: bool, spare: bool) -> None:
        super().__init__(program, total)
        assert program.sync is not None
        self._rule: OncePerStep = program.sync
        self._chief, self._spare = chief, spare
        self._updates = tf.train.Coordinator()
        self._threads: list[threading.Thread] = []
        self._round = 0
        self.lost = 0
        """Gradients of this loop that came too late."""

    @property
    def fetches(self) -> Any:
        return self.program.train, self._rule.used

    def join(self, session: tf.Session) -> int:
        self._round = self._lead(session) if self._chief else self._follow(session)
        return step_of_round(self._round)

    def _lead(self, session: tf.Session) -> int:
        for thread in self._threads:  # of a session that is closed
            thread.join()
        marks = self._rule.generations
        if not session.run(marks.exist):
            session.run(marks.make)
        return self._rule.begin(session)

    def _follow(self, session: tf.Session) -> int:
        """Have a part in the generation; in the next one, if a former session had one in this and the others wait for it."""
        marks = self._rule.generations
        known: tuple[int, int] | None = None
        looks = 0
        while True:
            if session.run(marks.exist):
                generation, has_part, over, step = map(int, session.run(marks.look))
                if over:
                    raise Over
                goes_on = known is not None and known[0] == generation and known[1] < step
                if generation and (not has_part or goes_on):
                    return int(session.run(self._rule.join))
                if known is None or known[0] != generation:
                    known, looks = (generation, step), 0
                if looks == (_LOOKS if self._spare else 0) and generation:
                    session.run(self._rule.disband)
                looks += 1
            self.pause()

    def pause(self) -> None:
        """Between two looks: nobody tells a session that a mark has changed."""
        threading.Event().wait(_LOOK_EVERY)

    def begin(self, session: tf.Session, step: int) -> None:
        if self._chief:
            self._updates = tf.train.Coordinator()
            runner = self._rule.get_chief_queue_runner()
            self._threads = runner.create_threads(session, self._updates, daemon=True, start=True)

    def may_begin(self, step: int) -> bool:
        return step < self.total

    def made(self, session: tf.Session, fetched: Any) -> int:
        number, used = map(int, fetched)
        while True:
            self._still_together(number)
            if self._round < number < OVER:
                break
            number, more = map(int, session.run(self._rule.take_up))  # of before this loop took part
            used += more
        self._round = number
        self.own += 1
        if not used:
            self.lost += 1
            session.run(self._rule.count_dropped)
        return step_of_round(number)

    def _still_together(self, number: int) -> None:
        """Raises AbortedError when the generation has ended, Over when the training has."""
        if self._chief:
            if self._updates.should_stop():
                self._why_no_updates()
        elif number == OVER:
            raise Over
        if number < OVER and of_round(number) > of_round(self._round):
            raise tf.errors.AbortedError(None, None, "the workers that make the steps together have begun anew")

    def _why_no_updates(self) -> None:
        try:
            self._updates.raise_requested_exception()
        except tf.errors.OpError as error:
            if self._rule.disbanded(error):
                raise tf.errors.AbortedError(None, None, "a worker has come back, and all begin anew") from error
            raise

    def dropped(self, session: tf.Session) -> list[int] | None:
        return [int(count) for count in session.run(self._rule.dropped)]

    @contextlib.contextmanager
    def held(self, session: tf.Session) -> Iterator[None]:
        # Where no worker is spare, no step is made without the chief, who is here.
        if self._rule.hold is None:
            yield
            return
        session.run(self._rule.hold)
        yield
        session.run(self._rule.release)

    def end(self, session: tf.Session) -> None:
        """The chief ends the updates, none of them half-way."""
        if not self._chief:
            return
        session.run(self._rule.disband)
        for thread in self._threads:
            thread.join()
        with contextlib.suppress(tf.errors.AbortedError):
            self._why_no_updates()

    def dismiss(self, session: tf.Session) -> None:
        session.run(self._rule.end)

    def abandon(self) -> None:
        self._updates.request_stop()

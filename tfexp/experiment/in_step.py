"""How a worker trains with `replication=all_reduce`: it has all variables, and a part in every step.

Before each step the chief says whether there is one, so that all stop after the same step whatever makes the chief stop.
Nobody makes a step without the others: when one is lost, the run ends with what the chief has saved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tfexp as tf
from tfexp.experiment.build import Program
from tfexp.experiment.recovering import State, lost
from tfexp.experiment.turns import Turns
from tfexp.train.peers import Peers

__all__ = ["InStep", "OwnState"]

T = TypeVar("T")

# Seconds in which whoever was lost is found, and the run ended, before those who miss him fail.
_FOUND_WITHIN = 5.0


class InStep(Turns):
    def __init__(self, program: Program, total: int, *, chief: bool) -> None:
        super().__init__(program, total)
        self._peers = _peers_of(program)
        self._chief = chief

    def begin(self, session: tf.Session, step: int) -> None:
        self._session, self._step = session, step

    def may_begin(self, step: int) -> bool:
        return step < self.total and self._agreed(True)

    def _agreed(self, goes_on: bool) -> bool:
        """What the chief says, who says this."""
        return bool(self._session.run(self._peers.goes_on, {self._peers.go_on: goes_on} if self._chief else None))

    def made(self, session: tf.Session, fetched: Any) -> int:
        self.own += 1
        self._step = int(fetched)
        return self._step

    def end(self, session: tf.Session) -> None:
        if self._chief and self._step < self.total:
            self._agreed(False)


class OwnState(State):
    """The variables that each worker has; they begin as those of the chief."""

    @contextlib.contextmanager
    def waited_for(self, look_every: float) -> Iterator[tf.Session]:
        with tf.Session(self._member.target, graph=self._program.graph, config=self._config) as session:
            session.run(_peers_of(self._program).share)
            yield session

    def provide(self, session: tf.Session, *, restore: bool) -> None:
        if restore:
            self._checkpoints.restore(session)
        else:
            session.run(self._program.initialize)
        session.run(_peers_of(self._program).share)

    def see_through(self, attempt: Callable[[], T]) -> T:
        try:
            return attempt()
        except tf.errors.OpError as error:
            if lost(error):
                self._member.wait_for_exit(_FOUND_WITHIN)
            raise


def _peers_of(program: Program) -> Peers:
    assert program.peers is not None
    return program.peers

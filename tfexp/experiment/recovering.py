"""How a worker goes on when a task that it needs is lost: in a new session, with the values that are left.

Where the parameter servers live, nothing is lost: whoever was started again takes up what they have. Where one was
started again its variables have no values: then the chief restores all of them, on all servers, from the newest checkpoint,
and the others wait for that. It does so, too, where all copies of the model make an update together and this was cut off
in the middle, which only its own end does. An update of a worker that trains by itself that failed is not made again, as
it may have reached the variables all the same: the next batch makes the next step, so that no gradient is applied twice.
How those go on that make each step together, `train.generations` says.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import tfexp as tf
from tfexp.distributed.hosted import Member
from tfexp.distributed.hosting import Message
from tfexp.experiment.build import Program
from tfexp.experiment.checkpoints import Checkpoints
from tfexp.experiment.inputs.input import Batches

__all__ = ["State", "fed", "lost", "recovering"]

T = TypeVar("T")

# Seconds before the next try to reach a task that is gone: the first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5


def lost(error: tf.errors.OpError) -> bool:
    """Whether it is what the loss of a task makes of a step or a session."""
    if isinstance(error, tf.errors.FailedPreconditionError):
        return "uninitialized" in error.message  # the variables are about to be restored
    return isinstance(error, tf.errors.AbortedError | tf.errors.UnavailableError)


def recovering(attempt: Callable[[], T]) -> T:
    """What `attempt` gives, made as often as it takes while tasks are lost."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return attempt()
        except tf.errors.OpError as error:
            if not lost(error):
                raise
            why = " ".join(error.message.splitlines()[:2])  # the first one may only say where it comes from
            print(f"a task was lost, going on in a new session: {why}", flush=True)
        # Nobody tells a client that a server is back.
        threading.Event().wait(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


class State:
    """The variables that all workers have in common, as sessions of one worker have them."""

    def __init__(self, member: Member, program: Program, checkpoints: Checkpoints, config: tf.ConfigProto):
        self._member, self._program, self._checkpoints, self._config = member, program, checkpoints, config
        self.restored: str | None = None
        """The checkpoint that the last session was restored from; None if its variables had their values."""

    def wait_for(self, kind: str, session: tf.Session) -> Message:
        """This word of the driver; raises what the session says when a parameter server is lost before it comes."""
        while (message := self._member.wait_for(kind, "lost"))["kind"] == "lost":
            session.run(self._program.global_step)  # a session that is younger than the loss is well
        return message

    def see_through(self, attempt: Callable[[], T]) -> T:
        """What `attempt` gives, or raises, which is made with sessions of this; the loss of a task is overcome."""
        return recovering(attempt)

    @contextlib.contextmanager
    def waited_for(self, look_every: float) -> Iterator[tf.Session]:
        """A session in which the chief has provided all values."""
        program = self._program
        manager = tf.train.SessionManager(ready_op=program.ready, graph=program.graph, recovery_wait_secs=look_every)
        with manager.wait_for_session(self._member.target, config=self._config, max_wait_secs=None) as session:
            yield session

    @contextlib.contextmanager
    def provided(self, *, restore: bool) -> Iterator[tf.Session]:
        """The chief's session: what has no value gets the newest checkpoint's, or where there is none, its initial one.

        With `restore` there has to be one. Raises ExperimentError as `Checkpoints.restoring`.
        """
        with tf.Session(self._member.target, graph=self._program.graph, config=self._config) as session:
            self.provide(session, restore=restore)
            yield session

    def provide(self, session: tf.Session, *, restore: bool) -> None:
        """`provided`, in a session that is there."""
        program = self._program
        assert program.ready is not None  # only a graph that shares nothing has none
        missing = len(session.run(program.ready))
        self.restored = None
        if missing or self._torn(session):
            if 0 < missing < len(program.variables):
                self._forget_all()
            self._checkpoints = self._checkpoints.newest()
            if restore or self._checkpoints.last is not None:
                self._checkpoints.restore(session)
                self.restored = self._checkpoints.last
            else:
                session.run(program.initialize)
        if program.updates is not None:
            session.run(program.updates.settle)

    def _torn(self, session: tf.Session) -> bool:
        """Whether an update was cut off; then that is known until the variables are those of one step."""
        updates = self._program.updates
        if updates is None or not session.run(updates.known) or not session.run(updates.torn):
            return False
        session.run(updates.doubt)
        return True

    def _forget_all(self) -> None:
        """Take the variables' values on all parameter servers.

        Some of them were lost and the others are ahead of the checkpoint. Were a chief killed while it restores, the
        next one could not tell which are; but it can tell those without a value.
        """
        address = self._member.cluster.task_address("ps", 0)
        tf.Session.reset(f"grpc://{address}", config=tf.ConfigProto(device_filters=["/job:ps"]))


@contextlib.contextmanager
def fed(batches: Batches, session: tf.Session, begin: int) -> Iterator[None]:
    """Batches come in the block, from number `begin` on; an error of theirs is said in words for the user."""
    try:
        batches.start(session, begin)
        yield
    except tf.errors.OpError as error:
        problem = None if lost(error) else batches.explain(error)
        with contextlib.suppress(tf.errors.OpError):  # of a session that is of no use any more
            batches.stop()
        if problem is None:
            raise
        raise problem from error
    except BaseException:
        batches.stop()
        raise
    batches.stop()

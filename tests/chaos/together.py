"""Synchronous training in a simulated cluster (`world`): two workers, two parameter servers, and what must hold of it.

The graphs, the marks and the workers' loops are those of the runner (`train.once_per_step`, `experiment.together`,
`experiment.recovering`); the sessions are the simulation's. Every gradient that a worker makes has a number of its own and
adds its part of the mean to that number's place in a variable on each server: so what was applied can be read off.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from experiments.saturation.strands import asleep, handing_over
from tests.chaos.simulation import Outcome, Violation
from tests.chaos.world import PS, WORKERS, Faults, Host, World
from tfexp.core import errors
from tfexp.core.errors import OpError
from tfexp.distributed import messages as m
from tfexp.experiment.recovering import State, lost
from tfexp.experiment.together import Together
from tfexp.experiment.turns import Over
from tfexp.train.generations import step_of_round
from tfexp.train.once_per_step import OncePerStep

__all__ = ["simulate_together"]

PLACES = 4096
_MORE_STEPS = 5
_PATIENCE = 40000
_SAVE_EVERY = 4
FAULTS = Faults(0.002, 0.002, 0.002, 0.004, kill=0.0015, suspend=0.0015, back=0.02)


class _Program:
    """A worker's graph, with what the runner has of one."""

    def __init__(self, number: int, needed: int):
        with tf.Graph().as_default() as self.graph:
            self.number = tf.placeholder(tf.int32, [], name="number")
            self.saved = [tf.placeholder(tf.int64, []), *(tf.placeholder(tf.float32, [PLACES]) for _ in PS)]
            with tf.device(PS[0]):
                self.global_step = tf.train.get_or_create_global_step()
            sums = []
            for task in PS:
                with tf.device(task):
                    sums.append(tf.get_variable(f"sum_{len(sums)}", [PLACES], initializer=tf.zeros_initializer()))
            with tf.device(WORKERS[number]):
                # As a gradient it is made of what its server has.
                gradients = [tf.one_hot(self.number, PLACES) + 0.0 * tf.gather(each, 0) for each in sums]
                self.sync = OncePerStep(tf.train.GradientDescentOptimizer(-1.0), needed, len(WORKERS), number)
                self.train = self.sync.apply_gradients(zip(gradients, sums, strict=True), self.global_step)
            self.variables = (self.global_step, *sums)
            self.updates = self.sync.updates
            self.ready = tf.report_uninitialized_variables(self.variables)
            self.initialize = tf.variables_initializer(self.variables)
            self.restore = [tf.assign(v, saved).op for v, saved in zip(self.variables, self.saved, strict=True)]
            runner = self.sync.get_chief_queue_runner()
            self.update, self.cancel = runner.enqueue_ops[0], runner.cancel_op


class _Session:
    """A session of a worker's, as far as the runner uses one."""

    def __init__(self, training: _Training, host: Host, graph: Any):
        self.training, self.host, self.graph = training, host, graph
        config = config_pb2.ConfigProto(device_filters=["/job:ps", host.name])
        self._handle = self._ask(m.CreateSession(graph.as_graph_def(), config)).session

    def _ask(self, request: m.Request, to: str | None = None) -> Any:
        answers: list[tuple[Any, OpError | None]] = []
        self.training.world.ask(self.host, to or self.host.name, request, lambda *answer: answers.append(answer), wait=False)
        asleep(lambda: bool(answers))
        reply, error = answers[0]
        self.training.ended[type(error).__name__ if error else "ok"] += 1
        if error is not None:
            raise error
        return reply

    def run(self, fetches: Any, feeds: dict[Any, Any] | None = None, options: Any = None) -> Any:
        """Of the options there are deadlines, which do not come: there is no clock."""
        several = isinstance(fetches, list | tuple)
        elements = [self.graph.as_graph_element(fetch) for fetch in (fetches if several else [fetches])]
        tensors = [element for element in elements if isinstance(element, tf.Tensor)]
        targets = tuple(element.name for element in elements if not isinstance(element, tf.Tensor))
        given = tuple((tensor.name, value) for tensor, value in (feeds or {}).items())
        fetched = self._ask(m.RunStep(self._handle, given, tuple(t.name for t in tensors), targets)).values
        values = [np.array(value) for value in fetched]
        return values if several else (values[0] if values else None)

    def forget_all(self) -> None:
        self._ask(m.Reset((), ("/job:ps",)), to=PS[0])

    def close(self) -> None:
        if self.host.alive:
            close = m.CloseSession(self._handle)
            self.training.world.ask(self.host, self.host.name, close, lambda reply, error: None, wait=False)


class _State(State):
    """With the simulation's sessions, and one checkpoint in its memory."""

    def __init__(self, training: _Training, program: Any):
        super().__init__(SimpleNamespace(), program, self, None)  # type: ignore[arg-type]
        self.training = training

    @property
    def last(self) -> str | None:
        return None if self.training.saved is None else "the saved values"

    def newest(self) -> _State:
        return self

    def restore(self, session: _Session) -> None:
        assert self.training.saved is not None
        session.run(self._program.restore, dict(zip(self._program.saved, self.training.saved, strict=True)))
        self.training.restored += 1

    def provide(self, session: Any, *, restore: bool) -> None:
        self._forget_all = session.forget_all  # type: ignore[method-assign]
        super().provide(session, restore=restore)


class _Updates:
    """The chief's queue runner, whose thread is a strand."""

    def __init__(self, worker: _Worker):
        self._worker = worker

    def create_threads(self, session: _Session, coordinator: Any, daemon: bool, start: bool) -> list[Any]:
        def update() -> None:
            try:
                while not coordinator.should_stop():
                    session.run(self._worker.program.update)
            except OpError as error:
                if not coordinator.should_stop():
                    coordinator.request_stop(error)
            while True:
                try:
                    session.run(self._worker.program.cancel)
                except errors.UnavailableError:
                    self._worker._pause()
                    continue
                except OpError:
                    pass
                return

        strand = self._worker.world.begin(self._worker.host, update)
        return [SimpleNamespace(join=lambda: asleep(lambda: strand.over))]


class _Worker:
    """A worker's process, whose work is a strand."""

    def __init__(self, training: _Training, host: Host):
        self.training, self.world, self.host = training, training.world, host
        self.index = WORKERS.index(host.name)
        self.program = _Program(self.index, training.needed)
        self.program.sync.get_chief_queue_runner = lambda: _Updates(self)  # type: ignore[method-assign,assignment,return-value]
        chief, spare = self.index == 0, training.needed < len(WORKERS)
        self.turns = Together(self.program, 1 << 30, chief=chief, spare=spare)  # type: ignore[arg-type]
        self.turns.pause = self._pause  # type: ignore[method-assign]
        self.world.begin(host, self._work)

    def _pause(self) -> None:
        later = self.world.now + 40
        self.world.wake_at(later)
        asleep(lambda: self.world.now >= later)

    def _work(self) -> None:
        while True:
            session = None
            try:
                session = _Session(self.training, self.host, self.program.graph)
                with contextlib.suppress(Over):
                    self._train(session)
                self.training.done.add(self.index)
                return
            except OpError as error:
                if not (lost(error) or isinstance(error, errors.CancelledError)):
                    self.training.violations.append(Violation(f"{self.host.name}: {error!r}"))
                    return
            except Violation as violation:
                self.training.violations.append(violation)
                return
            finally:
                self.turns.abandon()
                if session is not None:
                    session.close()
            self._pause()

    def _train(self, session: Any) -> None:
        training, turns, program = self.training, self.turns, self.program
        if self.index == 0:
            _State(training, program).provide(session, restore=False)
        while len(session.run(program.ready)):
            self._pause()
        step = turns.join(session)
        turns.begin(session, step)
        while not (self.index == 0 and training.over):
            number = training.next_number(self.index, step_of_round(turns._round))
            step = turns.made(session, session.run(turns.fetches, {program.number: np.int32(number)}))
            training.made[self.index] += 1
            if self.index == 0 and step % _SAVE_EVERY == 0:
                with turns.held(session):
                    values = session.run(list(program.variables))
                training.check(values)
                training.saved = values
        if self.index == 0:
            turns.end(session)
            training.final = session.run(list(program.variables))
            turns.dismiss(session)


class _Training:
    def __init__(self, seed: int, faults: Faults):
        self.needed = len(WORKERS) - (seed % 3 == 2)
        self.world = World(seed, faults)
        self.world.on_start = self.started
        self.saved: Any = None
        self.final: Any = None
        self.restored = 0
        self.made = [0] * len(WORKERS)
        self.numbers: list[tuple[int, int]] = []
        """Which worker made the gradient of that number, for which step."""
        self.ended: Counter[str] = Counter()
        self.violations: list[Violation] = []
        self.over = False
        self.done: set[int] = set()
        for name in WORKERS:
            self.started(self.world.hosts[name])

    def started(self, host: Host) -> None:
        if host.name in WORKERS:
            _Worker(self, host)

    def next_number(self, worker: int, step: int) -> int:
        self.numbers.append((worker, step))
        return len(self.numbers) - 1

    def check(self, values: Any) -> None:
        """Each step has its gradients: of each worker one at most; where none is spare one, and the same everywhere."""
        step, *sums = values
        for task, applied in zip(PS, sums, strict=True):
            used = Counter(self.numbers[number] for number in np.flatnonzero(applied))
            twice = [key for key, times in used.items() if times > 1]
            if twice or applied.max() > 1 / self.needed:
                raise Violation(f"{task}: gradients of (worker, step) {twice} were applied twice: {applied.max()}")
            late = [key for key in used if key[1] >= step]
            if late:
                raise Violation(f"{task}: at step {step} gradients of (worker, step) {late} were applied")
            of_steps = Counter(of for _, of in used)
            few = [of for of in range(int(step)) if of_steps[of] < self.needed]
            if few:
                raise Violation(f"{task}: the steps {few} of {step} were made of fewer than {self.needed} gradients")
        if self.needed == len(WORKERS) and not np.array_equal(*sums):
            raise Violation("the variables of the two servers are of different steps")


def simulate_together(seed: int, faults: Faults = FAULTS, events: int = 4000) -> Outcome:
    """Train while so many events come with faults, then without.

    Raises Violation, also when the workers do not come to train again.
    """
    with handing_over():
        training = _Training(seed, faults)
        try:
            _run(training, events)
        finally:
            training.world.close()
    return Outcome(int(training.final[0]), training.restored, training.world.happened, training.ended)


def _run(training: _Training, events: int) -> None:
    world = training.world

    def happen() -> None:
        world.happen()
        if training.violations:
            raise training.violations[0]

    for _ in range(events):
        happen()
    world.heal()
    before = list(training.made)
    for _ in range(_PATIENCE):
        if all(now >= then + _MORE_STEPS for now, then in zip(training.made, before, strict=True)):
            break
        happen()
    else:
        raise Violation(f"the workers do not train any more: {training.made} steps, after {before}")
    training.over = True
    for _ in range(_PATIENCE):
        if len(training.done) == len(WORKERS):
            break
        happen()
    else:
        raise Violation(f"of the workers only {sorted(training.done)} come to their end")
    training.check(training.final)

"""How a master runs steps, as part of its state machine: cut and registered once, a stage started when it can be.

A step starts every stage whose predecessors have ended; values ride along. The first error ends the step: its other stages
are told to stop, and the client hears that error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tensorboard.compat.proto import config_pb2

from tfexp.core import log
from tfexp.core.errors import AbortedError, InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Abandon, Ask, Command, Refuse, Respond, SetTimer
from tfexp.distributed.machine import Machine, OnAnswer, OnError
from tfexp.distributed.master_sessions import Prepared, Run, Session, Signature
from tfexp.distributed.session_graph import Elements
from tfexp.distributed.status import with_prefix
from tfexp.plan.dynamic import Placement
from tfexp.plan.narrow import wire_dtype
from tfexp.plan.stages import Edge, Loop, Partition
from tfexp.plan.trials import Trials
from tfexp.runtime.placement import record_estimate

# Steps that a session remembers; more than a client has, unless it makes them up in a loop.
_MAX_STEPS = 512

NO_OPTIONS = config_pb2.RunOptions()

# What our devices say of themselves, so that a master knows what it need not tell them.
OURS = "tfexp"


class Steps(Machine):
    """The steps of the sessions of task `own`. `numbers` yields what nobody can guess: session handles and step ids."""

    def __init__(self, own: str, numbers: Callable[[], int]):
        super().__init__()
        self._own = own
        self._numbers = numbers
        self._sessions: dict[str, Session] = {}

    def _ask(
        self,
        call: int,
        task: str,
        request: m.Request,
        answer: OnAnswer,
        failure: OnError,
        wait: bool = False,
    ) -> Ask:
        return Ask(self._expect(answer, failure), call, task, request, wait)

    def _tell(self, task: str, request: m.Request) -> Ask:
        """Ask for something without waiting for it."""
        return Ask(next(self._asks), -1, task, request)

    def _session(self, handle: str) -> Session:
        found = self._sessions.get(handle)
        if found is None:
            raise AbortedError(None, None, f"Session {handle} is not found.")
        found.idle = 0
        return found

    # --- cutting and registering -------------------------------------------------------------------------------------

    def _prepare(self, session: Session, signature: Signature) -> Prepared:
        found = session.prepared.get(signature)
        if found is not None:
            return found
        feeds, fetches, targets = signature
        assert session.assignment is not None
        client = session.devices[self._own][0].name
        elements = session.graph.elements(feeds, fetches, targets)
        trials = self._trials(session, signature, elements, client)
        places = session.assignment if trials is None else trials.placement
        cut = elements.cut(places, session.incarnations, client, wire_dtype(session.config))
        full_feeds = tuple(session.graph.tensor(name, "Feed").name for name in feeds)
        full_fetches = tuple(session.graph.tensor(name, "FetchOutputs node").name for name in fetches)
        prepared = _prepared(signature, cut, full_feeds, full_fetches, targets)
        prepared.trials = trials
        session.prepared[signature] = prepared
        return prepared

    def _trials(self, session: Session, signature: Signature, elements: Elements, client: str) -> Trials | None:
        """What finds the step's placement, where that is the dynamic placer's business."""
        placer, found = session.placer, session.trials.get(signature)
        if found is not None or placer is None:
            return found

        def propose() -> Placement:
            feeds, fetches, targets = elements
            placement = placer.place(fetches, targets, feeds, [tensor.get_shape() for tensor in feeds])
            return placer.of_stages(placement, lambda places: elements.cut(places, session.incarnations, client))

        found = Trials(propose, placer.learn, session.config.placement_period, placer.measured.any)
        if len(session.trials) == _MAX_STEPS:
            del session.trials[next(iter(session.trials))]
        session.trials[signature] = found
        return found

    def _registrations(self, call: int, session: Session, signature: Signature) -> list[Command]:
        """Register the stages where they will run, unless that has been done or begun."""
        prepared = session.prepared[signature]
        if prepared.missing >= 0:
            return []
        to_register = [
            (part, number, stage)
            for part in prepared.with_rounds()
            for number, stage in enumerate(part.partition.stages)
            if stage.loop is None
        ]
        prepared.missing = len(to_register)

        def registered(part: Prepared, number: int, reply: m.GraphRegistered) -> list[Command]:
            part.graphs[number] = reply.graph
            if session.prepared.get(signature) is not prepared:  # another of them failed
                return self._deregistrations(session, prepared)
            prepared.missing -= 1
            if prepared.missing:
                return []
            waiting, prepared.waiting = prepared.waiting, []
            return [command for run in waiting if not run.over for command in self._advance(run)]

        def failed(task: str, error: OpError) -> list[Command]:
            # The next run tries again.
            if session.prepared.get(signature) is prepared:
                del session.prepared[signature]
            waiting, prepared.waiting = prepared.waiting, []
            named = with_prefix(error, task)
            failures = [command for run in waiting if not run.over for command in self._fail(run, named)]
            return failures + self._deregistrations(session, prepared)

        commands = self._forget_oldest(session)
        for part, number, stage in to_register:
            commands.append(
                self._ask(
                    call,
                    stage.task,
                    m.RegisterGraph(session.handle, stage.graph_def, session.config),
                    functools.partial(registered, part, number),
                    functools.partial(failed, stage.task),
                )
            )
        return commands

    def _forget_oldest(self, session: Session) -> list[Command]:
        """If there are too many steps, forget the first that nobody runs."""
        if len(session.prepared) <= _MAX_STEPS:
            return []
        running = {run.prepared.signature for run in session.runs.values()}
        for signature, prepared in session.prepared.items():
            if prepared.missing == 0 and signature not in running:
                del session.prepared[signature]
                return self._deregistrations(session, prepared)
        return []

    def _deregistrations(self, session: Session, prepared: Prepared) -> list[Command]:
        """Have the tasks forget what they have of a step."""
        commands: list[Command] = []
        for part in prepared.with_rounds():
            for number, graph in enumerate(part.graphs):
                if graph:
                    part.graphs[number] = ""
                    commands.append(self._tell(part.partition.stages[number].task, m.DeregisterGraph(session.handle, graph)))
        return commands

    def _run_step(self, call: int, request: m.RunStep) -> list[Command]:
        session = self._session(request.session)
        signature = Signature(tuple([name for name, _ in request.feeds]), request.fetches, request.targets)
        prepared = self._prepare(session, signature)
        options = request.options or NO_OPTIONS
        feeds = {full: value for full, (_, value) in zip(prepared.feeds, request.feeds, strict=True)}
        run = Run(call, session, prepared, self._numbers() >> 8, feeds, options)
        run.measured = prepared.trials is not None and prepared.trials.measuring
        session.runs[call] = run
        self._cancels[call] = lambda error: self._fail(run, error)
        commands = self._timer(call, session, options)
        commands.extend(self._registrations(call, session, signature))
        if prepared.missing > 0:
            prepared.waiting.append(run)
            return commands
        return commands + self._advance(run)

    def _timer(self, call: int, session: Session, options: config_pb2.RunOptions) -> list[Command]:
        timeout = options.timeout_in_ms or session.config.operation_timeout_in_ms
        return [SetTimer(call, timeout)] if timeout > 0 else []

    def _advance(self, run: Run) -> list[Command]:
        """Start every stage that can start; answer the client when there is none left."""
        if len(run.ended) == len(run.prepared.partition.stages):
            return self._complete(run)
        return self._start_stages(run)

    def _start_stages(self, run: Run) -> list[Command]:
        commands: list[Command] = []
        for number, stage in enumerate(run.prepared.partition.stages):
            if number in run.started or not stage.after <= run.ended:
                continue
            run.started.add(number)
            arrived = {
                edge: run.feeds[edge.tensor] if edge.source < 0 else run.values[edge]
                for edge in run.prepared.arriving[number]
            }
            if stage.loop is None:
                commands.append(self._run_stage(run, number, arrived))
            else:
                commands.extend(self._begin_loop(run, number, stage.loop, arrived))
            if run.over:
                break
        return commands

    def _run_stage(self, run: Run, number: int, arrived: dict[Edge, m.Value]) -> Ask:
        request = m.RunGraph(
            run.session.handle,
            run.prepared.graphs[number],
            run.step,
            {edge.received_as: value for edge, value in arrived.items()},
            run.prepared.wanted[number],
            run.traced or run.measured,
        )
        ask = self._ask(
            run.call,
            run.prepared.partition.stages[number].task,
            request,
            functools.partial(self._stage_ended, run, number),
            functools.partial(self._stage_failed, run, number),
        )
        run.asks[ask.ask] = number
        return ask

    def _stage_ended(self, run: Run, number: int, reply: m.GraphRun) -> list[Command]:
        if run.over:
            return []
        run.asks = {ask: stage for ask, stage in run.asks.items() if stage != number}
        stage = run.prepared.partition.stages[number]
        for edge in stage.sent:
            if edge.sent_as in reply.values:
                run.values[edge] = reply.values[edge.sent_as]
        lost = [e.tensor for e in stage.sent if e.sent_as in run.prepared.wanted[number] and e not in run.values]
        if lost:
            error = InvalidArgumentError(None, None, f"{stage.task} did not send {', '.join(lost)}")
            return self._fail(run, error)
        if reply.step_stats is not None:
            run.add_stats(reply.step_stats)
        elif run.prepared.trials is not None and not _is_ours(run.session.devices[stage.task]):
            run.prepared.trials.stop()  # what a part of a step took says little
        run.ended.add(number)
        return self._advance(run)

    def _stage_failed(self, run: Run, number: int, error: OpError) -> list[Command]:
        if run.over:
            return []
        run.asks = {ask: stage for ask, stage in run.asks.items() if stage != number}
        return self._fail(run, with_prefix(error, run.prepared.partition.stages[number].task))

    def _begin_loop(self, run: Run, number: int, loop: Loop, arrived: dict[Edge, m.Value]) -> list[Command]:
        """Run a loop in the place of a stage."""
        raise NotImplementedError

    def _complete(self, run: Run) -> list[Command]:
        self._end(run)
        placement = None if run.prepared.trials is None else run.prepared.trials.placement
        measured = self._measured(run) if run.measured else []
        values = fetched(run)
        if not run.traced:
            run.metadata = None
        elif placement is not None and run.metadata is not None:
            record_estimate(run.metadata, placement)
        if run.options.output_partition_graphs:
            if run.metadata is None:
                run.metadata = config_pb2.RunMetadata()
            parts = run.prepared.with_rounds()
            run.metadata.partition_graphs.extend(
                s.graph_def for part in parts for s in part.partition.stages if s.loop is None
            )
        return [*measured, *self._cleanups(run, False), Respond(run.call, m.StepRun(values, run.metadata))]

    def _measured(self, run: Run) -> list[Command]:
        """What the step took may move its nodes: then it is cut anew, the next time."""
        session, prepared, metadata = run.session, run.prepared, run.metadata
        assert prepared.trials is not None
        commands: list[Command] = []
        if metadata is not None and session.prepared.get(prepared.signature) is prepared:
            if prepared.trials.ended(metadata.step_stats):
                del session.prepared[prepared.signature]
                if not any(other.prepared is prepared for other in session.runs.values()):
                    commands = self._deregistrations(session, prepared)
            if not prepared.trials.measuring:
                log.info("%s", prepared.trials.describe())
        return commands

    def _fail(self, run: Run, error: OpError) -> list[Command]:
        """End the step with this error; whatever else it has under way is told to stop."""
        if run.over:
            return []
        self._end(run)
        commands: list[Command] = [Refuse(run.call, error)]
        for ask in run.asks:
            self._forget(ask)
            commands.append(Abandon(ask, error))
        return commands + self._cleanups(run, True)

    def _end(self, run: Run) -> None:
        run.over = True
        self._cancels.pop(run.call, None)
        run.session.runs.pop(run.call, None)

    def _cleanups(self, run: Run, failed: bool) -> list[Command]:
        """Peers of our kind forget a step by themselves when nothing of it is left; others, and failed steps, are told.

        So are those that may hold something until then.
        """
        stages = [run.prepared.partition.stages[number] for number in run.started]
        touched = {stage.task for stage in stages if stage.loop is None}
        failed = failed or any(stage.loop is not None and stage.loop.holds for stage in stages)
        return [
            self._tell(task, m.CleanupGraph(run.step))
            for task in sorted(touched)
            if failed or not _is_ours(run.session.devices[task])
        ]


def _prepared(
    signature: Signature, cut: Partition, feeds: tuple[str, ...], fetches: tuple[str, ...], targets: tuple[str, ...]
) -> Prepared:
    """What is to be registered of a step, or of a round of a loop in it, and which values the master passes on."""
    prepared = Prepared(signature, cut, feeds, fetches, targets, [""] * len(cut.stages), -1)
    for number, stage in enumerate(cut.stages):
        stays = {e for e in (*stage.received, *stage.sent) if e.sent_as == e.received_as and -1 not in (e.source, e.target)}
        prepared.arriving[number] = [e for e in stage.received if e not in stays]
        prepared.wanted[number] = tuple(e.sent_as for e in stage.sent if e not in stays)
        if stage.loop is not None:
            condition, body = (
                _prepared(signature, part.partition, part.feeds, part.fetches, ())
                for part in (stage.loop.condition, stage.loop.body)
            )
            prepared.rounds[number] = condition, body
    return prepared


def fetched(run: Run) -> tuple[m.Value, ...]:
    """What a run gives, in the order in which it is asked for."""
    by_fetch = {edge.tensor: value for edge, value in run.values.items() if edge.target < 0}
    return tuple([run.feeds[name] if name in run.feeds else by_fetch[name] for name in run.prepared.fetches])


def _is_ours(devices: tuple[m.Device, ...]) -> bool:
    return bool(devices) and devices[0].description == OURS

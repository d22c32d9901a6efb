"""Partial runs: steps whose feeds come, and whose fetches are asked for, in several calls. Part of the master.

A stage of a partial run waits for no more feeds than each of its nodes does, and starts when these have come, whether
somebody has asked for what it computes or not, as in TensorFlow. A call is answered when what it fetches is there; the
one after which nothing is left to be fed or asked for, when the whole step has ended. A call that makes no sense changes
nothing; an error of a stage ends the partial run.
"""

from __future__ import annotations

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Command, Refuse, Respond
from tfexp.distributed.master_loops import LoopSteps
from tfexp.distributed.master_sessions import Partial, Run, Signature
from tfexp.distributed.master_steps import NO_OPTIONS


class PartialSteps(LoopSteps):
    """The steps of a master's sessions, partial ones among them."""

    def _partial_run_setup(self, call: int, request: m.PartialRunSetup) -> list[Command]:
        session = self._session(request.session)
        if not request.fetches and not request.targets:
            raise InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
        signature = Signature(request.feeds, request.fetches, request.targets, True)
        prepared = self._prepare(session, signature)
        partial = Partial(f"{self._numbers():016x}", set(prepared.fetches))
        run = Run(call, session, prepared, self._numbers() >> 8, {}, NO_OPTIONS, partial=partial)
        session.runs[partial.handle] = run
        commands = self._registrations(call, session, signature)
        if prepared.missing > 0:
            prepared.waiting.append(run)
        return [*commands, Respond(call, m.PartialRunReady(partial.handle))]

    def _run_step(self, call: int, request: m.RunStep) -> list[Command]:
        if not request.partial_run:
            return super()._run_step(call, request)
        session = self._session(request.session)
        run = session.runs.get(request.partial_run)
        partial = None if run is None else run.partial
        if run is None or partial is None:
            raise InvalidArgumentError(None, None, "Must run PartialRunSetup before performing partial runs")
        if partial.error is not None:
            del session.runs[partial.handle]
            raise partial.error
        feeds, fetches = self._checked(run, request)
        run.feeds.update(feeds)
        partial.pending.difference_update(fetches)
        partial.begun = True
        partial.waiting[call] = request
        run.call = call
        run.options = request.options or NO_OPTIONS
        self._cancels[call] = lambda error: self._fail(run, error)
        commands = self._timer(call, session, run.options)
        return commands if run.prepared.missing > 0 else commands + self._advance(run)

    def _checked(self, run: Run, request: m.RunStep) -> tuple[dict[str, m.Value], list[str]]:
        """The feeds and fetches of a call by their full names; InvalidArgumentError for what it may not ask."""
        assert run.partial is not None
        graph, prepared = run.session.graph, run.prepared
        feeds: dict[str, m.Value] = {}
        for name, value in request.feeds:
            full = graph.tensor(name, "Feed").name
            if full not in prepared.feeds:
                raise _wrong(f"The feed {full} was not specified in partial_run_setup.")
            if full in run.feeds or full in feeds:
                raise _wrong(f"The feed {full} has already been fed.")
            feeds[full] = value
        fetches = [graph.tensor(name, "FetchOutputs node").name for name in request.fetches]
        for full in fetches:
            if full not in prepared.fetches:
                raise _wrong(f"The fetch {full} was not specified in partial_run_setup.")
            if full not in run.partial.pending:
                raise _wrong(f"The fetch {full} has already been fetched.")
        for name in request.targets:
            if name not in prepared.targets:
                raise _wrong(f"The target {name} was not specified in partial_run_setup.")
        for number in self._needed(run, request):
            for edge in prepared.arriving[number]:
                if edge.source < 0 and edge.tensor not in run.feeds and edge.tensor not in feeds:
                    raise _must_feed(edge.tensor)
        missing = [full for full in fetches if full in prepared.feeds and full not in run.feeds and full not in feeds]
        if missing:
            raise _must_feed(missing[0])
        return feeds, fetches

    def _needed(self, run: Run, request: m.RunStep) -> set[int]:
        """The stages that have to end before the call can be answered."""
        stages = run.prepared.partition.stages
        fetched = {run.session.graph.tensor(name, "FetchOutputs node").name for name in request.fetches}
        pending = [n for n, s in enumerate(stages) if any(e.target < 0 and e.tensor in fetched for e in s.sent)]
        pending += [n for n, s in enumerate(stages) if any(node.name in request.targets for node in s.graph_def.node)]
        needed: set[int] = set()
        while pending:
            number = pending.pop()
            if number not in needed:
                needed.add(number)
                pending.extend(stages[number].after)
        return needed

    def _advance(self, run: Run) -> list[Command]:
        partial = run.partial
        if partial is None:
            return super()._advance(run)
        if not partial.begun:
            return []
        commands = self._start_stages(run)
        last = not partial.pending and len(run.feeds) == len(run.prepared.feeds)
        whole = set(range(len(run.prepared.partition.stages)))
        if last and run.ended == whole:
            self._end(run)
            commands.extend(self._cleanups(run, False))
        by_fetch = {edge.tensor: value for edge, value in run.values.items() if edge.target < 0} | run.feeds
        for call, request in list(partial.waiting.items()):
            if (whole if last else self._needed(run, request)) <= run.ended:
                del partial.waiting[call]
                self._cancels.pop(call, None)
                names = [run.session.graph.tensor(name, "FetchOutputs node").name for name in request.fetches]
                commands.append(Respond(call, m.StepRun(tuple([by_fetch[name] for name in names]), run.metadata)))
        return commands

    def _refuse(self, run: Run, error: OpError) -> list[Command]:
        partial = run.partial
        if partial is None:
            return super()._refuse(run, error)
        if not partial.waiting:
            # Nobody hears of it now: whoever comes next does.
            partial.error = error
            run.session.runs[partial.handle] = run
        calls, partial.waiting = list(partial.waiting), {}
        return [Refuse(call, error) for call in calls]

    def _end(self, run: Run) -> None:
        super()._end(run)
        if run.partial is not None:
            run.session.runs.pop(run.partial.handle, None)
            for call in run.partial.waiting:
                self._cancels.pop(call, None)


def _wrong(text: str) -> OpError:
    return InvalidArgumentError(None, None, text)


def _must_feed(tensor: str) -> OpError:
    return _wrong(f"Fetch {tensor} can't be computed from the feeds that have been fed so far.")

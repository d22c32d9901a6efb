"""Loops whose state is on several tasks. Part of the master: it runs the condition, then the body, again and again.

A round is a run with an id of its own, within the run of the step: what is asked of workers for it is asked for the step's
call, so that a round that fails, a deadline or a client that goes away ends the whole step, and what is under way with it.
"""

from __future__ import annotations

from typing import Any

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Abandon, Command
from tfexp.distributed.master_sessions import Prepared, Run
from tfexp.distributed.master_steps import Steps, fetched
from tfexp.plan.stages import Edge, Loop

Values = tuple[m.Value, ...]


class LoopSteps(Steps):
    """The steps of a master's sessions, with the loops in them that go from task to task."""

    def _begin_loop(self, run: Run, number: int, loop: Loop, arrived: dict[Edge, m.Value]) -> list[Command]:
        condition, body = run.prepared.rounds[number]
        first = tuple([arrived[value] if isinstance(value, Edge) else value for value in loop.values])
        invariants = first[loop.variables :]

        def ask(variables: Values) -> list[Command]:
            values = (*variables, *invariants)
            return self._begin_round(run, number, condition, values, lambda given: decide(variables, given[0]))

        def decide(variables: Values, holds: m.Value) -> list[Command]:
            try:
                goes_on = _truth(holds, loop.name)
            except OpError as error:
                return self._fail(run, error)
            if goes_on:
                return self._begin_round(run, number, body, (*variables, *invariants), ask)
            return self._end_loop(run, number, loop, variables)

        return ask(first[: loop.variables])

    def _begin_round(self, run: Run, number: int, part: Prepared, values: Values, then: Any) -> list[Command]:
        feeds = dict(zip(part.feeds, values, strict=True))
        inner = Run(run.call, run.session, part, self._numbers() >> 8, feeds, run.options, then=then, within=run)
        inner.measured = run.measured
        run.loops[number] = inner
        return self._advance(inner)

    def _end_loop(self, run: Run, number: int, loop: Loop, variables: Values) -> list[Command]:
        del run.loops[number]
        for edge in run.prepared.partition.stages[number].sent:
            run.values[edge] = variables[loop.exits[edge.tensor]]
        run.ended.add(number)
        return self._advance(run)

    def _complete(self, run: Run) -> list[Command]:
        outer, then = run.within, run.then
        if outer is None or then is None:
            return super()._complete(run)
        run.over = True
        if run.metadata is not None:
            outer.add_stats(run.metadata.step_stats)
        return [*self._cleanups(run, False), *then(fetched(run))]

    def _fail(self, run: Run, error: OpError) -> list[Command]:
        if run.within is not None:
            return self._fail(run.within, error)
        if run.over:
            return []
        commands = super()._fail(run, error)
        pending = list(run.loops.values())
        for inner in pending:
            pending.extend(inner.loops.values())
            inner.over = True
            for ask in inner.asks:
                self._forget(ask)
                commands.append(Abandon(ask, error))
            commands.extend(self._cleanups(inner, True))
        return commands


def _truth(value: m.Value, loop: str) -> bool:
    array = m.as_array(value)
    if array.shape != () or array.dtype != bool:
        raise InvalidArgumentError(
            None, None, f"The condition of the loop {loop} gave {array.dtype} of shape {array.shape}, not one truth value"
        )
    return bool(array)

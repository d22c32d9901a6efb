"""Hooks that show how a training goes: logged tensors, steps per second, summaries, profiles. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import RunOptions
from tensorboard.compat.proto.event_pb2 import SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.core.log import get_logger
from tfexp.formats.paths import local_path
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.runtime.session import Session
from tfexp.runtime.timeline import Timeline
from tfexp.train.global_step import get_global_step, required_step_read
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfexp.train.step_timer import SecondOrStepTimer
from tfexp.train.summary_writer import FileWriter, FileWriterCache

_log = get_logger()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every `every_n_iter` steps or `every_n_secs` seconds (from the first step on), and `at_end` if asked.

    `tensors`: a dict from what to call them to tensors or names, or a list. `formatter` makes the line of a dict of values.
    ValueError for intervals that exclude each other, none at all, or none below one.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[Mapping[str, Any]], str] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, Mapping):
            self._tensors = dict(tensors)
        else:
            self._tensors = {item if isinstance(item, str) else item.name: item for item in tensors}
        self._timer = None if only_at_end else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._at_end = at_end
        self._formatter = formatter

    def begin(self) -> None:
        if self._timer is not None:
            self._timer.reset()
        self._count = 0
        graph = get_default_graph()
        self._current = {tag: _element(graph, tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(self._current) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._due:
            self._log(run_values.results)
        self._count += 1

    def end(self, session: Session) -> None:
        if self._at_end:
            self._log(session.run(self._current))

    def _log(self, values: Mapping[str, Any]) -> None:
        seconds = self._timer.update_last_triggered_step(self._count)[0] if self._timer is not None else None
        if self._formatter is not None:
            _log.info("%s", self._formatter(values))
            return
        with np.printoptions(suppress=True):
            line = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tensors)
        if seconds is None:
            _log.info("%s", line)
        else:
            _log.info("%s (%.3f sec)", line, seconds)


def _element(graph: Graph, item: Any) -> Any:
    """The tensor or operation; of a name without an output's number, the first output."""
    if isinstance(item, str) and ":" not in item:
        item = f"{item}:0"
    return graph.as_graph_element(item)


# Beside other workers, two steps of one may well see the same global step now and then.
_WARN_TIMES = 5


class StepCounterHook(SessionRunHook):
    """Logs and records how many global steps were made in a second, every so many steps or seconds. ValueError for both."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_step: int | None = None
        self._warned = 0

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._step = required_step_read("StepCounterHook")
        self._tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        fetched = int(run_values.results)
        if self._timer.should_trigger_for_step(fetched + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._record(steps / seconds if seconds > 0 else float("inf"), step)
        if fetched == self._last_step and self._warned < _WARN_TIMES:
            self._warned += 1
            _log.warning(
                "The global step (tf.train.get_global_step) does not seem to increase: it was %d after this step and after "
                "the one before. Pass it to Optimizer.apply_gradients or Optimizer.minimize.",
                fetched,
            )
        self._last_step = fetched

    def _record(self, rate: float, step: int) -> None:
        if self._summary_writer is not None:
            self._summary_writer.add_summary(Summary(value=[Summary.Value(tag=self._tag, simple_value=rate)]), step)
        _log.info("%s: %g", self._tag, rate)


class SummarySaverHook(SessionRunHook):
    """Writes the values of `summary_op` (a tensor or a list), or of the scaffold's, every so many steps or seconds.

    ValueError unless exactly one of `scaffold` and `summary_op`, and of `save_steps` and `save_secs`, is given.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Any = None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._step = required_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        summaries = self._summaries() if self._due else []
        return SessionRunArgs({"global_step": self._step, "summaries": summaries})

    def _summaries(self) -> list[Any]:
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op if self._scaffold else None
        if op is None:
            return []
        return list(op) if isinstance(op, list | tuple) else [op]

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        writer = self._summary_writer
        if writer is None:
            return
        step = int(run_values.results["global_step"]) + 1
        if self._due:
            step = int(run_context.session.run(self._step))
        if self._next_step is None:
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results["summaries"]:
                writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Session | None = None) -> None:
        if self._summary_writer is not None:
            self._summary_writer.flush()


class ProfilerHook(SessionRunHook):
    """Every so many steps or seconds, but not at the first step, writes what ran when: `timeline-<step>.json` for
    chrome://tracing into `output_dir`, and the step's RunMetadata (`step_<step>`) for TensorBoard.

    `show_dataflow` draws arrows from producers to consumers, `show_memory` the memory of each device.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._output_dir = output_dir
        self._show_dataflow, self._show_memory = show_dataflow, show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._step = required_step_read("ProfilerHook")
        self._writer = FileWriterCache.get(self._output_dir)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._due = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._due else None
        return SessionRunArgs(self._step, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        fetched = int(run_values.results)
        step = fetched + 1
        if self._next_step is None:
            # The first step is not like the others: it plans.
            self._timer.update_last_triggered_step(fetched)
        if self._due:
            step = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata)
        self._next_step = step + 1

    def _save(self, step: int, run_metadata: Any) -> None:
        self._writer.add_run_metadata(run_metadata, f"step_{step}")
        path = os.path.join(self._output_dir, f"timeline-{step}.json")
        _log.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(run_metadata.step_stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        with open(local_path(path), "w", encoding="utf-8") as file:
            file.write(trace)

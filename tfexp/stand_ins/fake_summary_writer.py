"""`FakeSummaryWriter`: a summary writer that keeps what it is given, for tests of what writes. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.event_pb2 import SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.train.summary_writer import FileWriterCache


class FakeSummaryWriter:
    """Keeps summaries by step, graphs, meta graphs and session logs."""

    _replaced: Any = None

    @classmethod
    def install(cls) -> None:
        """From here on hooks and estimators that ask the cache for a writer get one of these."""
        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced, FileWriterCache._writer = FileWriterCache._writer, cls
        FileWriterCache.clear()

    @classmethod
    def uninstall(cls) -> None:
        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter not installed.")
        FileWriterCache._writer, cls._replaced = cls._replaced, None
        FileWriterCache.clear()

    def __init__(self, logdir: str, graph: Any = None):
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[Any, list[Summary]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[Any, list[Summary]]:
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: Any = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """The test fails unless what is given here is what was added; `expected_summaries` are {step: {tag: value}}."""
        for expected, found in (
            (expected_logdir, self._logdir),
            (expected_graph, self._graph),
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        ):
            if expected is not None and expected != found:
                test_case.fail(f"expected {expected}, found {found}")
        for step, values in (expected_summaries or {}).items():
            if step not in self._summaries:
                test_case.fail(f"no summaries of step {step}, only of {sorted(self._summaries)}")
            actual = {value.tag: value.simple_value for summary in self._summaries[step] for value in summary.value}
            if any(tag not in actual or actual[tag] != value for tag, value in values.items()):
                test_case.fail(f"step {step}: expected {values}, found {actual}")

    def add_summary(self, summ: Any, current_global_step: Any) -> None:
        if isinstance(summ, bytes):
            summ = Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        if graph_def is not None:
            raise ValueError("FakeSummaryWriter takes graphs, no graph_def")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: SessionLog, global_step: Any = None) -> None:
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Everything is there already."""

    def reopen(self) -> None:
        """It cannot be closed."""

    def close(self) -> None:
        """There is nothing to close."""

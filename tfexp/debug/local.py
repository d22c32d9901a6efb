"""Sessions and hooks that ask on standard input what to watch, and answer what was seen: `lines` has the commands."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunOptions

from tfexp.core.errors import OpError
from tfexp.debug.dump_dir import DebugDumpDir, Predicate
from tfexp.debug.lines import Go, ask, show
from tfexp.debug.sessions import WatchingHook, WatchingSession, new_folder
from tfexp.debug.tensors import has_inf_or_nan
from tfexp.debug.watching import watch_graph

_KINDS = ("curses", "readline")


class LocalCLIDebugWrapperSession(WatchingSession):
    """A session that asks, before its first run and after each watched one, how to go on.

    `dump_root`: a folder, new or empty, in which each watched run has one of its own while it is looked at; by default one
    for temporary files. `ui_type` may be curses or readline: both are lines here. ValueError for another one, and for a
    `dump_root` with something in it; see `WatchingSession`. Source: `tf_debug.LocalCLIDebugWrapperSession`.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: str | bool = False,
    ):
        super().__init__(sess, thread_name_filter)
        if ui_type not in _KINDS:
            raise ValueError(f"ui_type must be one of {_KINDS}, but got {ui_type!r}")
        self._root = None if dump_root is None else new_folder(dump_root, "dump_root")
        self._filters: dict[str, Predicate] = {"has_inf_or_nan": has_inf_or_nan}
        self._go: Go | None = None
        self._left = 0  # runs up to the one that is watched
        self._runs = 0
        self._folder = ""

    def add_tensor_filter(self, filter_name: str, tensor_filter: Predicate) -> None:
        """Let `-f filter_name` stand for `tensor_filter(datum, value)`.

        TypeError if that cannot be called or the name is no string, ValueError for an empty name.
        """
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(tensor_filter):
            raise TypeError("Input argument tensor_filter is expected to be callable, but is not.")
        self._filters[filter_name] = tensor_filter

    def watch(self, run_options: RunOptions, fetches: Any, feed_dict: Any) -> bool:
        """Whether the commands so far have this run watched; asks before the first."""
        self._runs += 1
        if self._go is None:
            show([f"run #{self._runs}: fetches {fetches!r}, feeds {list(feed_dict or ())!r}"])
            self._go_on(ask(self._filters))
        assert self._go is not None
        if self._go.until is None:
            self._left -= 1
            if self._left > 0:
                return False
            if not self._go.debug:
                self._go = None
                return False
        self._folder = tempfile.mkdtemp(prefix="tfdbg_", dir=self._root)
        watch_graph(run_options, self.graph, debug_urls=f"file://{os.path.abspath(self._folder)}")
        return True

    def _go_on(self, go: Go) -> None:
        self._go, self._left = go, go.times

    def look(self, error: OpError | None) -> None:
        """Ask about the run, if it is one to look at, and how to go on."""
        assert self._go is not None
        try:
            dump = DebugDumpDir(self._folder)
            dump.set_python_graph(self.graph)
            if error is not None:
                show([f"run #{self._runs} failed: {error}"])
            elif self._go.until is not None:
                passing = self._filters[self._go.until]
                if not dump.find(passing, first_n=1, exclude_node_names=self._go.excluded_nodes):
                    return
                show([f'run #{self._runs} has values that pass filter "{self._go.until}": lt -f {self._go.until}'])
            else:
                show([f"run #{self._runs} has {dump.size} dumped tensor(s): lt"])
            self._go_on(ask(self._filters, dump))
        finally:
            shutil.rmtree(self._folder)


class LocalCLIDebugHook(WatchingHook):
    """A hook that asks about the steps of a monitored session: see `LocalCLIDebugWrapperSession`.

    Source: `tf_debug.LocalCLIDebugHook`.
    """

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: str | None = None,
    ):
        super().__init__()
        self._ui_type, self._dump_root, self._thread_name_filter = ui_type, dump_root, thread_name_filter
        self._filters: dict[str, Predicate] = {}

    def add_tensor_filter(self, filter_name: str, tensor_filter: Predicate) -> None:
        """As the session's method."""
        self._filters[filter_name] = tensor_filter

    def _wrap(self, session: Any) -> WatchingSession:
        wrapped = LocalCLIDebugWrapperSession(
            session, self._dump_root, ui_type=self._ui_type, thread_name_filter=self._thread_name_filter
        )
        for name, tensor_filter in self._filters.items():
            wrapped.add_tensor_filter(name, tensor_filter)
        return wrapped

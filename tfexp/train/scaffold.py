"""`tf.train.Scaffold`: the nodes that a graph needs to be initialised, checked, saved and watched. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import get_default_graph
from tfexp.ops import shared_resources
from tfexp.ops.array_join import concat
from tfexp.ops.summary import merge_all
from tfexp.ops.uninitialized import report_uninitialized_variables
from tfexp.ops.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from tfexp.train.saver import Saver

_log = get_logger()


class Scaffold:
    """What is given, and for the rest what the graph's collections hold, or else what `finalize` makes and puts there.

    `init_fn(scaffold, session)` is called after `init_op`. `copy_from_scaffold` (TypeError unless it is one) fills in what
    is not given here. After `finalize` the graph takes no more nodes.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Any = None,
    ):
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        other = copy_from_scaffold

        def either(given: Any, attribute: str) -> Any:
            return given if given is not None or other is None else getattr(other, attribute)

        self._init_op = either(init_op, "_init_op")
        self._init_feed_dict = either(init_feed_dict, "_init_feed_dict")
        self._user_init_fn = either(init_fn, "_user_init_fn")
        self._ready_op = either(ready_op, "_ready_op")
        self._ready_for_local_init_op = either(ready_for_local_init_op, "_ready_for_local_init_op")
        self._local_init_op = either(local_init_op, "_local_init_op")
        self._local_init_feed_dict = either(local_init_feed_dict, "_local_init_feed_dict")
        self._summary_op = either(summary_op, "_summary_op")
        self._saver = either(saver, "_saver")

    def finalize(self) -> Scaffold:
        """Find or make what is missing, in the default graph, and finalize that. RuntimeError where a collection has two."""
        if self._init_op is None:
            self._init_op = self.get_or_default("init_op", GraphKeys.INIT_OP, _default_init_op)
        if self._ready_op is None:
            self._ready_op = self.get_or_default("ready_op", GraphKeys.READY_OP, _default_ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = self.get_or_default(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _default_ready_for_local_init_op
            )
        if self._local_init_op is None:
            self._local_init_op = self.get_or_default(
                "local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = self.get_or_default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = self.get_or_default("saver", GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True))
        self._saver.build()
        get_default_graph().finalize()
        _log.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """The collection's only item, or a new one (None: none), which is put there. RuntimeError if there are more."""
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by passing it '
                f"to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Initialises what each process has for itself: local variables, tables, local resources."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            shared_resources.initialize_resources(shared_resources.local_resources()),
        )

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        return self._init_feed_dict

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """What to call with a session after `init_op`."""
        function = self._user_init_fn
        return None if function is None else lambda session: function(self, session)

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Any:
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def saver(self) -> Any:
        return self._saver


def _default_init_op() -> Any:
    return group(
        global_variables_initializer(),
        shared_resources.initialize_resources(shared_resources.shared_resources()),
    )


def _default_ready_op() -> Any:
    return concat([report_uninitialized_variables(), shared_resources.report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    variables = report_uninitialized_variables(global_variables())
    resources = shared_resources.report_uninitialized_resources(shared_resources.shared_resources())
    return concat([variables, resources], 0)

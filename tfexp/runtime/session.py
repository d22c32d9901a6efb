"""`tf.Session` and `tf.InteractiveSession`: what a user calls to run a graph. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2

from tfexp.graph import defaults
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime import local  # noqa: F401  (registers the backend of sessions without target)
from tfexp.runtime.backend import PreparedStep, find_backend
from tfexp.runtime.feeds import FeedSpec, flatten_feeds
from tfexp.runtime.fetches import FetchMapper

# Distinct (fetches, feed keys) that a session remembers; more than a program has, unless it makes them up in a loop.
_MAX_INVOCATIONS = 512


class _Invocation:
    """One combination of fetches and feed keys: everything that does not depend on the fed values, done once."""

    __slots__ = ("_mapper", "_feeds", "_prepared", "_from_feeds", "_positions", "_checked", "plain", "retain")

    def __init__(self, session: BaseSession, fetches: Any, feed_tensors: Sequence[Tensor]):
        graph = session.graph
        self._mapper = FetchMapper(graph, fetches)
        self._feeds = tuple(FeedSpec(graph, tensor) for tensor in feed_tensors)
        fed = {tensor: i for i, tensor in enumerate(feed_tensors)}
        elements = self._mapper.elements
        # A fetched feed is handed back as it was fed; the backend never sees it.
        self._from_feeds = [(i, fed[e]) for i, e in enumerate(elements) if e in fed]
        tensors = [(i, e) for i, e in enumerate(elements) if isinstance(e, Tensor) and e not in fed]
        self._positions = [i for i, _ in tensors]
        self._prepared: PreparedStep = session._backend.prepare(
            [tensor for _, tensor in tensors],
            [e for e in elements if isinstance(e, Operation)],
            [spec.tensor for spec in self._feeds],
        )
        self._checked: set[tuple[tuple[int, ...], ...]] = set()

    def run(self, fed_values: Iterable[Any], options: Any = None, run_metadata: Any = None) -> Any:
        """Run with these values for the feeds, in order."""
        values = []
        for spec, value in zip(self._feeds, fed_values, strict=True):
            if type(value) is not np.ndarray or value.dtype is not spec.numpy_dtype or spec.is_string:
                value = spec.convert(value)
            values.append(value)
        shapes = tuple([value.shape for value in values])
        if shapes not in self._checked:
            self._check(shapes)
        fetched = self._prepared.run(values, shapes, options, run_metadata)
        results: list[Any] = [None] * len(self._mapper.elements)
        for position, value in zip(self._positions, fetched, strict=True):
            results[position] = value
        for position, feed in self._from_feeds:
            results[position] = values[feed]
        return self._mapper.build(results)

    def _check(self, shapes: tuple[tuple[int, ...], ...]) -> None:
        for spec, shape in zip(self._feeds, shapes, strict=True):
            spec.check_shape(shape)
        if len(self._checked) > _MAX_INVOCATIONS:
            self._checked.clear()
        self._checked.add(shapes)


class BaseSession:
    """What all sessions share: running, default contexts, closing."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: config_pb2.ConfigProto | None = None):
        self._closed = True
        if graph is None:
            graph = get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is None:
            target = ""
        if isinstance(target, bytes):
            target = target.decode()
        if not isinstance(target, str):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None and not isinstance(config, config_pb2.ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._graph = graph
        self._target = target
        self._config = config
        factory, _ = find_backend(target)
        self._backend = factory(target, graph, config)
        self._invocations: dict[Any, _Invocation] = {}
        self._mutations = graph._mutations
        self._closed = False

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        """The target that this session connects to."""
        return self._target

    @property
    def _config_or_default(self) -> config_pb2.ConfigProto:
        return self._config or config_pb2.ConfigProto()

    def list_devices(self) -> list[Any]:
        """The devices of this session (name, device_type, memory_limit_bytes)."""
        self._check_open()
        return self._backend.list_devices()

    def close(self) -> None:
        """Cancel what runs and free the resources (variables, queues). The session cannot run any more."""
        if not self._closed:
            self._closed = True
            self._invocations.clear()
            self._backend.close()

    def __del__(self) -> None:
        # Garbage collection must not fail because __init__ did.
        if not getattr(self, "_closed", True):
            with contextlib.suppress(Exception):
                self.close()

    def as_default(self) -> Any:
        """`with sess.as_default():` makes this the default session; the block does not close it."""
        return defaults.session_stack.pushed(self)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run one step: evaluate `fetches` (a tensor, operation, name, or any nesting of them) with `feed_dict`.

        Returns arrays (scalars for 0-d values, None for operations) in the structure of `fetches`. Raises RuntimeError on a
        closed session, TypeError and ValueError for fetches and feeds that make no sense, `tf.errors` for what goes wrong
        while running. Source: `tf.Session.run`.
        """
        if options is not None and not isinstance(options, config_pb2.RunOptions):
            raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
        if run_metadata is not None and not isinstance(run_metadata, config_pb2.RunMetadata):
            raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}")
        invocation, values = self._invocation(fetches, feed_dict)
        return invocation.run(values, options, run_metadata)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _check_runnable(self) -> None:
        self._check_open()
        if not self._graph._operations:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        if self._mutations != self._graph._mutations:
            # Existing nodes changed: what was prepared for them is stale.
            self._invocations.clear()
            self._mutations = self._graph._mutations

    def _invocation(self, fetches: Any, feed_dict: Any) -> tuple[_Invocation, Iterable[Any]]:
        """The prepared invocation for these fetches and feed keys, and the values in its order."""
        self._check_runnable()
        key = _structure(fetches)
        if key is not None and not feed_dict:
            found = self._invocations.get((key, ()))
            if found is None:
                found = self._remember((key, ()), _Invocation(self, fetches, ()))
            return found, ()
        pairs = flatten_feeds(self._graph, feed_dict) if feed_dict else []
        tensors = tuple(dict.fromkeys(tensor for tensor, _ in pairs))
        by_tensor = dict(pairs)
        values = [by_tensor[tensor] for tensor in tensors]
        if key is None:
            return _Invocation(self, fetches, tensors), values
        found = self._invocations.get((key, tensors))
        if found is None:
            found = self._remember((key, tensors), _Invocation(self, fetches, tensors))
        return found, values

    def _remember(self, key: Any, invocation: _Invocation) -> _Invocation:
        if len(self._invocations) >= _MAX_INVOCATIONS:
            self._invocations.pop(next(iter(self._invocations)), None)
        self._invocations[key] = invocation
        return invocation

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs `fetches`, its arguments being the values for `feed_list`, in order.

        With `accept_options` it takes `options=` and `run_metadata=`. Source: `tf.Session.make_callable`.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        self._check_runnable()
        tensors = [self._graph.as_graph_element(feed, allow_operation=False) for feed in feed_list or ()]
        invocation = _Invocation(self, fetches, tensors)
        mutations = self._mutations

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            nonlocal invocation, mutations
            self._check_runnable()
            if mutations != self._mutations:
                invocation, mutations = _Invocation(self, fetches, tensors), self._mutations
            if len(values) != len(tensors):
                raise TypeError(f"The callable takes {len(tensors)} values, one for each of feed_list, got {len(values)}")
            return invocation.run(values, options, run_metadata)

        if accept_options:
            return call
        return lambda *values: call(*values)


def _structure(fetches: Any) -> Any:
    """A hashable key of the structure of `fetches`; None for kinds whose equality says too little to remember them by."""
    if isinstance(fetches, (Tensor, Operation, str)):
        return fetches
    if type(fetches) in (list, tuple) or hasattr(fetches, "_fields"):
        parts = [_structure(part) for part in fetches]
        return None if None in parts else (type(fetches), *parts)
    if isinstance(fetches, Mapping) and type(fetches) is dict:
        parts = [_structure(part) for part in fetches.values()]
        return None if None in parts else (dict, tuple(fetches), *parts)
    if hasattr(fetches, "_as_graph_element"):
        return fetches._as_graph_element()
    return None


class Session(BaseSession):
    """`with tf.Session(target, graph, config) as sess:` runs steps of a graph; see `run`. Source: `tf.Session`, TF 1.15.

    `target` is empty for this process, or names a server (`grpc://host:port`). Local sessions never share variables.
    The block makes the session and its graph the defaults, and closes the session at its end.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: config_pb2.ConfigProto | None = None):
        super().__init__(target, graph, config)
        self._blocks: list[contextlib.ExitStack] = []

    def __enter__(self) -> Session:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            stack.enter_context(self.as_default())
            self._blocks.append(stack.pop_all())
        return self

    def __exit__(self, *exc: Any) -> None:
        self._blocks.pop().close()
        self.close()

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: Any = None) -> None:
        """Drop the resources of `containers` (the default one if None) at `target`; sessions there are closed."""
        _, reset = find_backend(target)
        reset(target, containers, config)


class InteractiveSession(BaseSession):
    """A session that is the default one from its creation until `close()`, for shells and notebooks."""

    _open_count = 0

    def __init__(self, target: str = "", graph: Graph | None = None, config: config_pb2.ConfigProto | None = None):
        super().__init__(target, graph, config)
        if InteractiveSession._open_count > 0:
            warnings.warn(
                "An interactive session is already active. This can cause out-of-memory errors in some cases. You must "
                "explicitly call `InteractiveSession.close()` to release resources held by the other session(s).",
                stacklevel=2,
            )
        InteractiveSession._open_count += 1
        self._explicit_graph = graph
        defaults.session_stack.push(self)
        if graph is not None:
            defaults.graph_stack.push(graph)

    def close(self) -> None:
        if not self._closed:
            InteractiveSession._open_count -= 1
            defaults.session_stack.remove(self)
            if self._explicit_graph is not None:
                defaults.graph_stack.remove(self._explicit_graph)
        super().close()

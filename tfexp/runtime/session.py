"""`tf.Session` and `tf.InteractiveSession`: what a user calls to run a graph. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.graph import defaults
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime import (
    local,  # noqa: F401  (registers the backend of sessions without target)
)
from tfexp.runtime.backend import find_backend
from tfexp.runtime.feeds import flatten_feeds
from tfexp.runtime.fetches import is_composite
from tfexp.runtime.invocation import Invocation


def _eager_world() -> Graph:
    """For functions of eager tensors in graphs; eager execution is imported when first needed."""
    from tfexp.runtime.eager import EagerGraph

    return EagerGraph()


defaults.set_eager_world(_eager_world)

# Distinct (fetches, feed keys) that a session remembers; more than a program has, unless it makes them up in a loop.
_MAX_INVOCATIONS = 512


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
        # By structure, and by what `run` is called with as it is where that says it all.
        self._invocations: dict[Any, Invocation] = {}
        self._known: dict[Any, Invocation] = {}
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

    def list_devices(self) -> list[Any]:
        """The devices of this session (name, device_type, memory_limit_bytes)."""
        self._check_open()
        return self._backend.list_devices()

    def close(self) -> None:
        """Cancel what runs and free the resources (variables, queues). The session cannot run any more."""
        if not self._closed:
            self._closed = True
            self._invocations.clear()
            self._known.clear()
            self._backend.close()

    def __del__(self) -> None:
        # Garbage collection must not fail because __init__ did, nor because modules are gone at the interpreter's end.
        if not getattr(self, "_closed", True):
            try:
                self._backend.forget()
            except Exception:
                pass

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
        if not self._closed and self._mutations == self._graph._mutations:
            # The same call as before: fetches and feed keys find what was prepared for them.
            key = tuple(fetches) if type(fetches) is list else fetches
            try:
                known = self._known.get((key, tuple(feed_dict) if feed_dict else ()))
            except TypeError:  # something in there cannot be hashed
                known = None
            if known is not None and type(fetches) in _REMEMBERED and (not feed_dict or isinstance(feed_dict, dict)):
                return known.run(feed_dict.values() if feed_dict else (), options, run_metadata)
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
            self._known.clear()
            self._mutations = self._graph._mutations

    def _invocation(self, fetches: Any, feed_dict: Any) -> tuple[Invocation, Iterable[Any]]:
        """The prepared invocation for these fetches and feed keys, and the values in its order."""
        self._check_runnable()
        structure = _structure(fetches)
        if type(feed_dict) is dict and all(type(key) is Tensor for key in feed_dict):
            same = self._invocations.get((structure, tuple(feed_dict)))
            if same is not None:
                return same, feed_dict.values()
        pairs = flatten_feeds(self._graph, feed_dict) if feed_dict else []
        values = dict(pairs)
        tensors = tuple(values)
        if structure is None:
            return Invocation(self._graph, self._backend, fetches, tensors), values.values()
        key = (structure, tensors)
        found = self._invocations.get(key)
        if found is None:
            found = _remember(self._invocations, key, Invocation(self._graph, self._backend, fetches, tensors))
        plain = _plain_key(fetches)
        if plain is not None and len(tensors) == len(feed_dict or ()) and all(type(k) in _LEAVES for k in feed_dict or ()):
            _remember(self._known, (plain, tuple(feed_dict or ())), found)
        return found, values.values()

    def explain(self, fetches: Any, feed_dict: Any = None) -> Any:
        """How `run` with these arguments runs, without running it: `plan` (its `repr`: nodes before and after each pass,
        every step, buffers) and `source`, the generated code. Print it. tfexp's own; TensorFlow has nothing like it.
        """
        invocation, values = self._invocation(fetches, feed_dict)
        return invocation.explain(values)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs `fetches`, its arguments being the values for `feed_list`, in order.

        With `accept_options` it takes `options=` and `run_metadata=`. Source: `tf.Session.make_callable`.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        self._check_runnable()
        feeds = tuple(feed_list or ())
        if any(isinstance(feed, (tuple, list)) or is_composite(feed) for feed in feeds):
            return self._callable_with_parts(fetches, feeds, accept_options)
        tensors = [self._graph.as_graph_element(feed, allow_operation=False) for feed in feeds]
        invocation = Invocation(self._graph, self._backend, fetches, tensors)
        mutations = self._mutations

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            nonlocal invocation, mutations
            _check_arguments(values, tensors, accept_options or (options is None and run_metadata is None))
            self._check_runnable()
            if mutations != self._mutations:
                invocation = Invocation(self._graph, self._backend, fetches, tensors)
                mutations = self._mutations
            return invocation.run(values, options, run_metadata)

        return call

    def _callable_with_parts(self, fetches: Any, feeds: Sequence[Any], accept_options: bool) -> Callable[..., Any]:
        """As `make_callable`, for feeds some of which are several tensors: which of them a value says."""

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            _check_arguments(values, feeds, accept_options or (options is None and run_metadata is None))
            return self.run(fetches, dict(zip(feeds, values, strict=True)), options, run_metadata)

        return call


# Leaves whose equality is identity or that of names, and the kinds of fetches that are looked up without taking them apart.
_LEAVES = (Tensor, Operation, str)
_REMEMBERED = (*_LEAVES, list)


def _check_arguments(values: Sequence[Any], feeds: Sequence[Any], takes_options: bool) -> None:
    """TypeError unless a callable of `make_callable` may be called so."""
    if not takes_options:
        raise TypeError("make_callable was not asked for a callable that accepts options")
    if len(values) != len(feeds):
        raise TypeError(f"The callable takes {len(feeds)} values, one for each of feed_list, got {len(values)}")


def _plain_key(fetches: Any) -> Any:
    """What `run` looks fetches up by, for a leaf and for a list of leaves; None for anything else."""
    if type(fetches) is list:
        return tuple(fetches) if all(type(fetch) in _LEAVES for fetch in fetches) else None
    return fetches if type(fetches) in _LEAVES else None


def _remember(memory: dict[Any, Invocation], key: Any, invocation: Invocation) -> Invocation:
    if len(memory) >= _MAX_INVOCATIONS:
        memory.pop(next(iter(memory)), None)
    memory[key] = invocation
    return invocation


def _structure(fetches: Any) -> Any:
    """A hashable key of the structure of `fetches`; None for kinds whose equality says too little to remember them by."""
    if isinstance(fetches, (Tensor, Operation, str)):
        return fetches
    if type(fetches) in (list, tuple) or hasattr(fetches, "_fields"):
        parts = [_structure(part) for part in fetches]
        return None if None in parts else (type(fetches), *parts)
    if isinstance(fetches, dict):
        parts = [_structure(part) for part in fetches.values()]
        return None if None in parts else (type(fetches), tuple(fetches), *parts)
    if hasattr(fetches, "_as_graph_element"):
        return fetches._as_graph_element()
    # Composites (IndexedSlices …) are known by identity.
    return fetches if getattr(type(fetches), "__hash__", None) is object.__hash__ else None


class Session(BaseSession):
    """`with tf.Session(target, graph, config) as sess:` runs steps of a graph; see `run`. Source: `tf.Session`, TF 1.15.

    `target` is empty for this process, or names a server (`grpc://host:port`). Local sessions never share variables.
    The block makes the session and its graph the defaults, and closes the session at its end.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: config_pb2.ConfigProto | None = None):
        super().__init__(target, graph, config)
        self._block: contextlib.ExitStack | None = None

    def __enter__(self) -> Session:
        if self._block is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a session "
                "multiple times."
            )
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            stack.enter_context(self.as_default())
            self._block = stack.pop_all()
        return self

    def __exit__(self, *exc: Any) -> None:
        block, self._block = self._block, None
        assert block is not None
        block.close()
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

"""The session that Keras runs in, the variables that it initializes there, and their values as arrays.

A session of its own exists where the program has no default session, one for each thread. Variables that Keras made
(`track_variable`) are initialized when a session is next asked for, unless they have a value by then.
Source: `tf.keras.backend.get_session` and its siblings, TF 1.15.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfexp.graph.defaults import get_default_session
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph, graph_of, init_scope, reset_default_graph
from tfexp.keras.backend.graphs import (
    forget_learning_phases,
    forget_workspace,
    get_graph,
    kept_for,
    reset_uids,
    track_variable,
)
from tfexp.keras.backend.phases import forget_eager_phase, symbolic_learning_phase
from tfexp.ops.check_types import is_tensor
from tfexp.ops.eager_variables import EagerVariable
from tfexp.ops.state import is_variable_initialized
from tfexp.runtime import process_config
from tfexp.runtime.protos import ConfigProto
from tfexp.runtime.session import Session
from tfexp.train.deferred_restore import restore_due


class _Own(threading.local):
    session: Any = None


_own = _Own()
_manually = False

# How many of its graph's variables each session has been looked at for.
_seen: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def manual_variable_initialization(value: bool) -> None:
    """Whether initializing variables is the program's business. Source: the function of this name, TF 1.15."""
    global _manually
    _manually = value


def get_session(op_input_list: Sequence[Any] = ()) -> Any:
    """The default session, or Keras's own for the graph of these tensors; tracked variables have values in it.

    RuntimeError inside a function of the graph.
    """
    return session_of(graph_of(op_input_list) if op_input_list else None)


def session_of(graph: Graph | None) -> Any:
    """The same for a graph; for None, the one that Keras builds in."""
    session = get_default_session()
    if session is None:
        session = _own_session(graph)
    if not _manually:
        _initialize_variables(session)
    restore_due(session)
    return session


def _own_session(graph: Graph | None) -> Any:
    if get_default_graph().building_function:
        raise RuntimeError("Cannot get session inside Tensorflow graph function.")
    own, graph = _own.session, graph or get_graph()
    if own is None or own.graph is not graph or getattr(own, "_closed", False):
        own = _own.session = _new_session(graph)
    return own


def _new_session(graph: Graph) -> Session:
    """Of this process, or of its task where the graph's variables are those of a strategy with several workers."""
    for reference in kept_for(graph).variables:
        variable = reference()
        strategy = None if variable is None else variable._distribute_strategy
        if strategy is not None and (target := strategy.extended._session_target()):
            return Session(target, graph, strategy.update_config_proto(_configuration()))
    return Session(graph=graph, config=_configuration())


def _configuration() -> ConfigProto:
    """The process's settings; a layer that is placed on a device which is not there runs on another."""
    config = process_config.for_session() or ConfigProto()
    config.allow_soft_placement = True
    return config


def set_session(session: Any) -> None:
    """Run in this one from here on, where the program has no default session."""
    _own.session = session


def _initialize_variables(session: Any) -> None:
    kept = kept_for(session.graph)
    for reference in kept.optimizers:
        if (optimizer := reference()) is not None:
            for variable in optimizer.optimizer.variables():
                track_variable(variable)
    start, end = _seen.get(session, 0), len(kept.variables)
    if start == end:
        return
    new = [variable for reference in kept.variables[start:] if (variable := reference()) is not None]
    with session.graph.as_default():
        for variable in new:
            if kept.has_value[variable] is None:
                kept.has_value[variable] = is_variable_initialized(variable)
    have_values = session.run([kept.has_value[variable] for variable in new])
    initializers = [variable.initializer for variable, has_value in zip(new, have_values, strict=True) if not has_value]
    if initializers:
        session.run(initializers)
    _seen[session] = end


def clear_session() -> None:
    """Forget the graph, Keras's own session, all numbers of names and learning phases: start over."""
    if not executing_eagerly():
        reset_default_graph()
    forget_workspace()
    reset_uids()
    _own.session = None
    forget_learning_phases()
    forget_eager_phase()
    if not executing_eagerly():
        symbolic_learning_phase()


def get_value(x: Any) -> Any:
    """The value of a variable or tensor as an array; what is neither, as it is. RuntimeError while a function is built."""
    if not is_tensor(x):
        return x
    if isinstance(x, (EagerTensor, EagerVariable)):
        with init_scope():
            return x.numpy()
    return get_session((x,)).run(x)


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of several variables or tensors. RuntimeError while a function is built."""
    if executing_eagerly():
        return [x.numpy() for x in tensors]
    if get_default_graph().building_function:
        raise RuntimeError("Cannot get value inside Tensorflow graph function.")
    return list(get_session(tensors).run(list(tensors))) if tensors else []


def set_value(x: Any, value: Any) -> None:
    """Give a variable a value, an array of its shape."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Iterable[tuple[Any, Any]]) -> None:
    """Give each variable its value, all at once; nothing is added to the graph."""
    pairs = [(x, np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype)) for x, value in tuples]
    if not pairs:
        return
    with init_scope():
        eager = executing_eagerly()
    if eager or get_default_graph().building_function:
        for x, value in pairs:
            x.assign(value)
        return
    session = get_session([x for x, _ in pairs])
    initializers: list[Any] = []
    feeds: dict[Any, Any] = {}
    for initializer, value in ((copy.initializer, value) for x, value in pairs for copy in x._every_copy):
        initial = initializer.inputs[1]
        if initial in feeds:  # two variables that started with the same tensor
            session.run(initializers, feeds)
            initializers, feeds = [], {}
        initializers.append(initializer)
        feeds[initial] = value
    session.run(initializers, feeds)

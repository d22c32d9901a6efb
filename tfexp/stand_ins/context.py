"""`tensorflow.python.eager.context`: which mode this thread is in, and blocks that change it. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from typing import Any

from tfexp.graph.eager_tensor import DEVICE
from tfexp.graph.graph import Graph
from tfexp.graph.random_seed import set_random_seed
from tfexp.graph.scopes import device as device
from tfexp.graph.scopes import executing_eagerly as executing_eagerly
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.unpublished import get_name_scope
from tfexp.runtime import process_config
from tfexp.runtime.eager import ASYNC as ASYNC
from tfexp.runtime.eager import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT_FOR_INT32 as DEVICE_PLACEMENT_SILENT_FOR_INT32
from tfexp.runtime.eager import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from tfexp.runtime.eager import SYNC as SYNC
from tfexp.runtime.eager import eager_mode as eager_mode
from tfexp.runtime.eager import list_devices as list_devices
from tfexp.runtime.eager import num_gpus as num_gpus
from tfexp.runtime.eager_dispatch import forget_calls
from tfexp.runtime.eager_executors import Executor, current_executor
from tfexp.runtime.eager_executors import async_clear_error as async_clear_error
from tfexp.runtime.eager_executors import async_wait as async_wait
from tfexp.runtime.eager_executors import execution_mode as execution_mode
from tfexp.runtime.eager_executors import executor_scope as executor_scope
from tfexp.runtime.eager_executors import set_execution_mode as set_execution_mode
from tfexp.runtime.process_config import get_log_device_placement as get_log_device_placement
from tfexp.runtime.process_config import set_log_device_placement as set_log_device_placement

GRAPH_MODE, EAGER_MODE = range(2)
MIRRORING_NONE, MIRRORING_ALL = range(2)
_SHARED_NAME = str(uuid.uuid4())

in_eager_mode = executing_eagerly


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """A block that builds a graph: the default one, or, where ops run at once, a graph of the block's own."""
    with Graph().as_default() if executing_eagerly() else contextlib.nullcontext():
        yield


def is_async() -> bool:
    """Whether ops of this thread may return before they are done."""
    return current_executor().is_async()


class _Context:
    """What `context()` answers: questions about the one context there is."""

    def executing_eagerly(self) -> bool:
        return executing_eagerly()

    in_eager_mode = executing_eagerly

    def in_graph_mode(self) -> bool:
        return not executing_eagerly()

    def num_gpus(self) -> int:
        return num_gpus()

    def devices(self) -> list[str]:
        return list_devices()

    def ensure_initialized(self) -> None:
        """There is nothing to start."""

    def device(self, name: Any) -> Any:
        return device(name)

    @property
    def scope_name(self) -> str:
        return get_name_scope()

    @property
    def executor(self) -> Executor:
        """What runs this thread's ops."""
        return current_executor()

    @property
    def device_name(self) -> str:
        """Where values are computed."""
        return DEVICE

    def is_async(self) -> bool:
        return is_async()

    @property
    def execution_mode(self) -> int:
        """SYNC or ASYNC; may be set."""
        return ASYNC if is_async() else SYNC

    @execution_mode.setter
    def execution_mode(self, mode: int | None) -> None:
        set_execution_mode(mode)

    @property
    def soft_device_placement(self) -> bool:
        return process_config.get_soft_device_placement()

    @property
    def log_device_placement(self) -> bool:
        return process_config.get_log_device_placement()

    @property
    def inter_op_parallelism_threads(self) -> int:
        return process_config.get_inter_op_parallelism_threads()

    @property
    def intra_op_parallelism_threads(self) -> int:
        return process_config.get_intra_op_parallelism_threads()

    @property
    def device_policy(self) -> int:
        """What happens to values of other devices: kept for who asks, as there is one device only. May be set."""
        return _choices.device_policy

    @device_policy.setter
    def device_policy(self, policy: int | None) -> None:
        _choices.device_policy = DEVICE_PLACEMENT_SILENT if policy is None else policy

    @property
    def mirroring_policy(self) -> int:
        """Whether copies on other devices are kept: there are none. May be set."""
        return _choices.mirroring_policy

    @mirroring_policy.setter
    def mirroring_policy(self, policy: int | None) -> None:
        _choices.mirroring_policy = MIRRORING_NONE if policy is None else policy

    def _clear_caches(self) -> None:
        """Forget the constants that are kept for ops to come."""
        if executing_eagerly():
            get_default_graph().scalars.clear()
            forget_calls()


class _Choices(threading.local):
    """What a thread has chosen for its ops, none of which changes what they compute here."""

    device_policy = DEVICE_PLACEMENT_SILENT
    mirroring_policy = MIRRORING_NONE


_choices = _Choices()
_CONTEXT = _Context()


def context() -> _Context:
    return _CONTEXT


context_safe = context


@contextlib.contextmanager
def device_policy(policy: int | None) -> Iterator[None]:
    """A block with another policy for values of other devices; None is the usual one."""
    before, _CONTEXT.device_policy = _CONTEXT.device_policy, policy
    try:
        yield
    finally:
        _CONTEXT.device_policy = before


@contextlib.contextmanager
def mirroring_policy(policy: int | None) -> Iterator[None]:
    """A block with another policy for copies on other devices; None is the usual one."""
    before, _CONTEXT.mirroring_policy = _CONTEXT.mirroring_policy, policy
    try:
        yield
    finally:
        _CONTEXT.mirroring_policy = before


def shared_name(name: str | None = None) -> str | None:
    """The name by which a resource is shared: where ops run at once, one that is not shared gets the process's own."""
    return _SHARED_NAME if executing_eagerly() and not name else name


def set_global_seed(seed: int | None) -> None:
    """Set the seed of the ops that run at once here."""
    set_random_seed(seed)


def global_seed() -> int | None:
    """The seed that ops without one of their own have here, in this graph or at once."""
    seed: int | None = get_default_graph().seed
    return seed


def in_graph_mode() -> bool:
    """Whether calling an op here adds a node to a graph."""
    return not executing_eagerly()


def ensure_initialized() -> None:
    """There is nothing to start."""

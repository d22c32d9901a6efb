"""What only tests and old libraries take from `tensorflow.python.framework.ops`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto import node_def_pb2

import tfexp.ops.flops  # noqa: F401 - so that `get_stats_for_node_def` knows what TensorFlow's does
from tfexp.core.errors import OpError
from tfexp.graph import defaults
from tfexp.graph.convert import IndexedSlices, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import colocate_with, device, get_default_graph, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor

__all__ = ["IndexedSlices"]

name_scope_v1, device_v2 = name_scope, device

_TensorLike = (Tensor, IndexedSlices, SparseTensor)  # a base class there, and asked for with `isinstance`


def _colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    return colocate_with(op, ignore_existing)


@contextlib.contextmanager
def default_session(session: Any) -> Iterator[Any]:
    """A block in which `session` is the default one."""
    with defaults.session_stack.pushed(session):
        yield session


def name_from_scope_name(name: str) -> str:
    """The name of an op that is called as its scope is: without the last slash."""
    return name[:-1] if name.endswith("/") else name


def inside_function() -> bool:
    """Whether the default graph is that of a function."""
    return isinstance(get_default_graph(), FunctionGraph)


def dismantle_graph(graph: Any) -> None:
    """Python's collector takes graphs as they are."""


def tensor_id(tensor: Any) -> int:
    """A number that tells the tensor from all others."""
    return id(tensor)


def internal_convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if isinstance(value, IndexedSlices):
        return convert_to_tensor_or_indexed_slices(value, dtype, name)
    return convert_to_tensor(value, dtype, name, as_ref=as_ref)


def _assert_same_graph(original_item: Any, item: Any) -> None:
    """ValueError unless both are of one graph."""
    if original_item.graph is not item.graph:
        raise ValueError(f"{item} must be from the same graph as {original_item}.")


class NullContextmanager(contextlib.nullcontext[None]):
    """A block that changes nothing, whatever it is given."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """An eager tensor's value as text; one of several lines starts below."""
    value = tensor.numpy() if isinstance(tensor, EagerTensor) else tensor
    text = repr(value) if is_repr else str(value)
    return f"\n{text}" if "\n" in text else text


def raise_from_not_ok_status(error: OpError, name: str | None) -> None:
    raise error


# --- what counts as a tensor -------------------------------------------------------------------------------------------

_LIKE_TENSORS: list[type] = [Tensor]


def register_dense_tensor_like_type(tensor_type: Any) -> None:
    """Say that a class, with `name` and `dtype` as properties, is as good as Tensor. TypeError without these."""
    for field in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, field, None), property):
            raise TypeError(f"Type {getattr(tensor_type, '__name__', tensor_type)} does not define a `{field}` property")
    _LIKE_TENSORS.append(tensor_type)


def is_dense_tensor_like(value: Any) -> bool:
    return isinstance(value, tuple(_LIKE_TENSORS)) or hasattr(value, "_as_graph_element")


def _NodeDef(op_type: str, name: str, device: Any = None, attrs: Any = None) -> Any:
    """A NodeDef without inputs."""
    node = node_def_pb2.NodeDef(op=op_type, name=name, device=device if isinstance(device, str) else "")
    for key, value in (attrs or {}).items():
        node.attr[key].CopyFrom(value)
    return node


class RegisterShape:
    """Accepted and without effect, as in TensorFlow 1.15: shapes are what the op's own rule says."""

    def __init__(self, op_type: str):
        self._op_type = op_type

    def __call__(self, function: Any) -> Any:
        return function

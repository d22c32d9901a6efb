"""`StagingArea` and `MapStagingArea`: room on a device where one part of a step leaves what a later step takes.

Sources: `tensorflow.python.ops.data_flow_ops` and `tf.contrib.staging`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.nest import flatten
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import staging_ops
from tfexp.ops.array_identity import identity


class _StagingBase:
    """What both kinds have: elements of several values of the types `dtypes`, of `shapes` and with `names` if given."""

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        kind = type(self).__name__
        self._name = shared_name if shared_name is not None else get_default_graph().unique_name(kind)
        self._dtypes = [as_dtype(dtype) for dtype in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(self._dtypes):
                raise ValueError(f"StagingArea {what} must be the same length as dtypes")
        self._shapes = [TensorShape(None)] * len(self._dtypes) if shapes is None else [as_shape(s) for s in shapes]
        self._names = None if names is None else list(names)
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            self._root = no_op()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        return self._names

    @property
    def capacity(self) -> int:
        """The most elements that it may hold; 0: as many as come."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The most bytes that it may hold; 0: as many as come."""
        return self._memory_limit

    def _settings(self, dtypes: list[DType] | None = None) -> dict[str, Any]:
        return {
            "dtypes": self._dtypes if dtypes is None else dtypes,
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
        }

    def _given(self, vals: Any, indices: Any) -> tuple[list[Tensor], list[int]]:
        """The tensors to be put in, and which of an element's values they are. ValueError for what does not fit."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. "
                    f"Dictionary: {sorted(vals)}, staging area: {sorted(self._names)}"
                )
            chosen = [i for i, name in enumerate(self._names) if name in vals]
            values = [vals[self._names[i]] for i in chosen]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            values, chosen = list(vals), list(indices)
            if len(chosen) != len(values):
                raise ValueError(f"Number of indices {len(chosen)} doesn't match number of values {len(values)}")
        tensors = []
        for i, value in zip(chosen, values, strict=True):
            tensor = convert_to_tensor(value, dtype=None if isinstance(value, Tensor) else self._dtypes[i])
            if tensor.dtype.base_dtype is not self._dtypes[i].base_dtype:
                raise ValueError(f"Datatypes do not match. '{tensor.dtype.name}' != '{self._dtypes[i].name}'")
            tensor.get_shape().assert_is_compatible_with(self._shapes[i])
            tensors.append(tensor)
        return tensors, chosen

    def _chosen(self, indices: Sequence[Any] | None) -> list[int]:
        """The numbers of the values that `indices`, names or numbers, say; all without it."""
        if indices is None:
            return list(range(len(self._dtypes)))
        if all(isinstance(index, str) for index in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided {list(indices)}, but this Staging Area was created without names."
                )
            if not set(indices) <= set(self._names):
                raise ValueError(f"Named index not in Staging Area names {self._names}")
            return [self._names.index(index) for index in indices]
        if all(isinstance(index, int) for index in indices):
            return list(indices)
        raise ValueError(f"Mixed types in indices {list(indices)}. May only be str or int")

    def _element(self, make: Callable[[], Any], chosen: list[int]) -> Any:
        """The values that the node made by `make` takes out: a dict for an area with names, else a list."""
        with colocate_with(self._root):
            found = make()
        tensors: list[Tensor] = flatten(found)
        # A copy crosses to where it is asked for.
        if no_op().device != self._root.device:
            tensors = [identity(tensor) for tensor in tensors]
        for i, tensor in zip(chosen, tensors[len(tensors) - len(chosen) :], strict=True):
            tensor.set_shape(self._shapes[i])
        return tensors

    def _named(self, tensors: list[Tensor], chosen: list[int]) -> Any:
        return tensors if self._names is None else {self._names[i]: t for i, t in zip(chosen, tensors, strict=True)}


class StagingArea(_StagingBase):
    """Elements in a row: `put` waits while it is full, `get` while it is empty."""

    def put(self, values: Any, name: str | None = None) -> Operation:
        """A node that puts an element in: a list of its values, a value that is the only one, or a dict by name."""
        with name_scope(name, f"{self._name}_put", _flat(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            if not isinstance(values, dict) and len(values) != len(self._dtypes):
                raise ValueError(f"Unexpected number of inputs {len(values)} vs {len(self._dtypes)}")
            tensors, chosen = self._given(values, range(len(values)))
            if len(chosen) < len(self._dtypes):
                raise ValueError(f"Unexpected number of inputs {len(chosen)} vs {len(self._dtypes)}")
            with colocate_with(self._root):
                node: Operation = staging_ops.stage_op(tensors, name=scope, **self._settings())
            return node

    def get(self, name: str | None = None) -> Any:
        """The values of the element that was put in first: a list, or a dict by name."""
        return self._all(lambda: staging_ops.unstage_op(name=name or f"{self._name}_get", **self._settings()))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The values of the element that is to be taken as number `index`, which stays; waits until it is there."""
        return self._all(lambda: staging_ops.stage_peek_op(index, name=name or f"{self._name}_peek", **self._settings()))

    def _all(self, make: Callable[[], Any]) -> Any:
        chosen = self._chosen(None)
        return self._named(self._element(make, chosen), chosen)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are there."""
        result: Tensor = staging_ops.stage_size_op(name=name or f"{self._name}_size", **self._settings())
        return result

    def clear(self, name: str | None = None) -> Operation:
        """A node that throws all elements away."""
        node: Operation = staging_ops.stage_clear_op(name=name or f"{self._name}_clear", **self._settings())
        return node


class MapStagingArea(_StagingBase):
    """Elements by key, a scalar int64. Their values may be put in one by one; an element can be taken once it is whole.

    ordered: `get` without a key takes the smallest one.
    """

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ops = staging_ops.ordered_map_ops if ordered else staging_ops.map_ops

    def put(self, key: Any, vals: Any, indices: Sequence[int] | None = None, name: str | None = None) -> Operation:
        """A node that puts values of the element `key` in: a dict by name, or a list with the values' numbers."""
        with name_scope(name, f"{self._name}_put", _flat(vals)) as scope:
            tensors, chosen = self._given(vals, indices)
            with colocate_with(self._root):
                node: Operation = self._ops["stage"](key, chosen, tensors, name=scope, **self._settings())
            return node

    def get(self, key: Any = None, indices: Sequence[Any] | None = None, name: str | None = None) -> tuple[Any, Any]:
        """(key, values) of the element `key`, or of any; of it only the values `indices`, names or numbers, if given."""
        chosen = self._chosen(indices)
        settings = self._settings([self._dtypes[i] for i in chosen])
        if key is None:
            name = name or f"{self._name}_get_nokey"
            found = self._element(lambda: self._ops["unstage_no_key"](chosen, name=name, **settings), chosen)
            return found[0], self._named(found[1:], chosen)
        name = name or f"{self._name}_get"
        found = self._element(lambda: self._ops["unstage"](key, chosen, name=name, **settings), chosen)
        return key, self._named(found, chosen)

    def peek(self, key: Any, indices: Sequence[Any] | None = None, name: str | None = None) -> Any:
        """The values of the element `key`, which stays; waits until it is there."""
        chosen = self._chosen(indices)
        settings = self._settings([self._dtypes[i] for i in chosen])
        name = name or f"{self._name}_pop"
        return self._named(self._element(lambda: self._ops["peek"](key, chosen, name=name, **settings), chosen), chosen)

    def size(self, name: str | None = None) -> Tensor:
        """How many whole elements are there."""
        result: Tensor = self._ops["size"](name=name or f"{self._name}_size", **self._settings())
        return result

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements are there of which values are missing."""
        result: Tensor = self._ops["incomplete_size"](name=name or f"{self._name}_incomplete_size", **self._settings())
        return result

    def clear(self, name: str | None = None) -> Operation:
        """A node that throws all elements away."""
        node: Operation = self._ops["clear"](name=name or f"{self._name}_clear", **self._settings())
        return node


def _flat(values: Any) -> list[Any]:
    return (
        list(values.values())
        if isinstance(values, dict)
        else list(values)
        if isinstance(values, (list, tuple))
        else [values]
    )

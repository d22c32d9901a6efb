"""Functions applied along the first dimension: `tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.foldr`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import get_variable_scope


def _checked(fn: Any, elems: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if not nest.flatten(elems):
        raise ValueError("elems must hold at least one tensor.")


class _cached_variables:  # noqa: N801 (a context manager)
    """Variables that are made in the loop are read where they are, once, rather than in each iteration."""

    def __enter__(self) -> None:
        self._scope = get_variable_scope()
        self._before = self._scope.caching_device
        if self._before is None:
            self._scope.set_caching_device(lambda op: op.device)

    def __exit__(self, *error: Any) -> None:
        if self._before is None:
            self._scope.set_caching_device(None)


def _count(elems: list[Tensor]) -> Any:
    """How many rows: a number where it is known, else a tensor. ValueError where the elements differ in it."""
    known = TensorShape([None])
    for tensor in elems:
        if tensor.get_shape().rank == 0:
            raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
        known = known.merge_with(tensor.get_shape()[:1])
    rows = known[0].value
    return shape(elems[0])[0] if rows is None else rows


def _rows(elems: list[Tensor], count: Any, element_shapes: bool = False) -> list[TensorArray]:
    """One TensorArray for each tensor, with its rows."""
    arrays = [
        TensorArray(
            dtype=tensor.dtype,
            size=count,
            dynamic_size=False,
            element_shape=tensor.get_shape()[1:] if element_shapes else None,
            infer_shape=True,
        )
        for tensor in elems
    ]
    return [array.unstack(tensor) for array, tensor in zip(arrays, elems, strict=True)]


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of each row of `elems` (one tensor, or a structure of them), stacked. `dtype`: the results', if not `elems`'."""
    _checked(fn, elems)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor(input.indices, fn(input.values), "
            "input.dense_shape) or  SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    flat = nest.flatten(elems)
    with name_scope(name, "map", flat), _cached_variables():
        tensors = [convert_to_tensor(leaf, name="elem") for leaf in flat]
        structure = elems if dtype is None else dtype
        types = [t.dtype for t in tensors] if dtype is None else nest.flatten(dtype)
        count = _count(tensors)
        inputs = _rows(tensors, count)
        start = constant(0)
        outputs = [TensorArray(dtype=kind, size=count, dynamic_size=False, infer_shape=infer_shape) for kind in types]

        def body(i: Tensor, arrays: list[TensorArray]) -> Any:
            values = fn(nest.pack_sequence_as(elems, [array.read(i) for array in inputs]))
            nest.assert_same_structure(structure, values)
            written = [a.write(i, v) for a, v in zip(arrays, nest.flatten(values), strict=True)]
            return i + 1, written

        _, arrays = while_loop(
            lambda i, _: i < count,
            body,
            (start, outputs),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        results = [array.stack() for array in arrays]
        _set_rows(results, count)
        return nest.pack_sequence_as(structure, results)


def _set_rows(results: list[Tensor], count: Any) -> None:
    rows = TensorShape([count if isinstance(count, int) else None])
    for result in results:
        if result.get_shape().rank is not None:
            result.set_shape(rows.concatenate(result.get_shape()[1:]))


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values of `a = fn(a, row)` over the rows of `elems`, from `initializer` or the first row on, stacked.

    `reverse`: from the last row to the first; the results stay in the rows' order.
    """
    _checked(fn, elems)
    flat = nest.flatten(elems)
    with name_scope(name, "scan", flat), _cached_variables():
        tensors = [convert_to_tensor(leaf, name="elem") for leaf in flat]
        count = _count(tensors)
        inputs = _rows(tensors, count, element_shapes=True)
        structure = elems if initializer is None else initializer
        if initializer is None:
            first = count - 1 if reverse else 0
            values = [array.read(first) for array in inputs]
            done = 1
        else:
            values = [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)]
            done = 0
        outputs = [
            TensorArray(
                dtype=value.dtype,
                size=count,
                element_shape=value.get_shape() if infer_shape else None,
                dynamic_size=False,
                infer_shape=infer_shape,
            )
            for value in values
        ]
        if initializer is None:
            outputs = [array.write(first, value) for array, value in zip(outputs, values, strict=True)]

        def body(i: Tensor, accumulated: list[Tensor], arrays: list[TensorArray]) -> Any:
            row = nest.pack_sequence_as(elems, [array.read(i) for array in inputs])
            following = fn(nest.pack_sequence_as(structure, accumulated), row)
            nest.assert_same_structure(structure, following)
            flat_following = nest.flatten(following)
            written = [array.write(i, value) for array, value in zip(arrays, flat_following, strict=True)]
            return (i - 1 if reverse else i + 1), flat_following, written

        start = count - 1 - done if reverse else done
        _, _, arrays = while_loop(
            (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < count),
            body,
            (start, values, outputs),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        results = [array.stack() for array in arrays]
        _set_rows(results, count)
        return nest.pack_sequence_as(structure, results)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of `a = fn(a, row)` over the rows of `elems`, from `initializer` or the first row on."""
    return _fold(fn, elems, initializer, (parallel_iterations, back_prop, swap_memory), name, "foldl")


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """As `foldl`, from the last row to the first."""
    return _fold(fn, elems, initializer, (parallel_iterations, back_prop, swap_memory), name, "foldr")


def _fold(fn: Any, elems: Any, initializer: Any, options: tuple[int, bool, bool], name: str | None, kind: str) -> Any:
    _checked(fn, elems)
    from_right = kind == "foldr"
    parallel_iterations, back_prop, swap_memory = options
    flat = nest.flatten(elems)
    with name_scope(name, kind, flat), _cached_variables():
        tensors = [convert_to_tensor(leaf, name="elem") for leaf in flat]
        count = _count(tensors)
        inputs = _rows(tensors, count)

        def row(i: Any) -> Any:
            return nest.map_structure(lambda array: array.read(i), nest.pack_sequence_as(elems, inputs))

        if from_right:
            start: Any = count if initializer is not None else count - 1
            value = initializer if initializer is not None else row(start)
        else:
            value = initializer if initializer is not None else row(0)
            start = constant(0 if initializer is not None else 1)

        def from_left_body(i: Tensor, accumulated: Any) -> Any:
            following = fn(accumulated, row(i))
            return [i + 1, following]

        def from_right_body(i: Tensor, accumulated: Any) -> Any:
            i = i - 1
            return [i, fn(accumulated, row(i))]

        _, result = while_loop(
            (lambda i, _: i > 0) if from_right else (lambda i, _: i < count),
            from_right_body if from_right else from_left_body,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return result

"""`tf.TensorArray`: an array of tensors that loops read and write. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.tensor_array_ops import (
    tensor_array_close_op,
    tensor_array_concat_op,
    tensor_array_gather_op,
    tensor_array_grad_op,
    tensor_array_op,
    tensor_array_read_op,
    tensor_array_scatter_op,
    tensor_array_size_op,
    tensor_array_split_op,
    tensor_array_write_op,
)

_log = logging.getLogger("tensorflow")


class Known:
    """What the TensorArrays that stand for one array (each write gives a new one) know in common."""

    def __init__(self, dtype: dtypes.DType, element_shape: TensorShape, infer_shape: bool, colocate: bool):
        self.dtype = dtype
        self.element_shape = element_shape
        self.infer_shape = infer_shape
        self.colocate = colocate
        self.first_written: Any = None
        self.size: Any = None
        self.dynamic_size = False


class TensorArray:
    """`size` tensors of type `dtype`, each written once; a write gives a new TensorArray, which has it.

    Either `size` (more with `dynamic_size`), or the `handle` (and `flow`) of another one. `clear_after_read`: elements can
    be read once. Elements share a shape unless `infer_shape` is False; `element_shape` says what is known of it.
    """

    # What it is where operations run at once (`tensor_array_eager`).
    as_eager: type[TensorArray]

    def __new__(cls, *args: Any, **kwargs: Any) -> TensorArray:
        if cls is not TensorArray or not executing_eagerly():
            return super().__new__(cls)
        if not hasattr(cls, "as_eager"):
            import_module("tfexp.ops.tensor_array_eager")  # when first needed: graphs do without
        return super().__new__(cls.as_eager)

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        if handle is None:
            if size is None:
                raise ValueError("Size must be provided if handle is not provided")
        else:
            given = {
                "tensor_array_name": tensor_array_name,
                "size": size,
                "element_shape": element_shape,
                "dynamic_size": dynamic_size,
                "clear_after_read": clear_after_read,
            }
            for argument, value in given.items():
                if value:
                    raise ValueError(f"Cannot provide both a handle and {argument} at the same time")
            if not isinstance(handle, Tensor):
                raise TypeError("Handle must be a Tensor")
        self._known = Known(as_dtype(dtype).base_dtype, as_shape(element_shape), infer_shape, colocate_with_first_write_call)
        self._known.size, self._known.dynamic_size = size, bool(dynamic_size)
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle = handle
                if flow is None:
                    with colocate_with(handle):
                        flow = constant(0, dtype=dtypes.float32, name="flow")
                self._flow = flow
                return
            with device(None) if colocate_with_first_write_call else contextlib.nullcontext():
                self._handle, self._flow = tensor_array_op(
                    size,
                    dtype=self._known.dtype,
                    element_shape=self._known.element_shape,
                    identical_element_shapes=infer_shape,
                    dynamic_size=bool(dynamic_size),
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )

    @property
    def flow(self) -> Tensor:
        """What depends on all writes so far."""
        return self._flow

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def dtype(self) -> dtypes.DType:
        return self._known.dtype

    @property
    def dynamic_size(self) -> bool:
        return self._known.dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        return self._known.element_shape

    def _with_flow(self, flow: Tensor) -> TensorArray:
        """This array after what `flow` depends on."""
        other = object.__new__(TensorArray)
        other._known, other._handle, other._flow = self._known, self._handle, flow
        return other

    def _written(self, flow: Tensor) -> TensorArray:
        """This array after a write. In graphs the log says when nobody ever looks at it, for then the write does nothing."""
        after = self._with_flow(flow)
        if type(after) is TensorArray and not get_default_graph().building_function:
            after.__class__ = _Unused
        return after

    def mark_used(self) -> None:
        """Say that the result of a write is not needed, so that the log does not tell. Source: TF 1.15."""

    def _learn_shape(self, element: TensorShape) -> None:
        known = self._known
        if not known.element_shape.is_compatible_with(element):
            raise ValueError(f"Inconsistent shapes: saw {element} but expected {known.element_shape} ")
        if known.infer_shape:
            known.element_shape = known.element_shape.merge_with(element)

    @contextlib.contextmanager
    def _where_written(self, value: Tensor) -> Iterator[None]:
        """All writes run where the value of the first one was."""
        if not self._known.colocate:
            yield
            return
        if self._known.first_written is None:
            self._known.first_written = value
        with colocate_with(self._known.first_written):
            yield

    def identity(self) -> TensorArray:
        """The same array; control dependencies apply to what is done with it."""
        return self._with_flow(identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array of this array's gradients for one call of tf.gradients (`source`)."""
        flow = self.flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = tensor_array_grad_op(self._handle, flow, source=source, name=name)
            with control_dependencies([handle]):
                flow = identity(flow, name="gradient_flow")
            gradient = TensorArray(
                self.dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._known.infer_shape,
                colocate_with_first_write_call=False,
            )
            gradient._known.element_shape = self.element_shape
            return gradient

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`, a scalar int32."""
        value: Tensor = tensor_array_read_op(self._handle, index, self._flow, dtype=self.dtype, name=name)
        value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array with `value` at `index`. ValueError for a shape that does not fit."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            tensor = convert_to_tensor(value, preferred_dtype=self.dtype, name="value")
            self._learn_shape(tensor.get_shape())
            with self._where_written(tensor):
                return self._written(tensor_array_write_op(self._handle, index, tensor, self._flow, name=name))

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first dimension."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            value = self.gather(range_(0, self.size()), name=name)
            if self.element_shape.rank is not None and not self.dynamic_size and self._known.size is not None:
                count = static_value(convert_to_tensor(self._known.size)) if isinstance(self._known.size, Tensor) else None
                value.set_shape(TensorShape([None if count is None else int(count)]).concatenate(self.element_shape))
            return value

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, a vector, along a new first dimension."""
        value: Tensor = tensor_array_gather_op(
            self._handle, indices, self._flow, dtype=self.dtype, element_shape=self.element_shape, name=name
        )
        if self.element_shape.rank is not None:
            value.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, joined along their first dimension."""
        rest = self.element_shape[1:] if self.element_shape.rank is not None else TensorShape(None)
        value, _ = tensor_array_concat_op(self._handle, self._flow, dtype=self.dtype, element_shape_except0=rest, name=name)
        joined: Tensor = value
        if self._known.infer_shape and self.element_shape.rank:
            count, length = static_value(self.size()), self.element_shape[0].value
            total = None if count is None or length is None else int(count) * length
            joined.set_shape(TensorShape([total]).concatenate(rest))
        return joined

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """This array with the rows of `value` for elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            tensor = convert_to_tensor(value, preferred_dtype=self.dtype)
            count = shape(tensor)[0]
            return self.scatter(indices=range_(0, count), value=tensor, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array with the rows of `value` at `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            tensor = convert_to_tensor(value, preferred_dtype=self.dtype, name="value")
            self._learn_shape(tensor.get_shape()[1:])
            with self._where_written(tensor):
                return self._written(tensor_array_scatter_op(self._handle, indices, tensor, self._flow, name=name))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """This array with consecutive pieces of `value`, of these `lengths`, for elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            tensor = convert_to_tensor(value, dtype=self.dtype, name="value")
            with self._where_written(tensor):
                lengths = cast(lengths, dtypes.int64)
                known = static_value(lengths)
                if tensor.get_shape().rank and known is not None and known.size and known.max() == known.min():
                    self._learn_shape(TensorShape([int(known.flat[0])]).concatenate(tensor.get_shape()[1:]))
                return self._written(tensor_array_split_op(self._handle, tensor, lengths, self._flow, name=name))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""
        if not self.dynamic_size and self._known.size is not None:
            return convert_to_tensor(self._known.size, dtype=dtypes.int32)
        size: Tensor = tensor_array_size_op(self._handle, self._flow, name=name)
        return size

    def close(self, name: str | None = None) -> Operation:
        """An operation after which the array cannot be used."""
        node: Operation = tensor_array_close_op(self._handle, name=name)
        return node


class _Unused(TensorArray):
    """What a write gave, until something looks at it."""

    def __getattribute__(self, name: str) -> Any:
        self.__class__ = TensorArray  # type: ignore[assignment]
        return getattr(self, name)

    def __del__(self) -> None:
        write: Operation = object.__getattribute__(self, "_flow").op
        _log.error(
            "Object was never used (type TensorArray): what %r gave, which was made at %s. A write is only in the array "
            "that it gives; call that one's mark_used() method if nothing is to be done with it.",
            write.name,
            write.origin,
        )

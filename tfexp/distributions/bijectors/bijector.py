"""What all bijectors are: a function, its inverse, log |det| of its Jacobian. Source: TF 1.15 (`Bijector`).

A bijector transforms events of so many axes at least; more of them are as many independent transformations, whose
log-determinants sum up. What was computed of a tensor is kept, so that the inverse of an image is the tensor it is of.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_identity import identity
from tfexp.ops.reduce import reduce_sum


class Bijector:
    """The base class. A subclass defines `_forward`, `_inverse` and one of the log-determinants.

    ValueError unless one of the least numbers of event axes is given; the other is the same by default.
    """

    _is_injective = True

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ):
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        forward = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        inverse = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        for which, ndims in (("forward", forward), ("inverse", inverse)):
            if not isinstance(ndims, int):
                raise TypeError(f"Expected {which}_min_event_ndims to be a Python integer, saw: {ndims!r}")
            if ndims < 0:
                raise ValueError(f"{which}_min_event_ndims must be a non-negative integer.")
        assert forward is not None and inverse is not None
        self._forward_min_event_ndims, self._inverse_min_event_ndims = forward, inverse
        self._graph_parents = list(graph_parents or [])
        self._is_constant_jacobian, self._validate_args = is_constant_jacobian, validate_args
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._name = name or type(self).__name__
        self._image_of: dict[Tensor, Tensor] = {}
        self._preimage_of: dict[Tensor, Tensor] = {}
        self._determinants: dict[tuple[Tensor, Any], Any] = {}  # of the inverse, by its argument and the event's axes

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def graph_parents(self) -> list[Any]:
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    @property
    def dtype(self) -> DType | None:
        return self._dtype

    @property
    def name(self) -> str:
        return self._name

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the image of an event of that shape."""
        return as_shape(self._forward_event_shape(as_shape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        return as_shape(self._inverse_event_shape(as_shape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """The same as an int32 vector, of one."""
        with self._scope(name, [input_shape]):
            dims = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
            return identity(self._forward_event_shape_tensor(dims), name="forward_event_shape")

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        with self._scope(name, [output_shape]):
            dims = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
            return identity(self._inverse_event_shape_tensor(dims), name="inverse_event_shape")

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def forward(self, x: Any, name: str = "forward", **kwargs: Any) -> Any:
        """The image of x. TypeError for another type than the bijector's."""
        with self._scope(name, [x]):
            return self._image(self._tensor(x, "x"), **kwargs)

    def inverse(self, y: Any, name: str = "inverse", **kwargs: Any) -> Any:
        """What y is the image of; a tuple of all where there are several."""
        with self._scope(name, [y]):
            return self._preimage(self._tensor(y, "y"), **kwargs)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """log |det| of the inverse's Jacobian at y, whose last `event_ndims` axes are one event: of the others' shape.

        ValueError for fewer axes than the bijector transforms. Where the Jacobian is constant it is one for all events.
        """
        with self._scope(name, [y]):
            axes = self._axes(event_ndims, self._inverse_min_event_ndims)
            y = self._tensor(y, "y")
            if not self._is_injective:
                each = self._inverse_log_det_jacobian(y, **kwargs)
                return tuple(self._summed(one, y, self._inverse_min_event_ndims, axes) for one in each)
            return self._determinant(y, axes, **kwargs)

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """log |det| of the Jacobian at x: minus that of the inverse at its image. NotImplementedError if it has several."""
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._scope(name, [x]):
            axes = self._axes(event_ndims, self._forward_min_event_ndims)
            x = self._tensor(x, "x")
            known = self._image_of.get(x)
            of_image = axes - self._forward_min_event_ndims + self._inverse_min_event_ndims
            if known is not None and (known, of_image) in self._determinants:
                return -self._determinants[known, of_image]
            if self._has("_forward_log_det_jacobian"):
                found = self._forward_log_det_jacobian(x, **kwargs)
                return self._summed(found, x, self._forward_min_event_ndims, axes)
            return -self._determinant(self._image(x, **kwargs), of_image, **kwargs)

    # --- what subclasses say ------------------------------------------------------------------------------------------

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("inverse not implemented.")

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        """Of events of the least number of axes."""
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    # --- how it is found ----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _scope(self, name: str, values: Sequence[Any]) -> Iterator[str]:
        with name_scope(self._name), name_scope(name, values=[*values, *self._graph_parents]) as scope:
            yield scope

    def _has(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Bijector, method)

    def _tensor(self, value: Any, name: str) -> Tensor:
        tensor = convert_to_tensor(value, None if hasattr(value, "dtype") else self._dtype, name=name)
        if self._dtype is not None and tensor.dtype.base_dtype != self._dtype:
            raise TypeError(f"Input had dtype {tensor.dtype.name} but expected {self._dtype.name}.")
        return tensor

    def _image(self, x: Tensor, **kwargs: Any) -> Any:
        if not self._is_injective or kwargs:
            return self._forward(x, **kwargs)
        if x not in self._image_of:
            self._keep(x, self._forward(x))
        return self._image_of[x]

    def _preimage(self, y: Tensor, **kwargs: Any) -> Any:
        if not self._is_injective or kwargs:
            return self._inverse(y, **kwargs)
        if y not in self._preimage_of:
            self._keep(self._inverse(y), y)
        return self._preimage_of[y]

    def _keep(self, x: Tensor, y: Tensor) -> None:
        self._image_of[x], self._preimage_of[y] = y, x

    def _determinant(self, y: Tensor, axes: Any, **kwargs: Any) -> Any:
        """The inverse's; it is kept unless there are further arguments."""
        if (y, axes) in self._determinants and not kwargs:
            return self._determinants[y, axes]
        if self._has("_inverse_log_det_jacobian"):
            found = self._summed(self._inverse_log_det_jacobian(y, **kwargs), y, self._inverse_min_event_ndims, axes)
        else:
            x = self._preimage(y, **kwargs)
            of_x = axes - self._inverse_min_event_ndims + self._forward_min_event_ndims
            found = -self._summed(self._forward_log_det_jacobian(x, **kwargs), x, self._forward_min_event_ndims, of_x)
        if not kwargs:
            self._determinants[y, axes] = found
        return found

    def _axes(self, event_ndims: Any, least: int) -> Any:
        """An int, or a tensor where only the run knows."""
        known = static_value(event_ndims) if isinstance(event_ndims, Tensor) else event_ndims
        if known is None:
            return event_ndims
        if int(known) != known:
            raise ValueError(f"Expected integer dtype, got {known!r}")
        if known < least:
            raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
        return int(known)

    def _summed(self, found: Any, argument: Tensor, least: int, axes: Any) -> Any:
        """The log-determinants of the transformations that are one event's."""
        is_known = isinstance(axes, int)
        if is_known and axes == least:
            return found
        reduced = list(range(least - axes, 0)) if is_known else range_(least - axes, 0)
        if self._is_constant_jacobian:
            dims: Any = shape(argument)
            last: Any = rank(argument) - least  # type: ignore[operator]
            found = ones(dims[last - (axes - least) : last], found.dtype) * found  # type: ignore[operator]
        return reduce_sum(found, reduced)

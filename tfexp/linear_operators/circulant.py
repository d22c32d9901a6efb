"""Circulant operators: convolutions that wrap around, diagonal where the discrete Fourier transform has gone before.

Of `spectrum` [..., n1 (, n2 (, n3))] the operator is F^H diag(spectrum) F, F being the unitary transform of as many
dimensions. Blocks of rows are numbered with the last dimension fastest. Source: `tf.linalg.LinearOperatorCirculant*`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.operator import LinearOperator, adjoint_of
from tfexp.ops import array, array_join, array_order, complex_numbers, fourier, reduce
from tfexp.ops.array_fill import ones
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal, assert_near, assert_positive
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import log

_TRANSFORMS = {
    1: (fourier.fft, fourier.ifft),
    2: (fourier.fft2d, fourier.ifft2d),
    3: (fourier.fft3d, fourier.ifft3d),
}


class _Circulant(LinearOperator):
    def __init__(
        self,
        spectrum: Any,
        depth: int,
        input_output_dtype: Any,
        is_non_singular: bool | None,
        is_self_adjoint: bool | None,
        is_positive_definite: bool | None,
        is_square: bool | None,
        name: str,
    ):
        with name_scope(name, values=[spectrum]):
            self._given = convert_to_tensor(spectrum, name="spectrum")
        if self._given.shape.rank is not None and self._given.shape.rank < depth:
            raise ValueError(f"Argument spectrum must have at least {depth} dimensions.  Found: {self._given}")
        if is_square is False:
            raise ValueError("A circulant operator is always square.")
        if not self._given.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        self._depth = depth
        wide = dtypes.complex128 if self._given.dtype.real_dtype is dtypes.float64 else dtypes.complex64
        self._spectrum = cast(self._given, wide)
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(input_output_dtype, [self._given], *hints, name=name)

    @property
    def spectrum(self) -> Tensor:
        return self._given

    @property
    def block_depth(self) -> int:
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        return TensorShape([None] * self._depth) if self._given.shape.rank is None else self._given.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        return array.shape(self._given)[-self._depth :]  # type: ignore[index,no-any-return]

    def _shape(self) -> TensorShape:
        size = self.block_shape.num_elements()
        return batches.static_batch(self._given, self._depth).concatenate([size, size])

    def _shape_tensor(self) -> Tensor:
        size = reduce.reduce_prod(self.block_shape_tensor())
        return array_join.concat([batches.batch_of(self._given, self._depth), array_join.stack([size, size])], 0)

    def _transformed(self, x: Tensor, weigh: Any) -> Tensor:
        """The columns of `x`, transformed, weighed by `weigh(them)` and transformed back."""
        forward, backward = _TRANSFORMS[self._depth]
        columns = cast(array_order.matrix_transpose(x), self._spectrum.dtype)
        whole: Any = array.shape(columns)
        blocks = array.reshape(columns, array_join.concat([whole[:-1], self.block_shape_tensor()], 0))
        result = backward(weigh(forward(blocks)))
        batch: Any = array.shape(result)
        flat = array.reshape(result, array_join.concat([batch[: -self._depth], whole[-1:]], 0))
        return cast(array_order.matrix_transpose(flat), self.dtype)

    def _weights(self, adjoint: bool) -> Tensor:
        """The spectrum with a dimension for the columns before those of the block."""
        weights = complex_numbers.conj(self._spectrum) if adjoint else self._spectrum
        return array.expand_dims(weights, -self._depth - 1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._transformed(adjoint_of(x, adjoint_arg), lambda spectrum: spectrum * self._weights(adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._transformed(adjoint_of(rhs, adjoint_arg), lambda spectrum: spectrum / self._weights(adjoint))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """What the operator convolves with: its first column, in the shape of the block."""
        with self._scope(name):
            return cast(_TRANSFORMS[self._depth][1](self._spectrum), self.dtype)

    def _block_axes(self) -> list[int]:
        return [-1 - i for i in range(self._depth)]

    def _trace(self) -> Tensor:
        return cast(reduce.reduce_sum(self._spectrum, axis=self._block_axes()), self.dtype)

    def _diag_part(self) -> Tensor:
        size: Any = self._side(-1)
        mean: Any = array.expand_dims(self._trace() / cast(size, self.dtype), -1)
        return batches.repeated(mean, self._batch(), self.batch_shape, event_dims=1) * ones([size], dtype=self.dtype)

    def _determinant(self) -> Tensor:
        return cast(reduce.reduce_prod(self._spectrum, axis=self._block_axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce.reduce_sum(log(absolute(self._spectrum)), axis=self._block_axes()), self.dtype)

    def _inverse(self) -> LinearOperator:
        return type(self)(1.0 / self._given, self.dtype, True, self.is_self_adjoint, self.is_positive_definite)  # type: ignore

    def _adjoint(self) -> LinearOperator:
        return type(self)(complex_numbers.conj(self._given), self.dtype, self.is_non_singular)  # type: ignore

    def _assert_non_singular(self) -> Any:
        return assert_positive(absolute(self._spectrum), message="Singular operator:  Spectrum contained zero values.")

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """An op that fails in the run unless the spectrum is that of a real operator: the conjugate of itself backwards."""
        with self._scope(name):
            imaginary: Any = complex_numbers.imag(_TRANSFORMS[self._depth][1](self._spectrum))
            size = reduce.reduce_max(absolute(self._spectrum))
            most = 20 * np.finfo(self._spectrum.dtype.real_dtype.as_numpy_dtype).eps * size
            return assert_less_equal(absolute(imaginary), most, message="Spectrum was not Hermitian")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(
            complex_numbers.real(self._spectrum),
            message="Not positive definite:  Real part of spectrum was not all positive.",
        )

    def _assert_self_adjoint(self) -> Any:
        imaginary: Any = complex_numbers.imag(self._spectrum)
        return assert_near(imaginary, 0 * imaginary, message="Not self-adjoint:  The spectrum contained imaginary parts.")


class LinearOperatorCirculant(_Circulant):
    """Convolutions of vectors. Source: `tf.linalg.LinearOperatorCirculant`."""

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ):
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, 1, input_output_dtype, *hints, name)


class LinearOperatorCirculant2D(_Circulant):
    """Convolutions of images. Source: `tf.linalg.LinearOperatorCirculant2D`."""

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ):
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, 2, input_output_dtype, *hints, name)


class LinearOperatorCirculant3D(_Circulant):
    """Convolutions of volumes. Source: `tf.linalg.LinearOperatorCirculant3D`."""

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ):
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, 3, input_output_dtype, *hints, name)

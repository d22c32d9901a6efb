"""The discrete Fourier transforms over the innermost one, two or three dimensions, of complex and of real signals.

`fft_length` of the real ones says how long the signal is in each transformed dimension: longer signals are cut, and the
functions (not the ops) pad shorter ones with zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, array_pad, elementwise_binary
from tfexp.ops.shape_rules import required_dim, unknown_shapes, with_rank, with_rank_at_least

_COMPLEX = "(input: Tcomplex) -> (output: Tcomplex) {Tcomplex: type in [complex64,complex128] = complex64}"
_FORWARD = (
    "(input: Treal, fft_length: int32) -> (output: Tcomplex) {Treal: type in [float,double] = float; Tcomplex: type in "
    "[complex64,complex128] = complex64}"
)
_BACKWARD = (
    "(input: Tcomplex, fft_length: int32) -> (output: Treal) {Treal: type in [float,double] = float; Tcomplex: type in "
    "[complex64,complex128] = complex64}"
)


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _complex_op(name: str, rank: int, transform: Callable[..., np.ndarray]) -> Op:
    op = define_op(name + _COMPLEX)
    op.shape(lambda input: with_rank_at_least(input, rank))

    @op.kernel("CPU")
    def _(ctx: Any, input: np.ndarray, *, Tcomplex: DType) -> np.ndarray:
        _check_rank(input, rank)
        if input.size == 0:
            return input.copy()
        return np.asarray(transform(input, axes=_axes(rank))).astype(Tcomplex.as_numpy_dtype, copy=False)

    # What graphs of before version 15 have, when the present ops took one signal alone.
    older = unknown_shapes(define_op(f"Batch{name}(input: complex64) -> (output: complex64)"))

    @older.kernel("CPU")
    def _(ctx: Any, input: np.ndarray) -> np.ndarray:
        result: np.ndarray = op.kernels["CPU"].function(ctx, input, Tcomplex=dtypes.complex64)
        return result

    return op


def _check_rank(input: np.ndarray, rank: int) -> None:
    if input.ndim < rank:
        raise InvalidArgumentError(None, None, f"Input must have rank of at least {rank} but got: {list(input.shape)}")


def _real_shape(rank: int, halved: bool) -> Callable[[InputShape, InputShape], TensorShape]:
    def rule(input: InputShape, fft_length: InputShape) -> TensorShape:
        with_rank_at_least(input, rank)
        lengths = with_rank(fft_length, 1).known_dims
        if lengths is not None:
            required_dim(lengths[0], rank)
        dims = input.known_dims
        if dims is None:
            return TensorShape(None)
        given = fft_length.value
        result = [None] * rank if given is None else [int(n) for n in given]
        if halved and result[-1] is not None:
            result[-1] = result[-1] // 2 + 1 if result[-1] > 0 else result[-1]
        return TensorShape([*dims[:-rank], *result])

    return rule


def _checked_lengths(input: np.ndarray, fft_length: np.ndarray, rank: int, halved: bool) -> tuple[int, ...]:
    """fft_length; InvalidArgumentError unless the input is as long (of the halved spectrum) in every dimension."""
    _check_rank(input, rank)
    if fft_length.shape != (rank,):
        raise InvalidArgumentError(None, None, f"fft_length must have shape [{rank}]")
    lengths = tuple(int(n) for n in fft_length)
    for i, n in enumerate(lengths):
        axis = input.ndim - rank + i
        if n < 0:
            raise InvalidArgumentError(None, None, f"fft_length[{i}] must >= 0, but got: {n}")
        needed = n // 2 + 1 if halved and i == rank - 1 and n > 0 else n
        if input.shape[axis] < needed:
            raise InvalidArgumentError(
                None,
                None,
                f"Input dimension {axis} must have length of at least {needed} but got: {input.shape[axis]}",
            )
    return lengths


def _real_op(name: str, rank: int) -> Op:
    op = define_op(name + _FORWARD)
    op.shape(_real_shape(rank, halved=True))

    @op.kernel("CPU")
    def _(ctx: Any, input: np.ndarray, fft_length: np.ndarray, *, Tcomplex: DType) -> np.ndarray:
        lengths = _checked_lengths(input, fft_length, rank, halved=False)
        dtype = Tcomplex.as_numpy_dtype
        if input.size == 0 or 0 in lengths:
            half = lengths[-1] // 2 + 1 if lengths[-1] else 0
            return np.zeros([*input.shape[:-rank], *lengths[:-1], half], dtype)
        return np.asarray(np.fft.rfftn(input, lengths, _axes(rank))).astype(dtype, copy=False)

    return op


def _inverse_real_op(name: str, rank: int) -> Op:
    op = define_op(name + _BACKWARD)
    op.shape(_real_shape(rank, halved=False))

    @op.kernel("CPU")
    def _(ctx: Any, input: np.ndarray, fft_length: np.ndarray, *, Treal: DType) -> np.ndarray:
        lengths = _checked_lengths(input, fft_length, rank, halved=True)
        dtype = Treal.as_numpy_dtype
        if input.size == 0 or 0 in lengths:
            return np.zeros([*input.shape[:-rank], *lengths], dtype)
        return np.asarray(np.fft.irfftn(input, lengths, _axes(rank))).astype(dtype, copy=False)

    return op


fft_ops = {
    1: _complex_op("FFT", 1, np.fft.fftn),
    2: _complex_op("FFT2D", 2, np.fft.fftn),
    3: _complex_op("FFT3D", 3, np.fft.fftn),
}
ifft_ops = {
    1: _complex_op("IFFT", 1, np.fft.ifftn),
    2: _complex_op("IFFT2D", 2, np.fft.ifftn),
    3: _complex_op("IFFT3D", 3, np.fft.ifftn),
}
rfft_ops = {1: _real_op("RFFT", 1), 2: _real_op("RFFT2D", 2), 3: _real_op("RFFT3D", 3)}
irfft_ops = {1: _inverse_real_op("IRFFT", 1), 2: _inverse_real_op("IRFFT2D", 2), 3: _inverse_real_op("IRFFT3D", 3)}


# --- the functions ---------------------------------------------------------------------------------------------------


def fft(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the innermost dimension. `tf.signal.fft`."""
    return fft_ops[1](input, name=name)


def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft`. `tf.signal.ifft`."""
    return ifft_ops[1](input, name=name)


def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the two innermost dimensions. `tf.signal.fft2d`."""
    return fft_ops[2](input, name=name)


def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`. `tf.signal.ifft2d`."""
    return ifft_ops[2](input, name=name)


def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the three innermost dimensions. `tf.signal.fft3d`."""
    return fft_ops[3](input, name=name)


def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`. `tf.signal.ifft3d`."""
    return ifft_ops[3](input, name=name)


def _lengths_of(input: Tensor, rank: int) -> Tensor:
    """The lengths of the innermost dimensions."""
    dims = input.shape.known_dims
    if dims is not None and None not in dims[-rank:]:
        return constant(list(dims[-rank:]), dtype=dtypes.int32)
    return array.shape(input)[-rank:]


def _spectrum_lengths_of(input: Tensor, rank: int) -> Tensor:
    """The lengths of the (even) signal that the spectrum `input` is of."""
    dims = input.shape.known_dims
    if dims is not None and None not in dims[-rank:]:
        inner = [int(d or 0) for d in dims[-rank:]]
        inner[-1] = max(0, 2 * (inner[-1] - 1))
        return constant(inner, dtype=dtypes.int32)
    lengths = array_join.unstack(array.shape(input)[-rank:], num=rank)
    lengths[-1] = elementwise_binary.maximum(0, 2 * (lengths[-1] - 1))
    return array_join.stack(lengths)


def _padded(input: Tensor, rank: int, fft_length: Tensor, halved: bool) -> Tensor:
    """`input` with zeros after it, so that it is at least as long as `fft_length` asks for in the innermost dimensions."""
    lengths, dims = constant_value(fft_length), input.shape.known_dims
    if lengths is not None and dims is not None and None not in dims[-rank:]:
        needed = [int(n) for n in lengths]
        if halved and needed[-1] > 0:
            needed[-1] = needed[-1] // 2 + 1
        inner = [int(d or 0) for d in dims[-rank:]]
        if 0 in inner or all(n <= d for n, d in zip(needed, inner, strict=True)):
            return input
        missing = [[0, max(0, n - d)] for n, d in zip(needed, inner, strict=True)]
        return array_pad.pad(input, [[0, 0]] * (len(dims) - rank) + missing)
    input_rank = array.rank(input)
    present = array.shape(input)[-rank:]
    outer = array_fill.zeros([elementwise_binary.maximum(0, input_rank - rank)], dtype=dtypes.int32)
    wanted = fft_length
    if halved:
        wanted = array_join.concat([fft_length[:-1], fft_length[-1:] // 2 + 1], 0)
    after = array_join.concat([outer, elementwise_binary.maximum(0, wanted - present)], 0)
    return array_pad.pad(input, array_join.stack([array_fill.zeros_like(after), after], axis=1))


def _real_transform(op: Op, rank: int, input: Any, fft_length: Any, name: str | None, forward: bool) -> Tensor:
    default = f"{'' if forward else 'i'}rfft{f'{rank}d' if rank > 1 else ''}"
    with name_scope(name, default, [input, fft_length]) as scope:
        input = convert_to_tensor(input, name="input", preferred_dtype=dtypes.float32 if forward else dtypes.complex64)
        if forward and input.dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {input!r}")
        if not forward and not input.dtype.is_complex:
            raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {input!r}")
        input.shape.with_rank_at_least(rank)
        if fft_length is None:
            fft_length = _lengths_of(input, rank) if forward else _spectrum_lengths_of(input, rank)
        else:
            fft_length = convert_to_tensor(fft_length, dtype=dtypes.int32)
            fft_length.shape.assert_is_compatible_with([rank])
        input = _padded(input, rank, fft_length, halved=not forward)
        known = constant_value(fft_length)
        wide = input.dtype in (dtypes.float64, dtypes.complex128)
        types = (
            {"Tcomplex": dtypes.complex128 if wide else dtypes.complex64}
            if forward
            else {"Treal": dtypes.float64 if wide else dtypes.float32}
        )
        return op(input, fft_length if known is None else known, name=scope, **types)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The first half, n // 2 + 1 values, of `fft` of real signals. `tf.signal.rfft`."""
    return _real_transform(rfft_ops[1], 1, input_tensor, fft_length, name, forward=True)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real signals of such spectra, of even length unless `fft_length` says so. `tf.signal.irfft`."""
    return _real_transform(irfft_ops[1], 1, input_tensor, fft_length, name, forward=False)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the two innermost dimensions. `tf.signal.rfft2d`."""
    return _real_transform(rfft_ops[2], 2, input_tensor, fft_length, name, forward=True)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`irfft` over the two innermost dimensions. `tf.signal.irfft2d`."""
    return _real_transform(irfft_ops[2], 2, input_tensor, fft_length, name, forward=False)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the three innermost dimensions. `tf.signal.rfft3d`."""
    return _real_transform(rfft_ops[3], 3, input_tensor, fft_length, name, forward=True)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`irfft` over the three innermost dimensions. `tf.signal.irfft3d`."""
    return _real_transform(irfft_ops[3], 3, input_tensor, fft_length, name, forward=False)

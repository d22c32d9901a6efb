"""How like itself a sequence is some steps later. Source: `tf.contrib.distributions.auto_correlation`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.complex_numbers import complex as complex_
from tfexp.ops.complex_numbers import conj, real
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.fourier import fft, ifft
from tfexp.ops.reduce import reduce_mean


def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: int | None = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:
    """The mean of w[n + m] * conj(w[n]) along an axis, for each lag m from 0 to max_lags; as many as there are if None.

    w is x less its mean along the axis if `center`. normalize: divided by what is at lag 0. x: float or complex, of known
    rank; TypeError for others. The result has the lags in the place of the axis.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        rank = x.shape.ndims
        axis = axis % rank
        order = [*(i for i in range(rank) if i != axis), axis]
        w: Any = transpose(x, order)
        if center:
            w = w - reduce_mean(w, axis=-1, keepdims=True)
        length: Any = shape(w)[-1]  # type: ignore[index]
        # Zeros as long as the sequence keep its end from what wraps around to its start.
        padded: Any = concat([w, zeros_like(w)], -1)
        spectrum: Any = fft(padded if x.dtype.is_complex else complex_(padded, zeros_like(padded)))
        whole: Any = ifft(spectrum * conj(spectrum))
        lags = length if max_lags is None else minimum(length, max_lags + 1)
        sums: Any = whole if x.dtype.is_complex else real(whole)
        sums = sums[..., :lags]
        result = sums / cast(length - range_(lags), x.dtype)
        if normalize:
            result = result / result[..., :1]
        back = sorted(range(rank), key=order.__getitem__)
        return transpose(result, back)

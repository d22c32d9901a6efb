"""Loops over windows, for Numba to compile: pooling and depthwise convolution, each element fetched from memory once.

Python runs them too, slowly. Arrays are in C order and have three dimensions of space, of which the first may be of one
element: x [batch, *space, channels]; one for each window [batch, *windows, channels]; filters [*window, channels]. `lay`
says in its rows, for each dimension, the sizes of windows, their strides, their dilations (1 where none are said to count),
and the padding before. The innermost loop goes over channels, which lie next to each other.

Each function is compiled by itself: it calls nothing but Python's own.
"""

from __future__ import annotations

from typing import Any


def max_pool(x: Any, out: Any, lay: Any, nan: Any) -> None:
    """The largest element of each window, `nan` only where it has nothing else."""
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            i0 = a * lay[1, 0] - lay[3, 0]
            i1 = min(i0 + lay[0, 0], x.shape[1])
            for b in range(out.shape[2]):
                j0 = b * lay[1, 1] - lay[3, 1]
                j1 = min(j0 + lay[0, 1], x.shape[2])
                for c in range(out.shape[3]):
                    k0 = c * lay[1, 2] - lay[3, 2]
                    k1 = min(k0 + lay[0, 2], x.shape[3])
                    for z in range(out.shape[4]):
                        out[n, a, b, c, z] = nan
                    for i in range(max(i0, 0), i1):
                        for j in range(max(j0, 0), j1):
                            for k in range(max(k0, 0), k1):
                                for z in range(out.shape[4]):
                                    largest, value = out[n, a, b, c, z], x[n, i, j, k, z]
                                    out[n, a, b, c, z] = value if value > largest or largest != largest else largest  # noqa: PLR0124 (NaN)


def max_pool_gradient(x: Any, y: Any, grad: Any, out: Any, first: Any, lay: Any, covers: bool) -> None:
    """grad, for each window, at its first largest element; added up where windows overlap.

    `covers`: each element is in just one window; then the last element gets what no other one does. `first`: an integer for
    each channel, to work with.
    """
    for n in range(grad.shape[0]):
        if not covers:
            for i in range(out.shape[1]):
                for j in range(out.shape[2]):
                    for k in range(out.shape[3]):
                        for z in range(out.shape[4]):
                            out[n, i, j, k, z] = 0
        for a in range(grad.shape[1]):
            i0 = a * lay[1, 0] - lay[3, 0]
            i1 = min(i0 + lay[0, 0], x.shape[1])
            i0 = max(i0, 0)
            for b in range(grad.shape[2]):
                j0 = b * lay[1, 1] - lay[3, 1]
                j1 = min(j0 + lay[0, 1], x.shape[2])
                j0 = max(j0, 0)
                for c in range(grad.shape[3]):
                    k0 = c * lay[1, 2] - lay[3, 2]
                    k1 = min(k0 + lay[0, 2], x.shape[3])
                    k0 = max(k0, 0)
                    number = max(i1 - i0, 0) * max(j1 - j0, 0) * max(k1 - k0, 0) - 1
                    for z in range(out.shape[4]):
                        first[z] = number if covers else -1
                    # Backwards, so that the first one found is the last to be kept.
                    for i in range(i1 - 1, i0 - 1, -1):
                        for j in range(j1 - 1, j0 - 1, -1):
                            for k in range(k1 - 1, k0 - 1, -1):
                                for z in range(out.shape[4]):
                                    first[z] = number if x[n, i, j, k, z] == y[n, a, b, c, z] else first[z]
                                number -= 1
                    number = 0
                    for i in range(i0, i1):
                        for j in range(j0, j1):
                            for k in range(k0, k1):
                                if covers:
                                    for z in range(out.shape[4]):
                                        out[n, i, j, k, z] = grad[n, a, b, c, z] if first[z] == number else 0
                                else:
                                    for z in range(out.shape[4]):
                                        out[n, i, j, k, z] += grad[n, a, b, c, z] if first[z] == number else 0
                                number += 1


def avg_pool(x: Any, out: Any, whole: Any, lay: Any) -> None:
    """The mean of each window, padding left out. `whole`: one number of the arrays' type, to work with."""
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            i0 = a * lay[1, 0] - lay[3, 0]
            i1 = min(i0 + lay[0, 0], x.shape[1])
            i0 = max(i0, 0)
            for b in range(out.shape[2]):
                j0 = b * lay[1, 1] - lay[3, 1]
                j1 = min(j0 + lay[0, 1], x.shape[2])
                j0 = max(j0, 0)
                for c in range(out.shape[3]):
                    k0 = c * lay[1, 2] - lay[3, 2]
                    k1 = min(k0 + lay[0, 2], x.shape[3])
                    k0 = max(k0, 0)
                    whole[0] = max(i1 - i0, 0) * max(j1 - j0, 0) * max(k1 - k0, 0)
                    count = whole[0]
                    for z in range(out.shape[4]):
                        out[n, a, b, c, z] = 0
                    for i in range(i0, i1):
                        for j in range(j0, j1):
                            for k in range(k0, k1):
                                for z in range(out.shape[4]):
                                    out[n, a, b, c, z] += x[n, i, j, k, z]
                    for z in range(out.shape[4]):
                        out[n, a, b, c, z] /= count


def avg_pool_gradient(grad: Any, out: Any, whole: Any, lay: Any, covers: bool) -> None:
    """grad, for each window, shared equally among its elements. `covers`: each element is in just one window."""
    for n in range(grad.shape[0]):
        if not covers:
            for i in range(out.shape[1]):
                for j in range(out.shape[2]):
                    for k in range(out.shape[3]):
                        for z in range(out.shape[4]):
                            out[n, i, j, k, z] = 0
        for a in range(grad.shape[1]):
            i0 = a * lay[1, 0] - lay[3, 0]
            i1 = min(i0 + lay[0, 0], out.shape[1])
            i0 = max(i0, 0)
            for b in range(grad.shape[2]):
                j0 = b * lay[1, 1] - lay[3, 1]
                j1 = min(j0 + lay[0, 1], out.shape[2])
                j0 = max(j0, 0)
                for c in range(grad.shape[3]):
                    k0 = c * lay[1, 2] - lay[3, 2]
                    k1 = min(k0 + lay[0, 2], out.shape[3])
                    k0 = max(k0, 0)
                    whole[0] = max(i1 - i0, 0) * max(j1 - j0, 0) * max(k1 - k0, 0)
                    count = whole[0]
                    for i in range(i0, i1):
                        for j in range(j0, j1):
                            for k in range(k0, k1):
                                if covers:
                                    for z in range(out.shape[4]):
                                        out[n, i, j, k, z] = grad[n, a, b, c, z] / count
                                else:
                                    for z in range(out.shape[4]):
                                        out[n, i, j, k, z] += grad[n, a, b, c, z] / count


# --- depthwise convolution: the last dimension of space and the channels are one, filters are repeated along it ------------


def depthwise(x: Any, filters: Any, out: Any, lay: Any, channels: int) -> None:
    """Each channel's windows times its filter, added up."""
    columns, width = x.shape[3] // channels, out.shape[3] // channels
    for n in range(out.shape[0]):
        for a in range(out.shape[1]):
            for b in range(out.shape[2]):
                for z in range(out.shape[3]):
                    out[n, a, b, z] = 0
                for p in range(lay[0, 0]):
                    i = a * lay[1, 0] - lay[3, 0] + p * lay[2, 0]
                    for q in range(lay[0, 1]):
                        j = b * lay[1, 1] - lay[3, 1] + q * lay[2, 1]
                        if not (0 <= i < x.shape[1] and 0 <= j < x.shape[2]):
                            continue
                        for r in range(lay[0, 2]):
                            step, shift = lay[1, 2], r * lay[2, 2] - lay[3, 2]
                            first, last = max(0, -(shift // step)), min(width, -((shift - columns) // step))
                            # Neighbouring windows see neighbouring elements: one run; else one for each window.
                            runs, length = (1, (last - first) * channels) if step == 1 else (last - first, channels)
                            for run in range(runs):
                                o, k = (first + run) * channels, ((first + run) * step + shift) * channels
                                seen, made = x[n, i, j, k : k + length], out[n, a, b, o : o + length]
                                weights = filters[p, q, r, o : o + length]
                                for z in range(length):
                                    made[z] += seen[z] * weights[z]


def depthwise_input_gradient(grad: Any, filters: Any, out: Any, lay: Any, channels: int) -> None:
    """Each window's gradient times the filter, added where it saw the input."""
    columns, width = out.shape[3] // channels, grad.shape[3] // channels
    for n in range(grad.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                for z in range(out.shape[3]):
                    out[n, i, j, z] = 0
        for a in range(grad.shape[1]):
            for b in range(grad.shape[2]):
                for p in range(lay[0, 0]):
                    i = a * lay[1, 0] - lay[3, 0] + p * lay[2, 0]
                    for q in range(lay[0, 1]):
                        j = b * lay[1, 1] - lay[3, 1] + q * lay[2, 1]
                        if not (0 <= i < out.shape[1] and 0 <= j < out.shape[2]):
                            continue
                        for r in range(lay[0, 2]):
                            step, shift = lay[1, 2], r * lay[2, 2] - lay[3, 2]
                            first, last = max(0, -(shift // step)), min(width, -((shift - columns) // step))
                            runs, length = (1, (last - first) * channels) if step == 1 else (last - first, channels)
                            for run in range(runs):
                                o, k = (first + run) * channels, ((first + run) * step + shift) * channels
                                below, above = out[n, i, j, k : k + length], grad[n, a, b, o : o + length]
                                weights = filters[p, q, r, o : o + length]
                                for z in range(length):
                                    below[z] += above[z] * weights[z]


def depthwise_filter_gradient(x: Any, grad: Any, out: Any, image: Any, lay: Any, channels: int) -> None:
    """What windows see times what became of it, over the batch, for each window of a row by itself.

    `image`: the sums of one image, to work with: sums of sums lose less than one long sum does.
    """
    columns, width = x.shape[3] // channels, grad.shape[3] // channels
    out[:] = 0
    for n in range(grad.shape[0]):
        image[:] = 0
        for a in range(grad.shape[1]):
            for b in range(grad.shape[2]):
                for p in range(lay[0, 0]):
                    i = a * lay[1, 0] - lay[3, 0] + p * lay[2, 0]
                    for q in range(lay[0, 1]):
                        j = b * lay[1, 1] - lay[3, 1] + q * lay[2, 1]
                        if not (0 <= i < x.shape[1] and 0 <= j < x.shape[2]):
                            continue
                        for r in range(lay[0, 2]):
                            step, shift = lay[1, 2], r * lay[2, 2] - lay[3, 2]
                            first, last = max(0, -(shift // step)), min(width, -((shift - columns) // step))
                            runs, length = (1, (last - first) * channels) if step == 1 else (last - first, channels)
                            for run in range(runs):
                                o, k = (first + run) * channels, ((first + run) * step + shift) * channels
                                seen, above = x[n, i, j, k : k + length], grad[n, a, b, o : o + length]
                                sums = image[p, q, r, o : o + length]
                                for z in range(length):
                                    sums[z] += seen[z] * above[z]
        for p in range(lay[0, 0]):
            for q in range(lay[0, 1]):
                for r in range(lay[0, 2]):
                    for z in range(grad.shape[3]):
                        out[p, q, r, z] += image[p, q, r, z]

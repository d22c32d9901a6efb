"""Kernels compiled by Numba: what NumPy's compute, but for rounding. Without Numba, Python runs their loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops import batch_norm_kernels, depthwise_kernels, pool_kernels
from tfexp.ops.windows import Windows, lay_windows
from tfexp.runtime.jit import has_numba, with_numba
from tfexp.runtime.numba import norm_loops, window_loops

needs_numba = pytest.mark.skipif(not has_numba(), reason="the jit extra is not installed: pip install 'tfexp[jit]'")
Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


# --- in sessions ------------------------------------------------------------------------------------------------------


def _floats(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def _both(function: Function, arrays: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], list[np.ndarray], str]:
    """What NumPy and Numba make of the function and its gradients, and the plan of the latter."""
    results, plan = [], ""
    for config in (None, with_numba()):
        with tf.Graph().as_default():
            fed = [tf.placeholder(array.dtype, array.shape) for array in arrays]
            y = function(*fed)
            values, feeds = [y, *tf.gradients(tf.sin(y), fed)], dict(zip(fed, arrays, strict=True))
            with tf.Session(config=config) as session:
                for _ in range(2):
                    result = session.run(values, feeds)
                results.append(result)
                plan = repr(session.explain(values, feeds))
    return results[0], results[1], plan


def _check(computed: int, function: Function, *arrays: np.ndarray) -> None:
    """The same, with this many nodes by Numba."""
    ours, theirs, plan = _both(function, arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert plan.count("[direct: Numba]") == computed, plan


def _pool(kind: str, sizes: list[int], strides: list[int], padding: str) -> Function:
    return lambda x: getattr(tf.nn, kind)(x, [1, *sizes, 1], [1, *strides, 1], padding)


@needs_numba
@pytest.mark.parametrize("kind", ["max_pool", "avg_pool"])
def test_pooling_and_its_gradients(kind: str) -> None:
    for sizes, strides, padding in (([2, 2], [2, 2], "VALID"), ([3, 2], [2, 1], "SAME"), ([2, 3], [3, 5], "SAME")):
        _check(2, _pool(kind, sizes, strides, padding), _floats(3, 11, 13, 5))
    _check(2, _pool(kind, [2, 2], [2, 2], "SAME"), _floats(64, 28, 28, 16))  # shared out to threads
    _check(2, _pool(f"{kind}3d", [2, 3, 2], [2, 1, 2], "SAME"), _floats(2, 5, 7, 3, 11))


@needs_numba
def test_depthwise_convolutions_and_their_gradients() -> None:
    for strides, padding in (([1, 1], "SAME"), ([2, 2], "VALID")):
        _check(3, _depthwise(strides, padding), _floats(3, 11, 13, 5), _floats(3, 2, 5, 1))
    _check(3, _depthwise([1, 1], "SAME"), _floats(16, 28, 28, 16), _floats(3, 3, 16, 1))  # shared out to threads


def _depthwise(strides: list[int], padding: str) -> Function:
    return lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, *strides, 1], padding)


@needs_numba
def test_batch_normalisation_and_its_gradients() -> None:
    def normalised(x: Any, scale: Any, offset: Any) -> Any:
        return tf.nn.fused_batch_norm(x, scale, offset)[0]

    for x in (_floats(3, 5, 7, 11), _floats(16, 28, 28, 16)):  # the latter is shared out to threads
        _check(2, normalised, x * 3 + 5, _floats(x.shape[-1]), _floats(x.shape[-1] + 1)[1:])


@needs_numba
def test_what_it_lacks_is_left_to_numpy() -> None:
    whole = np.random.default_rng(7).integers(-9, 9, (2, 5, 7, 3)).astype(np.int32)
    with tf.Session(config=with_numba()) as session:
        pooled = tf.nn.max_pool(tf.constant(whole), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        np.testing.assert_array_equal(
            session.run(pooled), whole[:, :4, :6].reshape(2, 2, 2, 3, 2, 3).max((2, 4)).astype(np.int32)
        )
    _check(0, _depthwise([1, 1], "SAME"), _floats(2, 5, 7, 3), _floats(3, 3, 3, 2))
    _check(0, _pool("max_pool", [2, 2], [2, 2], "VALID"), _floats(2, 5, 7, 3, dtype=np.float16))


# --- the loops, run by Python -----------------------------------------------------------------------------------------

_LAYS = [
    lay_windows([5, 7], [2, 2], [2, 2], [1, 1], "VALID"),
    lay_windows([4, 6], [2, 2], [2, 2], [1, 1], "VALID"),
    lay_windows([5, 7], [2, 2], [2, 2], [1, 1], "SAME"),
    lay_windows([5, 4], [3, 2], [1, 2], [1, 1], "SAME"),
    lay_windows([5, 4], [1, 2], [3, 3], [1, 1], "SAME"),
    lay_windows([3, 4], [2, 2], [1, 1], [1, 1], "EXPLICIT", [3, 0, 0, 2]),  # windows of padding alone
]
_DILATED = [lay_windows([7, 5], [2, 3], [1, 1], [3, 2], "SAME"), lay_windows([7, 9], [2, 3], [2, 2], [1, 2], "SAME")]


def _ordered(*shape: int) -> np.ndarray:
    """Few different numbers, so that some windows have several largest ones; some that are not finite."""
    numbers = np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(np.float32)
    numbers.ravel()[::11] = np.inf
    numbers.ravel()[::13] = -np.inf
    return numbers


def _geometry(lay: Windows) -> np.ndarray:
    return np.array([[1, *lay.sizes], [1, *lay.strides], [1, *lay.dilations], [0, *lay.before]])


@pytest.mark.parametrize("lay", _LAYS)
def test_loops_of_maxima(lay: Windows) -> None:
    x = _ordered(2, *lay.inputs, 3)
    x[1, 1, 2, 0] = np.nan
    wanted = pool_kernels.max_pool(x, lay)
    out = np.empty_like(wanted)
    window_loops.max_pool(x[:, None], out[:, None], _geometry(lay), np.nan)
    np.testing.assert_array_equal(out, wanted)
    x[np.isnan(x)] = 1
    y = pool_kernels.max_pool(x, lay)
    grad = _ordered(*y.shape)
    grad[grad == -np.inf] = 5
    below, first = np.empty_like(x), np.empty(3, np.int32)
    window_loops.max_pool_gradient(
        x[:, None], y[:, None], grad[:, None], below[:, None], first, _geometry(lay), lay.covers()
    )
    np.testing.assert_array_equal(below, pool_kernels.max_pool_gradient(x, y, grad, lay))


@pytest.mark.parametrize("lay", _LAYS)
def test_loops_of_means(lay: Windows) -> None:
    x = _floats(2, *lay.inputs, 3)
    with np.errstate(invalid="ignore"):
        wanted, whole = pool_kernels.avg_pool(x, lay), np.empty(1, np.float32)
        out = np.empty_like(wanted)
        window_loops.avg_pool(x[:, None], out[:, None], whole, _geometry(lay))
    np.testing.assert_allclose(out, wanted, rtol=1e-6, atol=1e-6)
    if np.isnan(wanted).any():
        return
    below = np.empty_like(x)
    window_loops.avg_pool_gradient(out[:, None], below[:, None], whole, _geometry(lay), lay.covers())
    np.testing.assert_allclose(below, pool_kernels.avg_pool_gradient(out, lay), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("lay", [*_LAYS[2:5], *_DILATED])
def test_loops_of_depthwise_convolutions(lay: Windows) -> None:
    x, filters = _floats(2, *lay.inputs, 3), _floats(*lay.sizes, 3, 1)
    wanted = depthwise_kernels.depthwise(x, filters, lay)
    grad, row = _floats(*wanted.shape), lay.outputs[-1] * 3
    along = np.tile(filters.reshape(1, *lay.sizes, 3), lay.outputs[-1])
    geometry = _geometry(lay)
    out, below = np.empty_like(wanted), np.empty_like(x)
    window_loops.depthwise(_rows(x), along, _rows(out), geometry, 3)
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)
    window_loops.depthwise_input_gradient(_rows(grad), along, _rows(below), geometry, 3)
    np.testing.assert_allclose(below, depthwise_kernels.depthwise_input_gradient(grad, filters, lay), rtol=1e-5, atol=1e-5)
    sums, image = (np.empty((1, *lay.sizes, row), np.float32) for _ in range(2))
    window_loops.depthwise_filter_gradient(_rows(x), _rows(grad), sums, image, geometry, 3)
    np.testing.assert_allclose(
        sums.reshape(*lay.sizes, -1, 3).sum(-2)[..., None],
        depthwise_kernels.depthwise_filter_gradient(x, grad, filters.shape, lay),
        rtol=1e-5,
        atol=1e-5,
    )


def test_loops_of_batch_normalisation() -> None:
    rows, grads = _floats(13, 7) + 5, _floats(7, 13).T.copy()
    centre, slope, level, factor = _floats(4, 7)
    calls: dict[str, tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]] = {
        "moments": ((rows,), (centre, slope, level)),
        "sums": ((grads, rows, centre), (slope, level)),
        "normalise": ((rows, centre, slope, level), (grads,)),
        "gradient": ((grads, rows, centre, slope, level, factor), (rows,)),
    }
    for name, (arguments, like) in calls.items():
        made, wanted = ([one.copy() for one in like] for _ in range(2))
        getattr(norm_loops, name)(*arguments, *made)
        getattr(batch_norm_kernels.NUMPY, name)(*arguments, *wanted)
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5, err_msg=name)


def _rows(array: np.ndarray) -> np.ndarray:
    """A view: [batch, 1, rows, columns and channels]."""
    return array.reshape(len(array), 1, array.shape[1], -1)

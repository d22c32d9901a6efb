"""`tensorflow.python.ops.distributions.bijector_test_util`: what every bijector has to keep. Source: TF 1.15.

Each raises AssertionError where it is not so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, get_default_graph


def assert_finite(array: Any) -> None:
    """No element is infinite or no number."""
    if not np.isfinite(array).all():
        raise AssertionError(f"array was not all finite. {np.asarray(array)[:15]}")


def assert_strictly_increasing(array: Any) -> None:
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array: Any) -> None:
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array: Any) -> None:
    (assert_strictly_increasing if array[0] < array[-1] else assert_strictly_decreasing)(array)


def assert_scalar_congruency(
    bijector: Any, lower_x: Any, upper_x: Any, n: int = 10000, rtol: float = 0.01, sess: Any = None
) -> None:
    """A bijector of scalars is monotonic on [lower_x, upper_x], its inverse is one, and its Jacobians are those of both.

    The means of the Jacobians, at `n` points, are compared with how the interval is stretched. sess: None for the default.
    """
    xs = np.linspace(lower_x, upper_x, 10, dtype=np.float32)
    ys, again = _values([bijector.forward(xs), bijector.inverse(bijector.forward(xs))], sess)
    assert_strictly_monotonic(ys)
    np.testing.assert_allclose(again, xs, rtol=1e-4, atol=1e-5)

    x = _middles(lower_x, upper_x, n)
    y = _middles(ys[0], ys[-1], n)
    forward, backward = bijector.forward_log_det_jacobian, bijector.inverse_log_det_jacobian
    of_x, of_y, there, back = _values(
        [forward(x, event_ndims=0), backward(y, event_ndims=0), forward(xs, event_ndims=0), backward(ys, event_ndims=0)],
        sess,
    )
    stretched = abs(ys[-1] - ys[0]) / abs(upper_x - lower_x)
    np.testing.assert_allclose(np.exp(_each(of_x, n)).mean(), stretched, rtol=rtol)
    np.testing.assert_allclose(np.exp(_each(of_y, n)).mean(), 1 / stretched, rtol=rtol)
    np.testing.assert_allclose(_each(there, 10), -_each(back, 10), rtol=1e-3, atol=1e-4)


def assert_bijective_and_finite(
    bijector: Any,
    x: Any,
    y: Any,
    event_ndims: int,
    atol: float = 0,
    rtol: float = 1e-5,
    sess: Any = None,
) -> None:
    """There and back again from `x`, and from `y`, is where it began; Jacobians are each other's inverse; all is finite.

    event_ndims: the number of dimensions of one of the `x`, and of one of the `y`.
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    f_x, g_y = bijector.forward(x), bijector.inverse(y)
    pairs = [
        (bijector.inverse(f_x), x),
        (bijector.forward(g_y), y),
        (
            bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
            -bijector.inverse_log_det_jacobian(f_x, event_ndims=event_ndims),
        ),
        (
            bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
            -bijector.forward_log_det_jacobian(g_y, event_ndims=event_ndims),
        ),
    ]
    f_x, g_y, *flat = _values([f_x, g_y, *(one for pair in pairs for one in pair)], sess)
    for found in (f_x, g_y, *flat):
        assert_finite(found)
    for found, expected in zip(flat[::2], flat[1::2], strict=True):
        np.testing.assert_allclose(found, expected, atol=atol, rtol=rtol)


def _middles(lower: Any, upper: Any, n: int) -> np.ndarray:
    """The middles of `n` equal parts of an interval."""
    return np.asarray(lower + (np.arange(n) + 0.5) / n * (upper - lower), np.float32)


def _each(jacobian: Any, n: int) -> np.ndarray:
    """One for each point, also where it is the same for all."""
    return np.broadcast_to(jacobian, [n])


def _values(tensors: list[Any], sess: Any) -> list[Any]:
    made: list[Any] = [convert_to_tensor(tensor) for tensor in tensors]
    if executing_eagerly():
        return [tensor.numpy() for tensor in made]
    return list(get_default_graph()._session_for(sess, "evaluate tensor", "eval").run(made))

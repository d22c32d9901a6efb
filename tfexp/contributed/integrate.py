"""Ordinary differential equations dy/dt = func(y, t), solved in the graph. Source: `tf.contrib.integrate`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where_v2 as where
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_binary import pow as power
from tfexp.ops.elementwise_rounding import ceil
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.reduce import reduce_all, reduce_mean
from tfexp.ops.tensor_array import TensorArray

Function = Callable[[Any, Any], Any]


class _Tableau(NamedTuple):
    """A Runge-Kutta method: where in the step each slope is taken, of which slopes, and how they add up."""

    places: tuple[float, ...]
    slopes: tuple[tuple[float, ...], ...]
    solution: tuple[float, ...]
    error: tuple[float, ...] = ()  # the solution less that of lower order


# Dormand and Prince 1980: order 5, and 4 for the error; Shampine 1986 uses the last slope for the next step.
_DORMAND_PRINCE = _Tableau(
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0),
    (
        35 / 384 - 5179 / 57600,
        0,
        500 / 1113 - 7571 / 16695,
        125 / 192 - 393 / 640,
        -2187 / 6784 + 92097 / 339200,
        11 / 84 - 187 / 2100,
        -1 / 40,
    ),
)
_MIDPOINT = _Tableau((0.5,), ((0.5,),), (0.0, 1.0))
_CLASSICAL = _Tableau((0.5, 0.5, 1.0), ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
_FIXED = {"midpoint": _MIDPOINT, "rk4": _CLASSICAL}


def _sum(weights: Sequence[float], slopes: Sequence[Any], dt: Any) -> Any:
    """dt times the weighed sum of slopes, in the slopes' type."""
    scale = cast(dt, slopes[0].dtype)
    parts = [(scale * weight) * slope for weight, slope in zip(weights, slopes, strict=False) if weight]  # type: ignore[operator]
    return sum(parts[1:], parts[0])


def _slopes(tableau: _Tableau, func: Function, y: Any, first: Any, t: Any, dt: Any) -> list[Any]:
    slopes = [first]
    for place, weights in zip(tableau.places, tableau.slopes, strict=True):
        slope = convert_to_tensor(func(y + _sum(weights, slopes, dt), t + place * dt))
        slope.set_shape(y.get_shape())
        slopes.append(slope)
    return slopes


def _prepared(y0: Any, t: Any) -> tuple[Any, Any, Any]:
    """(y0, t, the check that times go upwards). ValueError and TypeError for what cannot be."""
    y = convert_to_tensor(y0, name="y0")
    if not (y.dtype.is_floating or y.dtype.is_complex):
        raise TypeError(f"`y0` must have a floating point or complex floating point dtype, but is {y.dtype.name}")
    times: Any = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
    if not times.dtype.is_floating:
        raise TypeError(f"`t` must have a floating point dtype, but is {times.dtype.name}")
    if times.get_shape().ndims not in (1, None):
        raise ValueError(f"`t` must be a vector of times, but its shape is {times.get_shape()}")
    return y, times, Assert(reduce_all(times[1:] > times[:-1]), ["`t` must be monotonic increasing: ", times])


class _State(NamedTuple):
    y: Any
    slope: Any  # at y
    t: Any
    dt: Any
    steps: Any


def odeint(
    func: Function,
    y0: Any,
    t: Any,
    rtol: float = 1e-06,
    atol: float = 1e-12,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """y at the times t [n], which go upwards: [n, *shape of y0]. func(y, t) gives dy/dt, like y in type and shape.

    Steps of Dormand and Prince's method ("dopri5", the only one) are as long as the tolerances allow. options: first_step
    (1.0), safety (0.9), ifactor (10.0) and dfactor (0.2), the limits of how much longer and shorter steps become, and
    max_num_steps (1000) between two of the times, after which, when it runs, InvalidArgumentError. full_output: (y, {
    "num_func_evals", "integrate_points", "error_ratio"}), the last two of each step that was tried. Differentiable.
    """
    if method not in (None, "dopri5"):
        raise ValueError(f"`method` can be only 'dopri5', but is {method!r}")
    if options and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    chosen = {"first_step": 1.0, "safety": 0.9, "ifactor": 10.0, "dfactor": 0.2, "max_num_steps": 1000, **(options or {})}
    if len(chosen) > 5:
        raise ValueError(f"unknown options: {sorted(set(chosen) - set(list(chosen)[:5]))}; there are {list(chosen)[:5]}")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y, times, check = _prepared(y0, t)
        with control_dependencies([check]):
            times = identity(times)
        rtol, atol = (convert_to_tensor(limit, times.dtype) for limit in (rtol, atol))  # type: ignore[assignment]
        solver = _Adaptive(func, rtol, atol, chosen)
        count = shape(times)[0]  # type: ignore[index]
        results = TensorArray(y.dtype, size=count).write(0, y)
        first = convert_to_tensor(func(y, times[0]))
        state = _State(y, first, times[0], convert_to_tensor(chosen["first_step"], times.dtype), constant(0))
        points, ratios = (TensorArray(times.dtype, 1, dynamic_size=True, clear_after_read=False) for _ in range(2))

        def onwards(i: Any, state: _State, results: Any, points: Any, ratios: Any) -> Any:
            state, points, ratios = solver.until(times[i], state, points, ratios)
            return i + 1, state, results.write(i, state.y), points, ratios

        _, state, results, points, ratios = while_loop(
            lambda i, *_: i < count, onwards, (1, state, results, points, ratios), parallel_iterations=1
        )
        solution = results.stack(name=scope)
        solution.set_shape(TensorShape([times.get_shape()[0]]).concatenate(y.get_shape()))
        if not full_output:
            return solution
        evaluations = 1 + len(_DORMAND_PRINCE.places) * state.steps
        return solution, {
            "num_func_evals": evaluations,
            "integrate_points": points.stack()[: state.steps],
            "error_ratio": ratios.stack()[: state.steps],
        }


class _Adaptive:
    """Steps whose error, against the solution of lower order, stays within the tolerances."""

    def __init__(self, func: Function, rtol: Any, atol: Any, options: Mapping[str, Any]):
        self._func, self._rtol, self._atol, self._options = func, rtol, atol, options

    def until(self, end: Any, state: _State, points: Any, ratios: Any) -> Any:
        """The state at time `end`, and the times and error ratios of the steps that were tried with it."""
        begun, most = state.steps, self._options["max_num_steps"]

        def step(state: _State, points: Any, ratios: Any) -> Any:
            few = Assert(state.steps - begun < most, ["max_num_steps exceeded before ", end, ": ", state.steps - begun])
            with control_dependencies([few]):
                dt = minimum(state.dt, end - state.t)
            tried = state.t + dt
            following, ratio = self._tried(state, dt, end)
            return following, points.write(state.steps, tried), ratios.write(state.steps, ratio)

        return while_loop(lambda state, *_: state.t < end, step, (state, points, ratios), parallel_iterations=1)

    def _tried(self, state: _State, dt: Any, end: Any) -> tuple[_State, Any]:
        slopes = _slopes(_DORMAND_PRINCE, self._func, state.y, state.slope, state.t, dt)
        y = state.y + _sum(_DORMAND_PRINCE.solution, slopes, dt)
        error = _sum(_DORMAND_PRINCE.error, slopes, dt)
        real = self._rtol.dtype
        largest = cast(maximum(absolute(state.y), absolute(y)), real)
        relative = cast(absolute(error), real) / (self._atol + self._rtol * largest)  # type: ignore[operator]
        ratio = sqrt(reduce_mean(square(relative)))
        accepted = ratio <= 1
        options = self._options
        longest = where(accepted, constant(options["ifactor"], real), constant(1.0, real))
        shortest = where(accepted, constant(1.0, real), constant(options["dfactor"], real))
        # An error of 0 would ask for an infinite step.
        wanted: Any = options["safety"] * power(maximum(ratio, 1e-10), -0.2)  # type: ignore[operator]
        new_dt = dt * minimum(longest, maximum(shortest, wanted))
        # A step that was cut short for the time to be met says nothing against the one that was meant.
        new_dt = where(accepted, maximum(new_dt, state.dt), new_dt)
        # To the very end where the rest of the way was taken, whatever the sum is rounded to.
        arrived = where(dt >= end - state.t, end, state.t + dt)
        following = _State(
            where(accepted, y, state.y),
            where(accepted, slopes[-1], state.slope),
            where(accepted, arrived, state.t),
            new_dt,
            state.steps + 1,
        )
        following.y.set_shape(state.y.get_shape())
        following.slope.set_shape(state.slope.get_shape())
        return following, ratio


def odeint_fixed(func: Function, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None) -> Tensor:
    """As `odeint`, by equal steps from each time to the next: one if `dt` is None, else as many as are no longer than `dt`.

    method: "rk4" (Runge and Kutta's, order 4) or "midpoint" (order 2).
    """
    if method not in _FIXED:
        raise ValueError(f"method not supported: {method!r}; there are {sorted(_FIXED)}")
    tableau = _FIXED[method]
    with name_scope(name, f"odeint_fixed.{method}", [y0, t, dt]):
        y, times, check = _prepared(y0, t)
        with control_dependencies([check]):
            times = identity(times)
        count = shape(times)[0]  # type: ignore[index]
        results = TensorArray(y.dtype, size=count).write(0, y)

        def onwards(i: Any, y: Any, results: Any) -> Any:
            start, way = times[i - 1], times[i] - times[i - 1]
            steps = constant(1) if dt is None else cast(ceil(way / cast(dt, times.dtype) - 1e-6), dtypes.int32)  # type: ignore[operator]
            length = way / cast(steps, times.dtype)

            def step(n: Any, y: Any) -> Any:
                now = start + cast(n, times.dtype) * length  # type: ignore[operator]
                slopes = _slopes(tableau, func, y, convert_to_tensor(func(y, now)), now, length)
                return n + 1, y + _sum(tableau.solution, slopes, length)

            _, y = while_loop(lambda n, _: n < steps, step, (0, y), parallel_iterations=1)
            return i + 1, y, results.write(i, y)

        _, _, results = while_loop(lambda i, *_: i < count, onwards, (1, y, results), parallel_iterations=1)
        solution = results.stack()
        solution.set_shape(TensorShape([times.get_shape()[0]]).concatenate(y.get_shape()))
        return solution

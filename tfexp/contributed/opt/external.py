"""Optimizers outside the graph, which ask it for the loss and its gradient: SciPy's, and those of one's own.

Source: `tf.contrib.opt.{ExternalOptimizerInterface,ScipyOptimizerInterface}`, TF 1.15.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.defaults import get_default_session
from tfexp.graph.gradients import gradients
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import placeholder
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.variable_lists import trainable_variables

Array = np.ndarray


class ExternalOptimizerInterface:
    """Minimises `loss` over `var_list` (the trainable variables if None) by the subclass's `_minimize`.

    equalities and inequalities: tensors that have to be 0, and at least 0, at the end. var_to_bounds: {variable: (lowest,
    highest)}, numbers or arrays that fit the variable's shape. optimizer_kwargs: for `_minimize`.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ):
        self._loss = convert_to_tensor(loss)
        self._vars = trainable_variables() if var_list is None else list(var_list)
        if not self._vars:
            raise ValueError("No variables to optimize.")
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self.optimizer_kwargs = optimizer_kwargs
        sizes = [self._size(v) for v in self._vars]
        ends = np.cumsum([0, *sizes])
        self._slices = [slice(start, end) for start, end in itertools.pairwise(ends)]
        self._bounds = self._packed_bounds(var_to_bounds)
        with name_scope("external_optimizer"):
            self._packed = self._side_by_side([v.read_value() for v in self._vars])
            self._loss_gradient = self._gradient_of(self._loss)
            self._equality_gradients = [self._gradient_of(e) for e in self._equalities]
            self._inequality_gradients = [self._gradient_of(e) for e in self._inequalities]
            self._new = [placeholder(v.dtype.base_dtype, v.get_shape()) for v in self._vars]
            self._assign = [state.assign(v, new).op for v, new in zip(self._vars, self._new, strict=True)]

    @staticmethod
    def _size(variable: Any) -> int:
        size = variable.get_shape().num_elements()
        if size is None:
            raise ValueError(f"the shape of {variable.name} has to be known, but is {variable.get_shape()}")
        return int(size)

    def _side_by_side(self, tensors: Sequence[Any]) -> Tensor:
        """All elements of tensors like the variables, as float64."""
        flat = [cast(reshape(tensor, [-1]), dtypes.float64) for tensor in tensors]
        return flat[0] if len(flat) == 1 else concat(flat, 0)

    def _gradient_of(self, y: Any) -> Tensor:
        found = gradients(y, self._vars)
        return self._side_by_side([zeros_like(v) if g is None else g for g, v in zip(found, self._vars, strict=True)])

    def _packed_bounds(self, bounds: Mapping[Any, tuple[Any, Any]] | None) -> list[tuple[Any, Any]] | None:
        if not bounds:
            return None
        given = {variable.name: pair for variable, pair in bounds.items()}
        packed: list[tuple[Any, Any]] = []
        for v in self._vars:
            if len(given.get(v.name, (0, 0))) != 2:
                raise ValueError(f"the bounds of {v.name} have to be a pair (lowest, highest): {given[v.name]}")
            pair = given.get(v.name, (-np.inf, np.inf))
            lowest, highest = (np.broadcast_to(np.asarray(b, np.float64), v.get_shape().as_list()) for b in pair)
            packed += zip(lowest.ravel(), highest.ravel(), strict=True)
        return packed

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[[Array], Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Optimise, and leave the result in the variables.

        loss_callback(*values of `fetches`) is called with each evaluation of the loss, step_callback(the variables side by
        side) after each step. run_kwargs: for `Session.run`.
        """
        session = session or get_default_session()
        if session is None:
            raise ValueError("minimize needs a session: give one, or call it inside `with tf.Session():`")
        fetches = list(fetches or [])

        def value_at(x: Array, tensors: Any) -> Any:
            feeds = {**(feed_dict or {}), **dict(zip(self._vars, self._unpacked(x), strict=True))}
            return session.run(tensors, feeds, **run_kwargs)

        def loss_and_gradient(x: Array) -> tuple[Any, Any]:
            loss, gradient, *fetched = value_at(x, [self._loss, self._loss_gradient, *fetches])
            if loss_callback is not None:
                loss_callback(*fetched)
            return loss, gradient

        def functions(tensors: Sequence[Any]) -> list[Callable[[Array], Any]]:
            return [functools.partial(value_at, tensors=tensor) for tensor in tensors]

        initial = session.run(self._packed)
        found = self._minimize(
            initial_val=initial,
            loss_grad_func=loss_and_gradient,
            equality_funcs=functions(self._equalities),
            equality_grad_funcs=functions(self._equality_gradients),
            inequality_funcs=functions(self._inequalities),
            inequality_grad_funcs=functions(self._inequality_gradients),
            packed_bounds=self._bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        session.run(self._assign, dict(zip(self._new, self._unpacked(found), strict=True)))

    def _unpacked(self, x: Array) -> list[Array]:
        return [
            np.asarray(x[part], v.dtype.base_dtype.as_numpy_dtype).reshape(v.get_shape().as_list())
            for part, v in zip(self._slices, self._vars, strict=True)
        ]

    def _minimize(
        self,
        initial_val: Array,
        loss_grad_func: Callable[[Array], tuple[Any, Any]],
        equality_funcs: Sequence[Callable[[Array], Any]],
        equality_grad_funcs: Sequence[Callable[[Array], Any]],
        inequality_funcs: Sequence[Callable[[Array], Any]],
        inequality_grad_funcs: Sequence[Callable[[Array], Any]],
        packed_bounds: Sequence[tuple[Any, Any]] | None,
        step_callback: Callable[[Array], Any] | None,
        optimizer_kwargs: dict[str, Any],
    ) -> Array:
        """The best point that the optimizer finds: float64 [elements of all variables], as `initial_val`, where it starts.

        loss_grad_func(point) gives (loss, gradient); the other functions give a value or a gradient.
        """
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method."
        )


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` with `method` (L-BFGS-B, or SLSQP where there are constraints) and `options`.

    ImportError, when it minimises, where SciPy is not installed.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Array,
        loss_grad_func: Callable[[Array], tuple[Any, Any]],
        equality_funcs: Sequence[Callable[[Array], Any]],
        equality_grad_funcs: Sequence[Callable[[Array], Any]],
        inequality_funcs: Sequence[Callable[[Array], Any]],
        inequality_grad_funcs: Sequence[Callable[[Array], Any]],
        packed_bounds: Sequence[tuple[Any, Any]] | None,
        step_callback: Callable[[Array], Any] | None,
        optimizer_kwargs: dict[str, Any],
    ) -> Array:
        try:
            import scipy.optimize
        except ImportError as error:
            raise ImportError("ScipyOptimizerInterface needs SciPy, which is not installed: pip install scipy") from error

        def scalar_loss(x: Array) -> tuple[float, Array]:
            loss, gradient = loss_grad_func(x)
            return float(loss), gradient

        constraints = [
            {"type": kind, "fun": function, "jac": gradient}
            for kind, of_kind, gradients_of_kind in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for function, gradient in zip(of_kind, gradients_of_kind, strict=True)
        ]
        arguments = {"method": "SLSQP" if constraints else self._DEFAULT_METHOD, **optimizer_kwargs}
        arguments |= {"constraints": constraints} if constraints else {}
        result = scipy.optimize.minimize(
            scalar_loss, initial_val, jac=True, bounds=packed_bounds, callback=step_callback, **arguments
        )
        found: Array = result["x"]
        return found

"""Optimizers' update rules: Apply… and SparseApply… ops. `ops.update` makes ops of them.

Each rule updates the variable and its slots in place and uses the arrays `s`, `t` … for what comes between. The order of
operations follows the papers as TensorFlow's kernels do, so that trajectories agree to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.ops.update import Rule, define_dense, define_sparse, updates

Array = np.ndarray


# --- gradient descent --------------------------------------------------------------------------------------------------


def _gradient_descent(var: Array, alpha: Any, delta: Array, s: Array) -> None:
    np.multiply(delta, alpha, s)
    np.subtract(var, s, var)


apply_gradient_descent = define_dense("GradientDescent", "var", "alpha delta", Rule(_gradient_descent, 1, ()))


def _proximal_gradient_descent(var: Array, alpha: Any, l1: Any, l2: Any, grad: Array, s: Array) -> None:
    """Duchi and Singer 2009 (FOBOS)."""
    np.multiply(grad, alpha, s)
    np.subtract(var, s, s)
    _shrink(var, s, alpha, l1, l2)


def _shrink(var: Array, prox: Array, rate: Any, l1: Any, l2: Any) -> None:
    """`var` becomes the proximal operator of the l1 and l2 penalties of `prox`, at step size `rate`."""
    if l1 > 0:
        prox = np.sign(prox) * np.maximum(np.abs(prox) - rate * l1, prox.dtype.type(0))
    np.divide(prox, 1 + l2 * rate, var)


apply_proximal_gradient_descent = define_dense(
    "ProximalGradientDescent", "var", "alpha l1 l2 delta", Rule(_proximal_gradient_descent, 1)
)
sparse_apply_proximal_gradient_descent = define_sparse(
    "ProximalGradientDescent", "var", "alpha l1 l2 grad", Rule(_proximal_gradient_descent, 1)
)


@updates("Momentum", "var accum", "lr grad momentum", scratch=1, attrs="; use_nesterov: bool = false", static=())
def momentum(var: Array, accum: Array, lr: Any, grad: Array, momentum: Any, s: Array, *, use_nesterov: bool) -> None:
    """Polyak 1964; with `use_nesterov`, Sutskever et al. 2013 in the form where the gradient is taken at `var`."""
    np.multiply(accum, momentum, accum)
    np.add(accum, grad, accum)
    if use_nesterov:
        np.multiply(grad, lr, s)
        np.subtract(var, s, var)
        np.multiply(accum, lr * momentum, s)
    else:
        np.multiply(accum, lr, s)
    np.subtract(var, s, var)


# --- Adagrad and its kin -----------------------------------------------------------------------------------------------


@updates("Adagrad", "var accum", "lr grad", scratch=1, attrs="; update_slots: bool = true", static=())
def adagrad(var: Array, accum: Array, lr: Any, grad: Array, s: Array, *, update_slots: bool) -> None:
    """Duchi et al. 2011."""
    if update_slots:
        np.square(grad, s)
        np.add(accum, s, accum)
    np.sqrt(accum, s)
    np.divide(grad, s, s)
    np.multiply(s, lr, s)
    np.subtract(var, s, var)


@updates("ProximalAdagrad", "var accum", "lr l1 l2 grad", scratch=2)
def proximal_adagrad(var: Array, accum: Array, lr: Any, l1: Any, l2: Any, grad: Array, s: Array, t: Array) -> None:
    """Duchi and Singer 2009 with Adagrad's rates."""
    np.square(grad, s)
    np.add(accum, s, accum)
    np.sqrt(accum, s)
    np.divide(lr, s, s)
    np.multiply(grad, s, t)
    np.subtract(var, t, t)
    _shrink(var, t, s, l1, l2)


@updates(
    "AdagradDA",
    "var gradient_accumulator gradient_squared_accumulator",
    "grad lr l1 l2 global_step:int64",
    scratch=2,
)
def adagrad_da(
    var: Array, total: Array, squares: Array, grad: Array, lr: Any, l1: Any, l2: Any, step: Any, s: Array, t: Array
) -> None:
    """Duchi et al. 2011, dual averaging: the variable follows from the sums of all gradients and of their squares."""
    np.add(total, grad, total)
    np.square(grad, s)
    np.add(squares, s, squares)
    steps = np.asarray(step).astype(var.dtype)
    np.sqrt(squares, s)
    np.add(s, l2 * steps * lr, s)
    if l1 > 0:
        np.abs(total, t)
        np.subtract(t, l1 * steps, t)
        np.maximum(t, t.dtype.type(0), out=t)
        np.multiply(t, np.sign(total), t)
        np.multiply(t, -lr, t)
    else:
        np.multiply(total, -lr, t)
    np.divide(t, s, var)


@updates("Adadelta", "var accum accum_update", "lr rho epsilon grad", scratch=2, static=("rho",))
def adadelta(
    var: Array, accum: Array, accum_update: Array, lr: Any, rho: Any, epsilon: Any, grad: Array, s: Array, t: Array
) -> None:
    """Zeiler 2012."""
    rest = 1 - float(rho)
    np.multiply(accum, rho, accum)
    np.square(grad, s)
    np.multiply(s, rest, s)
    np.add(accum, s, accum)
    np.add(accum_update, epsilon, s)
    np.sqrt(s, s)
    np.add(accum, epsilon, t)
    np.sqrt(t, t)
    np.divide(s, t, s)
    np.multiply(s, grad, s)
    np.multiply(accum_update, rho, accum_update)
    np.multiply(s, s, t)
    np.multiply(t, rest, t)
    np.add(accum_update, t, accum_update)
    np.multiply(s, lr, s)
    np.subtract(var, s, var)


# --- second moments ----------------------------------------------------------------------------------------------------


@updates("RMSProp", "var ms mom", "lr rho momentum epsilon grad", scratch=1, static=("rho",))
def rms_prop(
    var: Array, ms: Array, mom: Array, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Array, s: Array
) -> None:
    """Tieleman and Hinton 2012, lecture 6.5."""
    np.square(grad, s)
    np.subtract(s, ms, s)
    np.multiply(s, 1 - float(rho), s)
    np.add(ms, s, ms)
    np.add(ms, epsilon, s)
    np.sqrt(s, s)
    np.divide(grad, s, s)
    np.multiply(s, lr, s)
    np.multiply(mom, momentum, mom)
    np.add(mom, s, mom)
    np.subtract(var, mom, var)


@updates("CenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad", scratch=2, static=("rho",))
def centered_rms_prop(
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Array,
    s: Array,
    t: Array,
) -> None:
    """Graves 2013: the second moment is taken around the running mean `mg`."""
    rest = 1 - float(rho)
    np.square(grad, s)
    np.subtract(s, ms, s)
    np.multiply(s, rest, s)
    np.add(ms, s, ms)
    np.subtract(grad, mg, s)
    np.multiply(s, rest, s)
    np.add(mg, s, mg)
    np.multiply(mg, mg, s)
    np.subtract(ms, s, s)
    np.add(s, epsilon, s)
    np.sqrt(s, s)
    np.multiply(grad, lr, t)
    np.divide(t, s, s)
    np.multiply(mom, momentum, mom)
    np.add(mom, s, mom)
    np.subtract(var, mom, var)


def _adam(
    var: Array,
    m: Array,
    v: Array,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Array,
    s: Array,
    *,
    use_nesterov: bool,
) -> None:
    """Kingma and Ba 2014, in the form before section 2.1 (epsilon beside the uncorrected root)."""
    rate = adam_rate(lr, beta1_power, beta2_power)
    rest = 1 - float(beta1)
    # In place where possible: an operation that writes to a third array takes twice as long.
    np.multiply(grad, rest, s)
    np.multiply(m, beta1, m)
    np.add(m, s, m)
    np.square(grad, s)
    np.multiply(s, 1 - float(beta2), s)
    np.multiply(v, beta2, v)
    np.add(v, s, v)
    if use_nesterov:
        step = m * beta1 + grad * rest
    else:
        step = m
    np.sqrt(v, s)
    np.add(s, epsilon, s)
    np.divide(step, s, s)
    np.multiply(s, rate, s)
    np.subtract(var, s, var)


def adam_rate(lr: Any, beta1_power: Any, beta2_power: Any) -> Any:
    """lr * sqrt(1 - beta2_power) / (1 - beta1_power), in double precision; rounded when it meets the variable.

    Python's arithmetic on scalars is ten times as quick as NumPy's.
    """
    if all(isinstance(scalar, (np.ndarray, np.generic)) for scalar in (lr, beta1_power, beta2_power)):
        first, second = float(beta1_power), float(beta2_power)
        if first != 1 and second <= 1:
            return float(lr) * math.sqrt(1 - second) / (1 - first)
    rate, first, second = (scalar.astype(np.float64) for scalar in (lr, beta1_power, beta2_power))
    # What compilers are given in place of numbers; and without an exception inf or nan.
    return (rate * np.sqrt(1 - second) / (1 - first)).astype(lr.dtype)


apply_adam = define_dense(
    "Adam",
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    Rule(_adam, 1, ("beta1", "beta2")),
    "; use_nesterov: bool = false",
)


# --- agreement of signs (Bello et al. 2017, Neural Optimizer Search) ---------------------------------------------------


# --- FTRL --------------------------------------------------------------------------------------------------------------


@updates("Ftrl", "var accum linear", "grad lr l1 l2 lr_power", scratch=0, attrs="; multiply_linear_by_lr: bool = false")
def ftrl(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    *,
    multiply_linear_by_lr: bool,
) -> None:
    """McMahan et al. 2013, algorithm 1, with the power of the accumulator as a parameter."""
    _ftrl_step(var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


@updates(
    "FtrlV2",
    "var accum linear",
    "grad lr l1 l2 l2_shrinkage lr_power",
    scratch=0,
    attrs="; multiply_linear_by_lr: bool = false",
)
def ftrl_v2(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    *,
    multiply_linear_by_lr: bool,
) -> None:
    """FTRL whose gradient is shrunk towards zero weights, but not in the accumulator."""
    shrunk = grad + 2 * l2_shrinkage * var
    _ftrl_step(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _ftrl_step(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    linear_grad: Array,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    scaled: bool,
) -> None:
    # With `scaled`, `linear` holds lr times the usual sum, so that lr may go to zero.
    new_accum = accum + grad * grad
    new_root, old_root = _to_minus(new_accum, lr_power), _to_minus(accum, lr_power)
    if scaled:
        linear += linear_grad * lr - (new_root - old_root) * var
        quadratic = new_root + 2 * l2 * lr
        threshold = l1 * lr
    else:
        linear += linear_grad - (new_root - old_root) / lr * var
        quadratic = new_root / lr + 2 * l2
        threshold = l1
    var[...] = (np.clip(linear, -threshold, threshold) - linear) / quadratic
    accum[...] = new_accum


def _to_minus(base: Array, power: Any) -> Array:
    return np.sqrt(base) if power == -0.5 else base ** (-power)

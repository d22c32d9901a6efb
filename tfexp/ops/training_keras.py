"""Update rules that Keras's optimizers brought: Adagrad with an epsilon, Keras's momentum, AMSGrad. See `ops.training`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.ops.training import adam_rate
from tfexp.ops.update import Rule, define_dense, updates

Array = np.ndarray


@updates("AdagradV2", "var accum", "lr epsilon grad", scratch=1, attrs="; update_slots: bool = true", static=())
def adagrad_v2(var: Array, accum: Array, lr: Any, epsilon: Any, grad: Array, s: Array, *, update_slots: bool) -> None:
    """Duchi et al. 2011, with `epsilon` beside the root."""
    if update_slots:
        np.square(grad, s)
        np.add(accum, s, accum)
    np.sqrt(accum, s)
    np.add(s, epsilon, s)
    np.divide(grad, s, s)
    np.multiply(s, lr, s)
    np.subtract(var, s, var)


@updates(
    "KerasMomentum",
    "var accum",
    "lr grad momentum",
    scratch=1,
    attrs="; use_nesterov: bool = false",
    static=(),
    on_references=False,
)
def keras_momentum(var: Array, accum: Array, lr: Any, grad: Array, momentum: Any, s: Array, *, use_nesterov: bool) -> None:
    """Polyak 1964, where the rate goes into the velocity: a change of the rate touches later gradients only."""
    np.multiply(grad, lr, s)
    np.multiply(accum, momentum, accum)
    np.subtract(accum, s, accum)
    if use_nesterov:
        np.subtract(var, s, var)
        np.multiply(accum, momentum, s)
        np.add(var, s, var)
    else:
        np.add(var, accum, var)


def _adam_with_amsgrad(
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Array,
    s: Array,
) -> None:
    """Reddi et al. 2018: Adam over the largest second moment so far."""
    np.multiply(grad, 1 - float(beta1), s)
    np.multiply(m, beta1, m)
    np.add(m, s, m)
    np.square(grad, s)
    np.multiply(s, 1 - float(beta2), s)
    np.multiply(v, beta2, v)
    np.add(v, s, v)
    np.maximum(vhat, v, out=vhat)
    np.sqrt(vhat, s)
    np.add(s, epsilon, s)
    np.divide(m, s, s)
    np.multiply(s, adam_rate(lr, beta1_power, beta2_power), s)
    np.subtract(var, s, var)


apply_adam_with_amsgrad = define_dense(
    "AdamWithAmsgrad",
    "var m v vhat",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    Rule(_adam_with_amsgrad, 1, ("beta1", "beta2")),
    on_references=False,
)

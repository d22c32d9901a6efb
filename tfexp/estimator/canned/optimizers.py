"""Optimizers by name, as the canned estimators take them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.train.adagrad import AdagradOptimizer
from tfexp.train.adam import AdamOptimizer
from tfexp.train.ftrl import FtrlOptimizer
from tfexp.train.gradient_descent import GradientDescentOptimizer
from tfexp.train.optimizer import Optimizer
from tfexp.train.rmsprop import RMSPropOptimizer

_BY_NAME: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def optimizer_of(given: Any, learning_rate: float) -> Optimizer:
    """An optimizer as it is, what a function gives, or one by name with that learning rate. ValueError for others."""
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise ValueError(f"Unsupported optimizer name: {given}. Supported names are: {', '.join(_BY_NAME)}")
        return _BY_NAME[given](learning_rate=learning_rate)
    made = given() if callable(given) else given
    if not isinstance(made, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made

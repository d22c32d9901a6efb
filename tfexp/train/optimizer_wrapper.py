"""Optimizers around an optimizer: it computes the gradients and keeps the slots."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.train.optimizer import Optimizer


class OptimizerWrapper(Optimizer):
    """Passes on what it does not do itself. `opt`: an optimizer, or what makes it when it is first needed."""

    def __init__(self, opt: Optimizer | Callable[[], Optimizer], use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._given = opt

    @functools.cached_property
    def _opt(self) -> Optimizer:
        return self._given() if callable(self._given) else self._given

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._opt.get_slot_names()

    def variables(self) -> list[Any]:
        return self._opt.variables()

"""`tf.distributions.kl_divergence` and `RegisterKL`: divergences of pairs of distributions, by their classes. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.check import Assert
from tfexp.ops.elementwise_rounding import is_nan
from tfexp.ops.logical import logical_not
from tfexp.ops.reduce import reduce_any

Rule = Callable[..., Tensor]

_RULES: dict[tuple[type, type], Rule] = {}


class RegisterKL:
    """Decorator: `@RegisterKL(A, B)` registers `rule(a, b, name=None)`. ValueError for a pair that has one."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Rule) -> Rule:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _RULES:
            first, second = (kind.__name__ for kind in self._key)
            raise ValueError(f"KL({first} || {second}) has already been registered to: {_RULES[self._key]}")
        _RULES[self._key] = kl_fn
        return kl_fn


def _rule(a: type, b: type) -> Rule | None:
    """The rule of the nearest ancestors of two classes."""
    found = [(i + j, _RULES[p, q]) for i, p in enumerate(a.__mro__) for j, q in enumerate(b.__mro__) if (p, q) in _RULES]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """KL(a || b). NotImplementedError for classes without a rule; InvalidArgumentError for NaN if these are not allowed."""
    rule = _rule(type(distribution_a), type(distribution_b))
    if rule is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        found = rule(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        told = f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values"
        told = f"{told} (and was called with allow_nan_stats=False). Values:"
        check = Assert(logical_not(reduce_any(is_nan(found))), [told, found])
        return with_dependencies([check], found)


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """The entropy of `ref` and KL(ref || other)."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)  # type: ignore[operator]

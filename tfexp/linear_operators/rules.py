"""What operations of operators give, by the classes of the operators. Source: `linear_operator_algebra`, TF 1.15.

The library's own classes have methods for it, which the rules for `LinearOperator` call; a rule that a program registers
for classes nearer to those of the operands counts in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]


class Rules:
    """The rules of one operation. A call applies the one for its operands; ValueError where there is none."""

    def __init__(self, name: str):
        self.name = name
        self.by_types: dict[tuple[type, ...], Rule] = {}

    def register(self, *types: type) -> Callable[[Rule], Rule]:
        """A decorator of the rule for these classes. TypeError for what cannot be called, ValueError for a second one."""

        def register(rule: Rule) -> Rule:
            if not callable(rule):
                raise TypeError(f"{self.name}_fn must be callable, received: {rule}")
            if types in self.by_types:
                names = ", ".join(one.__name__ for one in types)
                raise ValueError(f"{self.name.capitalize()}({names}) has already been registered to: {self.by_types[types]}")
            self.by_types[types] = rule
            return rule

        return register

    def find(self, *types: type) -> Rule | None:
        """The rule for the nearest classes: those that are the fewest bases away, all operands together."""
        lines = [one.__mro__ for one in types]
        fitting = [known for known in self.by_types if all(map(issubclass, types, known))]
        if not fitting:
            return None
        return self.by_types[min(fitting, key=lambda known: sum(map(tuple.index, lines, known)))]

    def __call__(self, *operators: Any) -> Any:
        types = [type(operator) for operator in operators]
        rule = self.find(*types)
        if rule is None:
            others = f".{self.name}({types[1]})" if types[1:] else ""
            raise ValueError(f"No {self.name} registered for {types[0]}{others}")
        return rule(*operators)


adjoint = Rules("adjoint")
cholesky = Rules("cholesky")
inverse = Rules("inverse")
matmul = Rules("matmul")
solve = Rules("solve")

"""What is known of an op's cost before it runs: numbers by op type and kind. Source: TF's `ops.RegisterStatistics`.

A kind is a word such as `flops`. What is registered is a function of a graph and of the NodeDef of one of its nodes; it
returns `OpStats`, and raises ValueError where the shapes that it needs are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[[Any, Any], Any]

_RULES: dict[tuple[str, str], Rule] = {}


class OpStats:
    """A number of one kind, `OpStats("flops", 210)`, None where nothing is known; others of that kind can be added."""

    def __init__(self, statistic_type: str, value: Any = None):
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """Decorator: `@ops.RegisterStatistics("MatMul", "flops")` registers a function `(graph, node_def) -> OpStats`.

    TypeError for an op type that is no string or has a comma in it, KeyError where the op has a function for that kind.
    """

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, rule: Rule) -> Rule:
        if self._key in _RULES:
            raise KeyError(f"Registering two statistical functions with name '{','.join(self._key)}'!")
        _RULES[self._key] = rule
        return rule


def statistics_rule(op_type: str, statistic_type: str) -> Rule | None:
    """The function that is registered, or None."""
    return _RULES.get((op_type, statistic_type))


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """What is known of the node (a NodeDef) of that graph; its `value` is None where nothing is registered for its type."""
    rule = statistics_rule(node.op, statistic_type)
    return OpStats(statistic_type) if rule is None else rule(graph, node)

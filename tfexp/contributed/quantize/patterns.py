"""Finding trees of operations in a graph. Source: `tensorflow.contrib.quantize.python.graph_matcher`, TF 1.15."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


class Pattern(abc.ABC):
    """What an operation, and those before it, may look like."""

    @abc.abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What was found where `op` fits; `tensor`: the output of it that the pattern above takes, None at the root."""


class OpTypePattern(Pattern):
    """An operation of the types `op_type` ("Conv2D", "Relu|Relu6", "*" for any) whose inputs fit the patterns `inputs`.

    inputs: patterns or types, as many as the operation has inputs, None for any inputs; with `ordered_inputs=False` in any
    order, the first one that fits. `name`: what `MatchResult` knows it by.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ):
        self._types, self._name, self._is_ordered = op_type.split("|"), name, ordered_inputs
        self._inputs = [one if isinstance(one, Pattern) else OpTypePattern(one) for one in inputs or ()]

    @property
    def name(self) -> str | None:
        return self._name

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        if op.type not in self._types and "*" not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._is_ordered else itertools.permutations(self._inputs)
        for patterns in orders:
            found = MatchResult()
            found.add(self, op, tensor)
            for source, pattern in zip(op.inputs, patterns, strict=False):  # no patterns: any inputs
                before = pattern.match(source.op, source)
                if before is None:
                    break
                found.merge_from(before)
            else:
                return found
        return None


class OneofPattern(Pattern):
    """What fits one of several patterns, the first of them that does."""

    def __init__(self, sub_patterns: Iterable[Pattern]):
        self._patterns = list(sub_patterns)

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        return next((found for one in self._patterns if (found := one.match(op, tensor)) is not None), None)


class MatchResult:
    """The operation and the tensor that each pattern, or its name, was found to be."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Any, op: Operation, tensor: Tensor | None) -> None:
        """`op` fits `pattern`. ValueError for a name that another pattern has already."""
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(f"Name {pattern.name} has already been bound to another pattern")
            self._named[pattern.name] = pattern

    def get_op(self, pattern_or_name: Pattern | str) -> Operation | None:
        """The operation of a pattern, None where it was not met."""
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Tensor | None:
        """The output that the pattern above it takes, None at the root and where it was not met."""
        return self._of(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Take over what the other has found."""
        self._found.update(other_match_result._found)
        self._named.update(other_match_result._named)

    def _of(self, pattern_or_name: Pattern | str) -> tuple[Operation | None, Tensor | None]:
        if isinstance(pattern_or_name, str):
            named = self._named.get(pattern_or_name)
            return (None, None) if named is None else self._found[named]
        if not isinstance(pattern_or_name, Pattern):
            raise ValueError(f"pattern_or_name must be a Pattern or its name, not {type(pattern_or_name).__name__}")
        return self._found.get(pattern_or_name, (None, None))


class GraphMatcher:
    """Where a pattern is in a graph."""

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What was found with `op` as the root, None if it does not fit."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """What was found at each of the operations that fits."""
        for op in ops:
            found = self.match_op(op)
            if found is not None:
                yield found

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """What was found at each operation of the graph that fits."""
        return self.match_ops(graph.get_operations())

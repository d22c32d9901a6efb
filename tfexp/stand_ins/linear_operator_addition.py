"""`tensorflow.python.ops.linalg.linear_operator_addition`: sums of linear operators that keep their structure. TF 1.15.

An adder says which two operators it can add (`can_add`) and makes their sum (`_add`). `add_operators` goes through tiers of
adders: those of one add what they can before those of the next are asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.linear_operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from tfexp.linear_operators.diagonals import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops.array_fill import ones
from tfexp.ops.broadcast_shapes import broadcast_static_shape

# From the most structure to the least; the first two are what a multiplier says.
_KINDS = (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorDiag,
    LinearOperatorLowerTriangular,
    LinearOperatorFullMatrix,
)


@dataclasses.dataclass
class _Hints:
    """What is known of a sum: True, False or None."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


class _Adder:
    """Adds two operators where `can_add` says so: here, where both have the structure of `_kind`."""

    _kind: Any = LinearOperator

    @property
    def name(self) -> str:
        return type(self).__name__.lstrip("_")

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """TypeError for an operator whose kind has no place in the order."""
        return max(_place(op1), _place(op2)) <= _KINDS.index(self._kind)

    def add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str | None, hints: _Hints | None = None
    ) -> LinearOperator:
        """op1 + op2. What `hints` leaves open is inferred. ValueError for batches that do not broadcast."""
        known = _Hints() if hints is None else hints
        both_positive = (op1.is_positive_definite and op2.is_positive_definite) or None
        both_adjoint = (op1.is_self_adjoint and op2.is_self_adjoint) or None
        positive = _first(known.is_positive_definite, both_positive)
        _check_batches(op1, op2)
        with name_scope(self.name):
            name = operator_name or f"Add/{op1.name}__{op2.name}/"
            adjoint = _first(known.is_self_adjoint, both_adjoint)
            return self._add(op1, op2, name, _Hints(_first(known.is_non_singular, positive), positive, adjoint))

    def _add(self, op1: LinearOperator, op2: LinearOperator, operator_name: str, hints: _Hints) -> LinearOperator:
        made: LinearOperator = self._kind(*self._parts(op1, op2), **dataclasses.asdict(hints), name=operator_name)
        return made

    def _parts(self, op1: LinearOperator, op2: LinearOperator) -> tuple[Any, ...]:
        """What the sum is made from: by default, its elements. The operator with more structure is added to the other."""
        more, less = sorted((op1, op2), key=_place)
        return (more.add_to_tensor(less.to_dense()),)


class _AddAndReturnScaledIdentity(_Adder):
    _kind = LinearOperatorScaledIdentity

    def _parts(self, op1: LinearOperator, op2: LinearOperator) -> tuple[Any, ...]:
        return op1.range_dimension_tensor(), _multiplier(op1) + _multiplier(op2)


class _AddAndReturnDiag(_Adder):
    _kind = LinearOperatorDiag

    def _parts(self, op1: LinearOperator, op2: LinearOperator) -> tuple[Any, ...]:
        return (op1.diag_part() + op2.diag_part(),)


class _AddAndReturnTriL(_Adder):
    _kind = LinearOperatorLowerTriangular


class _AddAndReturnMatrix(_Adder):
    _kind = LinearOperatorFullMatrix


_DEFAULT_ADDITION_TIERS: Sequence[Sequence[_Adder]] = [
    [_AddAndReturnScaledIdentity()],
    [_AddAndReturnDiag()],
    [_AddAndReturnTriL()],
    [_AddAndReturnMatrix()],
]


def add_operators(
    operators: Sequence[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[_Adder]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """As few operators as `addition_tiers` (by default one a kind, the most structure first) can make, with the same sum.

    ValueError for none, or for other numbers of rows or columns; TypeError for what is no operator, or one whose kind no
    adder knows.
    """
    left = list(operators)[::-1]
    if not left:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {operators}")
    if not all(isinstance(operator, LinearOperator) for operator in left):
        raise TypeError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {left}")
    _check_sizes(left)
    with name_scope(name or "add_operators"):
        tiers = _DEFAULT_ADDITION_TIERS if addition_tiers is None else addition_tiers
        for tier in tiers:
            left = _added(left, tier, operator_name)
    return left


def _added(waiting: list[LinearOperator], tier: Sequence[_Adder], operator_name: str | None) -> list[LinearOperator]:
    """What the adders of a tier leave: the last that waits is added to the nearest before it that one of them can take."""
    waiting, alone = list(waiting), []
    while waiting:
        operator = waiting.pop()
        found = _match(operator, waiting, tier)
        if found is None:
            alone.append(operator)
        else:
            adder, place = found
            waiting.append(adder.add(operator, waiting.pop(place), operator_name))
    return alone


def _match(operator: LinearOperator, others: list[LinearOperator], tier: Sequence[_Adder]) -> tuple[_Adder, int] | None:
    for place in reversed(range(len(others))):
        for adder in tier:
            if adder.can_add(operator, others[place]):
                return adder, place
    return None


def _check_sizes(operators: Sequence[LinearOperator]) -> None:
    for what in ("range_dimension", "domain_dimension"):
        known = [(operator.name, size) for operator in operators if (size := getattr(operator, what).value) is not None]
        if len({size for _, size in known}) > 1:
            raise ValueError(f"Operators must have the same {what.replace('_', ' ')}. Found: {known}")


def _check_batches(op1: LinearOperator, op2: LinearOperator) -> None:
    if op1.batch_shape.is_fully_defined() and op2.batch_shape.is_fully_defined():
        broadcast_static_shape(op1.batch_shape, op2.batch_shape)


def _first(given: bool | None, inferred: bool | None) -> bool | None:
    return inferred if given is None else given


def _place(operator: LinearOperator) -> int:
    for place, kind in enumerate(_KINDS):
        if isinstance(operator, kind):
            return place
    raise TypeError(f"Operator type unknown: {operator}")


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), operator.dtype)

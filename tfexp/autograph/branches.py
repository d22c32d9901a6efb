"""Branches by a condition: Python's own where it is a Python value, `tf.cond` where it is a tensor of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.autograph.alike import BRANCHES, check_alike
from tfexp.autograph.jumps import RETURN_VALUE, is_flag, spoken
from tfexp.autograph.tracebacks import shows_program
from tfexp.autograph.variables import UNBOUND, Body, Carried, Variables, is_symbolic, trial, where
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal, not_equal
from tfexp.ops.logical import logical_not

Later = Callable[[], Any]


def condition(value: Any, what: str) -> Tensor:
    """A tensor as the condition of `what`: a scalar bool. ValueError for tensors that are none."""
    tensor: Tensor = convert_to_tensor(value)
    size = tensor.get_shape().num_elements()
    if tensor.dtype.base_dtype is not dtypes.bool or size not in (None, 1):
        raise ValueError(
            f"condition of {what} expected to be `tf.bool` scalar, got {tensor}; to use as boolean Tensor, use `tf.cast`; "
            "to check for None, use `is not None`"
        )
    return tensor if tensor.get_shape().rank == 0 else reshape(tensor, [])


@shows_program
def if_(test: Any, body: Body, orelse: Body, live: Sequence[str], others: Sequence[str]) -> None:
    """Run `body` or `orelse`, which change the variables `live`, to be read afterwards, and `others`, not to be."""
    if is_symbolic(test):
        _GraphBranches(body, orelse, Variables((body, orelse), [*live, *others]), len(live)).build(test)
    else:
        (body if test else orelse)()


class _GraphBranches:
    """Two branches in the graph, out of which the first `count` of `variables` come."""

    def __init__(self, body: Body, orelse: Body, variables: Variables, count: int):
        self._body, self._orelse = body, orelse
        self._variables = variables
        self._names = variables.names[:count]
        self._before = variables.get()
        self._main: list[Carried] = []

    def build(self, test: Any) -> None:
        try:
            merged = cond(condition(test, "if statement"), self._main_branch, self._other_branch, strict=True)
        except BaseException:
            self._variables.set(self._before)
            raise
        tensors = iter(merged)
        self._variables.set([carried.with_tensors(tensors) for carried in self._main])

    def _main_branch(self) -> list[Any]:
        values = self._outcome(self._body)
        if any(self._is_unread(name, value, values) for name, value in zip(self._names, values, strict=True)):
            values = self._filled(values, trial(lambda: self._outcome(self._orelse)))
        self._main = [Carried(value) for value in values]
        return _tensors(self._main)

    def _other_branch(self) -> list[Any]:
        other = [Carried(value) for value in self._filled(self._outcome(self._orelse), self._main)]
        for name, one, two in zip(self._names, self._main, other, strict=True):
            _check_mergeable(name, one, two, where(self._body))
        return _tensors(other)

    def _outcome(self, run: Body) -> list[Any]:
        """The values of the variables after a branch."""
        self._variables.set(self._before)
        run()
        return self._variables.get()[: len(self._names)]

    def _filled(self, values: list[Any], models: Sequence[Carried]) -> list[Any]:
        """`values`, with something like `models` for those that nobody reads."""
        return [
            model.blank() if self._is_unread(name, value, values) else value
            for name, value, model in zip(self._names, values, models, strict=True)
        ]

    def _is_unread(self, name: str, value: Any, values: Sequence[Any]) -> bool:
        """Whether a variable without a value needs none: a jump was taken, or no `return` yet."""
        jumped = any(is_flag(flag) and raised is True for flag, raised in zip(self._names, values, strict=True))
        return value is UNBOUND and (jumped or name == RETURN_VALUE)


def _tensors(carried: Sequence[Carried]) -> list[Any]:
    """What comes out of a branch; a number that nobody reads where it is nothing, which `cond` refuses."""
    return [tensor for one in carried for tensor in one.tensors] or [constant(0)]


def _check_mergeable(name: str, main: Carried, other: Carried, place: str) -> None:
    """ValueError, TypeError unless a variable after both branches can be merged."""
    if main.value is UNBOUND and other.value is UNBOUND:
        return
    for carried, branch in ((main, "main"), (other, "else")):
        returns_nothing = name == RETURN_VALUE and carried.value is None
        if carried.value is UNBOUND or (returns_nothing and main.value is not other.value):
            what = "have a return statement" if name == RETURN_VALUE else f"initialize {name!r}"
            raise ValueError(f"the {branch} branch must also {what}:\n{place}")
    check_alike(spoken(name), main, other, BRANCHES, place)


def if_exp(test: Any, body: Later, orelse: Later) -> Any:
    """`body() if test else orelse()`."""
    if not is_symbolic(test):
        return body() if test else orelse()
    return cond(condition(test, "conditional expression"), body, orelse, strict=True)


def and_(first: Later, *others: Later) -> Any:
    """`first() and ...`: of tensors, as far as they hold."""
    value = first()
    if not others:
        return value
    if is_symbolic(value):
        return cond(condition(value, "`and`"), lambda: and_(*others), lambda: value)
    return value and and_(*others)


def or_(first: Later, *others: Later) -> Any:
    """`first() or ...`: of tensors, up to the first that holds."""
    value = first()
    if not others:
        return value
    if is_symbolic(value):
        return cond(condition(value, "`or`"), lambda: value, lambda: or_(*others))
    return value or or_(*others)


def not_(value: Any) -> Any:
    """`not value`."""
    return logical_not(value) if is_symbolic(value) else not value


def compare(first: Any, *comparisons: tuple[Callable[[Any, Any], Any], Later]) -> Any:
    """`first < second < ...`, with each comparison and the value that follows it."""
    (how, following), *others = comparisons
    second = following()
    return and_(lambda: how(first, second), *([lambda: compare(second, *others)] if others else []))


def eq(one: Any, other: Any) -> Any:
    """`one == other`, of tensors by value."""
    return equal(one, other) if is_symbolic(one) or is_symbolic(other) else one == other


def not_eq(one: Any, other: Any) -> Any:
    """`one != other`, of tensors by value."""
    return not_equal(one, other) if is_symbolic(one) or is_symbolic(other) else one != other


def assert_(test: Any, message: Later) -> None:
    """`assert test, message()`: of a tensor, an assertion when the graph runs."""
    if is_symbolic(test):
        text = message()
        Assert(condition(test, "assert statement"), ["" if text is None else text])
        return
    if __debug__ and not test:
        text = message()
        raise AssertionError(*([] if text is None else [text]))

"""`tf.case`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def branch(value: int) -> Any:
    return lambda: tf.constant(value)


@pytest.mark.parametrize(("fed", "expected"), [(-1, 10), (0, 20), (1, 20), (9, 30)])
@pytest.mark.parametrize("exclusive", [False, True])
def test_the_first_true_predicate_decides(session: Any, fed: int, expected: int, exclusive: bool) -> None:
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 0, branch(10)), ((x >= 0) & (x < 2), branch(20))]
    assert session.run(tf.case(pairs, branch(30), exclusive=exclusive), {x: fed}) == expected


def test_several_true_predicates(session: Any) -> None:
    x = tf.placeholder(tf.int32, [], name="x")
    pairs = [(tf.less(x, 5, name="small"), branch(1)), (tf.less(x, 3, name="tiny"), branch(2))]
    first, checked = tf.case(pairs, branch(3)), tf.case(pairs, branch(3), exclusive=True)
    assert [session.run(first, {x: value}) for value in (1, 4, 7)] == [1, 1, 3]
    assert [session.run(checked, {x: value}) for value in (4, 7)] == [1, 3]
    with pytest.raises(errors.InvalidArgumentError, match=r"more than 1 conditions .*small:0, tiny:0.* evaluated as True"):
        session.run(checked, {x: 1})


def test_without_a_default_one_must_hold(session: Any) -> None:
    x = tf.placeholder(tf.int32, [])
    chosen = tf.case([(x < 0, branch(1)), (x > 0, branch(2))])
    assert [session.run(chosen, {x: value}) for value in (-1, 1)] == [1, 2]
    with pytest.raises(errors.InvalidArgumentError, match=r"Input error: None of conditions evaluated as True:\] \[0 0\]"):
        session.run(chosen, {x: 0})


def test_only_the_taken_branch_runs(session: Any) -> None:
    counts = [tf.Variable(0, name=f"count{i}") for i in range(3)]
    x = tf.placeholder(tf.int32, [])
    taken = tf.case({tf.equal(x, i): (lambda i=i: tf.assign_add(counts[i], 1) + 0) for i in range(2)},
                    lambda: tf.assign_add(counts[2], 1) + 0)  # fmt: skip
    session.run(tf.global_variables_initializer())
    for value in (0, 1, 1, 5):
        session.run(taken, {x: value})
    assert session.run(counts) == [1, 2, 1]


def test_gradients_flow_through_the_taken_branch(session: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.case([(x < 0.0, lambda: x * x), (x > 5.0, lambda: 3.0 * x)], lambda: x * x * x)
    gradient = tf.gradients(y, x)[0]
    assert [session.run(gradient, {x: value}) for value in (-2.0, 2.0, 7.0)] == [-4.0, 12.0, 3.0]


def test_no_pairs_and_refusals(session: Any) -> None:
    assert session.run(tf.case([], branch(7))) == 7
    flag = tf.constant(True)
    for pairs, text in (
        (3, "fns must be a list, tuple, or dict"),
        ([flag], "Each entry in pred_fn_pairs must be a 2-tuple"),
        ([(tf.constant(1), branch(1))], "pred must be Tensor of type bool: Const_\\d:0"),
        ([(1, branch(1))], "pred must be a Tensor, got: 1"),
        ([(flag, 3)], "fn for pred Const:0 must be callable"),
    ):
        with pytest.raises(TypeError, match=text):
            tf.case(pairs, branch(1))


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 7])
@pytest.mark.parametrize("has_default", [False, True])
def test_a_branch_by_number(index: int, has_default: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, number = tf.constant(3.0), tf.placeholder(tf.int32, [])
        branches = {2: lambda: x * 7, 0: lambda: x * x, 1: lambda: x + 5}
        default = (lambda: -x) if has_default else None
        chosen = tf.switch_case(number, branches, default)
        value, slope = session.run([chosen, tf.gradients(chosen, x)[0]], {number: index})
        outside = (-3.0, -1.0) if has_default else (21.0, 7.0)
        expected = {0: (9.0, 6.0), 1: (8.0, 1.0), 2: (21.0, 7.0)}.get(index, outside)
        assert (value, slope) == expected
    with eager_mode():
        x = tf.constant(3.0)
        assert tf.switch_case(tf.constant(index), branches, default).numpy() == expected[0]


@pytest.mark.parametrize(
    ("index", "branches", "error", "text"),
    [
        (1, {0: lambda: 1}, TypeError, "branch_index must a Tensor, got"),
        (1.0, {0: lambda: 1}, TypeError, "branch_index must an integer Tensor, got"),
        (None, {0: 1}, TypeError, "fn for key 0 must be callable"),
        (None, [(0, lambda: 1), (2, lambda: 2)], ValueError, r"contiguous range of \[0 to 2\) but found \{0,2\}"),
        (None, [(0.0, lambda: 1)], TypeError, "key must be a Python `int`"),
        (None, [1], TypeError, "Each entry in branch_fns must be a 2-tuple"),
        (None, [], ValueError, "at least one item in branch_fns"),
        (None, 5, TypeError, "branch_fns must be a list, tuple, or dict"),
    ],
)
def test_numbered_branches_that_are_refused(index, branches, error, text: str) -> None:
    with tf.Graph().as_default():
        number = index if isinstance(index, int) else tf.constant(0 if index is None else index)
        with pytest.raises(error, match=text):
            tf.switch_case(number, branches)


def test_numbered_branches_in_a_loop(session: Any) -> None:
    """What the gradient needs of the branches is kept for each turn; TF 1.15's values."""
    x, z = tf.constant(3.0), tf.constant(2.0)

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.switch_case(i, [lambda: a * x, lambda: a + z, lambda: tf.square(a)])

    y = tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]
    assert session.run([y, *tf.gradients(y, [x, z])]) == [14641, 31944, 5324]


def test_results_of_numbered_branches(session: Any) -> None:
    number, x, z = tf.placeholder(tf.int32), tf.constant(3.0), tf.constant(2.0)
    found = tf.switch_case(number, [lambda: [x, {"a": z}], lambda: [z, {"a": x}]])
    assert session.run(found, {number: 1}) == [2, {"a": 3}]
    with pytest.raises(errors.InvalidArgumentError, match=r"must be a scalar, but it has shape \[1\]"):
        session.run(found, {number: [1]})
    for others in (lambda: 1, lambda: (x, x), lambda: [x]):
        with pytest.raises(TypeError, match="must have the same number, type, and overall structure of return values"):
            tf.switch_case(number, [lambda: x, others])
    with pytest.raises(TypeError, match="has type int64 that does not match expected type of int32"):
        tf.switch_case(tf.placeholder(tf.int64), [lambda: x])


def test_the_order_of_dicts(session: Any) -> None:
    def named(*names: str) -> list[tuple[Any, Any]]:
        return [(tf.constant(True, name=name), branch(i)) for i, name in enumerate(names)]

    assert session.run(tf.case(dict(named("b", "a")))) == 1
    assert session.run(tf.case(OrderedDict(named("d", "c")))) == 0
    with eager_mode():
        pairs = [(tf.constant(False), branch(0)), (tf.constant(True), branch(1))]
        assert tf.case(OrderedDict(pairs)).numpy() == 1 == tf.case(dict(pairs), exclusive=True).numpy()
        with pytest.raises(ValueError, match="Unordered dictionaries are not supported"):
            tf.case(dict(pairs))


def test_eager_predicates_have_no_names() -> None:
    with eager_mode():
        flags = [(tf.constant(True), branch(0)), (tf.constant(True), branch(1))]
        with pytest.raises(
            errors.InvalidArgumentError, match=r"exclusive=True: more than 1 conditions \(\?, \?\) evaluated"
        ):
            tf.case(flags, branch(2), exclusive=True)

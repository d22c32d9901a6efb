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

"""What cannot become a graph, and options of loops: messages name the variable and the line."""

import re
from typing import Any

import pytest

import tfexp as tf
from tfexp.autograph import convert


def _fails(function: Any, error: type[Exception], *parts: str) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.int32, [], name="x")
        with pytest.raises(error) as caught:
            convert(function)(x)
        session = tf.Session()
        assert session.run(x, {x: 3}) == 3, "the graph is still usable"
    for part in (*parts, re.escape(__file__)):
        assert re.search(part, str(caught.value)), str(caught.value)


def test_variables_that_one_branch_leaves_out() -> None:
    def leaves_out(x: Any) -> Any:
        if x > 0:
            y = x
        return y

    _fails(leaves_out, ValueError, "the else branch must also initialize 'y'", "if x > 0:", "line 25")


def test_returns_that_one_branch_leaves_out() -> None:
    def leaves_out(x: Any) -> Any:
        if x > 0:
            return 1
        return None

    _fails(leaves_out, ValueError, "the else branch must also have a return statement")


def test_types_that_differ() -> None:
    def differs(x: Any) -> Any:
        if x > 0:
            y = 1
        else:
            y = 1.0
        return y

    _fails(differs, TypeError, "'y' has dtype int32 in the main branch, but dtype float32 in the else branch")


def test_structures_that_differ() -> None:
    def differs(x: Any) -> Any:
        if x > 0:
            y = (x, 1)
        else:
            y = (x, 1, 2)
        return y

    _fails(differs, TypeError, "'y' must have the same nested structure", "don't have the same number of elements")


def test_objects_that_differ() -> None:
    def differs(x: Any) -> Any:
        if x > 0:
            y = None
        else:
            y = x
        return y

    _fails(differs, TypeError, "'y' must be a tensor, or the same object, in both branches", "None in the main branch")


def test_the_same_object_passes() -> None:
    def same(x: Any) -> Any:
        if x > 0:
            y, z = None, 1
        else:
            y, z = None, 2
        return y, z

    with tf.Graph().as_default():
        assert convert(same)(tf.placeholder(tf.int32, []))[0] is None


@pytest.mark.parametrize("shape", [[2], [2, 1]])
def test_conditions_that_are_no_scalars(shape: list[int]) -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"condition of if statement expected to be `tf\.bool` scalar"),
    ):
        convert(lambda v: _branch(v))(tf.zeros(shape) > 0)


def _branch(v: Any) -> Any:
    if v:
        return 1
    return 2


def test_conditions_of_unknown_or_size_one_pass() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.placeholder(tf.bool, None)
        assert session.run(convert(_branch)(v), {v: [[True]]}) == 1
        assert session.run(convert(_branch)(tf.constant([False]))) == 2


def test_conditions_that_are_no_booleans() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"to use as boolean Tensor, use `tf\.cast`"):
        convert(_branch)(tf.constant(1))


def test_types_that_a_loop_changes() -> None:
    def changes(x: Any) -> Any:
        y = 1
        while x > 0:
            y, x = 1.0, x - 1
        return y

    _fails(changes, TypeError, "'y' has dtype int32 before the loop, but dtype float32 after one iteration", "while x > 0:")


def test_shapes_that_a_loop_changes() -> None:
    def grows(x: Any) -> Any:
        y = tf.zeros([1])
        for _ in tf.range(x):
            y = tf.concat([y, y], 0)
        return y

    _fails(grows, ValueError, r"'y' has shape \(1,\) before the loop, but shape \(2,\) after", "set_loop_options")


def test_options_of_loops() -> None:
    def grows(x: Any) -> Any:
        y = tf.zeros([1])
        for _ in tf.range(x):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None]))], maximum_iterations=4, parallel_iterations=3, back_prop=False
            )
            y = tf.concat([y, y], 0)
        return y

    def counts(x: Any) -> Any:
        n = 0
        while n < x:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            if x < 0:
                break
            n += 1
        return n

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        y = convert(grows)(x)
        assert [session.run(y, {x: n}).size for n in (0, 3, 9)] == [1, 8, 16]
        assert {op.get_attr("parallel_iterations") for op in graph.get_operations() if op.type == "Enter"} == {3}
        assert session.run(convert(counts)(x), {x: 7}) == 2
        assert convert(counts)(7) == 7  # a loop of Python's
        assert convert(lambda: tf.autograph.experimental.set_loop_options())() is not None


def test_loops_that_turn_into_the_graphs() -> None:
    def turns(x: Any) -> Any:
        i = 0
        while i < 3:
            i = x
        return i

    def leaves(x: Any) -> Any:
        for i in (1, 2):
            if x > i:
                break
        return x

    _fails(turns, NotImplementedError, "was a Python value first, and is a tensor now")
    _fails(leaves, NotImplementedError, "depends on a tensor cannot leave a Python for loop")


def test_scalars_have_no_items() -> None:
    def iterates(x: Any) -> Any:
        for _ in x:
            pass
        return x

    _fails(iterates, ValueError, "A scalar cannot be iterated over")


def test_what_only_a_loop_gives_a_value_needs_an_iteration() -> None:
    def last(x: Any) -> Any:
        for i in tf.range(x):
            square = i * i
        return square, i

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        result = convert(last)(x)
        assert session.run(result, {x: 3}) == (4, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="iterate at least once to initialize i, square"):
            session.run(result, {x: 0})


def test_shapes_of_what_only_a_loop_gives_a_value_may_vary() -> None:
    def first_long(x: Any) -> Any:
        for i in tf.range(x):
            if i > 1:
                return tf.range(i + x)
        return tf.range(0)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        result = convert(first_long)(x)
        assert [session.run(result, {x: n}).tolist() for n in (1, 3)] == [[], [0, 1, 2, 3, 4]]


def test_types_of_what_a_loop_returns() -> None:
    def differs(x: Any) -> Any:
        for i in tf.range(x):
            if i > 1:
                return 1.0
        return x

    _fails(differs, TypeError, "the returned value has dtype int32 in the main branch, but dtype float32 in the else branch")


def test_variables_keep_their_values_when_a_branch_fails() -> None:
    seen = []

    def fails(x: Any) -> Any:
        y = 3
        try:
            if x > 0:
                y = x
                raise KeyError
        except KeyError:
            seen.append(y)
        return y

    with tf.Graph().as_default():
        assert convert(fails)(tf.placeholder(tf.int32, [])) == 3
    assert seen == [3]


def test_what_is_not_read_afterwards_is_gone() -> None:
    def closes(x: Any) -> Any:
        y = 1
        functions = []
        functions.append(lambda: y)  # which has no name by which it could be known what reads it
        if x > 0:
            y = 2
        return functions[0]

    with tf.Graph().as_default():
        get = convert(closes)(tf.placeholder(tf.int32, []))
        with pytest.raises(NameError, match="'y'"):
            get()
    assert convert(closes)(5)() == 2


def test_assertions_are_the_graphs() -> None:
    def checked(x: Any) -> Any:
        assert x > 0, "more than nothing"
        return x

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        convert(checked)(x)
        (node,) = [op for op in graph.get_operations() if op.type == "Assert"]
        session.run(node, {x: 1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than nothing"):
            session.run(node, {x: 0})
    with pytest.raises(AssertionError, match="more than nothing"):
        convert(checked)(0)


def test_what_functions_of_other_names_and_in_lists_read_is_kept() -> None:
    def in_a_list(x: Any) -> Any:
        y = x
        functions = [lambda: y]
        if x > 0:
            y = y + 1
        return functions[0]()

    def of_another_name(x: Any) -> Any:
        y, unread = x, 1

        def first() -> Any:
            return y

        second = first
        third = (second, 1)
        copy = unread
        if x > 0:
            y, unread = y + 1, 2.5
        return third[0]() + copy

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        results = [convert(in_a_list)(x), convert(of_another_name)(x)]
        assert [session.run(results, {x: value}) for value in (5, -5)] == [[6, 7], [-5, -4]]

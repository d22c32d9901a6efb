"""`tf.variable_scope` and `tf.get_variable`: names, sharing, settings that scopes hand down, errors.

The programs and printouts of the source documents are in `tests/source_programs`, whole graphs in the golden suite.
"""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from typing import Any

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def note(name: str) -> str:
    """Where a variable, an operation and the scope's own name scope end up: `variable|operation|original_name_scope`."""
    variable = tf.get_variable(name, [1], initializer=tf.zeros_initializer())
    op = tf.add(variable, 1.0, name="Add")
    return f"{variable.op.name}|{op.op.name}|{tf.get_variable_scope().original_name_scope}"


# --- names -------------------------------------------------------------------------------------------------------------


def test_names_of_opened_and_reopened_scopes() -> None:
    seen = []
    with tf.variable_scope("scope1") as sp:
        seen.append(note("v"))
    with tf.variable_scope("scope2"):
        seen.append(note("v"))
        with tf.variable_scope(sp) as again:
            seen.append(note("v3"))
            assert again is not sp
            assert again.name == "scope1"
            with tf.variable_scope(""):
                seen.append(note("v4"))
    with tf.variable_scope("scope1"):
        seen.append(note("w"))
    with tf.variable_scope(sp):
        seen.append(note("w2"))
    assert seen == [
        "scope1/v|scope1/Add|scope1/",
        "scope2/v|scope2/Add|scope2/",
        "scope1/v3|scope2/scope1/Add|scope1/",
        "scope1//v4|scope2/scope1/Add_1|",
        "scope1/w|scope1_1/Add|scope1_1/",
        "scope1/w2|scope1_2/Add|scope1/",
    ]


def test_auxiliary_name_scope() -> None:
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope(a, auxiliary_name_scope=False):
        assert note("v") == "a/v|Add|a/"
    with tf.name_scope("n"), tf.variable_scope("b", auxiliary_name_scope=False):
        assert note("v") == "b/v|n/Add|n/"
    with tf.variable_scope(a, auxiliary_name_scope=False) as again, tf.name_scope(again.original_name_scope):
        assert note("w") == "a/w|a/Add|a/"


def test_name_scopes_have_no_part_in_variable_names() -> None:
    with tf.name_scope("ns"):
        with tf.variable_scope("a/b"):
            assert note("x") == "a/b/x|ns/a/b/Add|ns/a/b/"
        with tf.variable_scope("q"):
            pass
        with tf.variable_scope(None, "q"):
            assert note("x") == "q_1/x|ns/q_1/Add|ns/q_1/"
        assert tf.Variable(1.0, name="v").name == "ns/v:0"
        assert tf.get_variable("v", [1]).name == "v:0"
    with tf.variable_scope(tf.get_variable_scope()):
        assert note("root") == "root|Add|"


def test_default_names_are_unique_in_their_scope() -> None:
    def opened(default: str) -> str:
        with tf.variable_scope(None, default) as scope:
            return scope.name

    with tf.variable_scope("q") as q:
        assert [opened("d"), opened("d")] == ["q/d", "q/d_1"]
    with tf.variable_scope("q"):
        assert [opened("d"), opened("d")] == ["q/d", "q/d_1"]
    with tf.variable_scope(q):
        assert [opened("d"), opened("d")] == ["q/d", "q/d_1"]
    assert [opened(n) for n in ("q", "d", "a/b", "a/b", "a", "Q", "Q")] == ["q_1", "d", "a/b", "a/b_1", "a", "Q", "Q_1"]
    with tf.variable_scope("q/d"):
        pass
    with tf.variable_scope("q"):
        assert opened("d") == "q/d_1"
    with tf.variable_scope("given", "default") as scope:
        assert scope.name == "given"
    with tf.variable_op_scope([tf.constant(1.0)], None, "by_values"):
        assert note("x") == "by_values/x|by_values/Add|by_values/"


def test_values_choose_the_graph() -> None:
    other = tf.Graph()
    with other.as_default():
        t = tf.constant(1.0)
    with tf.variable_scope("a", values=[t]):
        assert tf.get_variable("v", [1]).graph is other
    assert tf.global_variables() == []


def test_scopes_are_left_on_errors_and_belong_to_graph_and_thread() -> None:
    def fails() -> None:
        with tf.variable_scope("a"):
            raise KeyError("a")

    with pytest.raises(KeyError):
        fails()
    assert tf.get_variable_scope().name == ""
    assert tf.get_default_graph().get_name_scope() == ""
    seen: list[str] = []
    g = tf.get_default_graph()

    def other_thread() -> None:
        with g.as_default():
            seen.append(tf.get_variable_scope().name)

    with tf.variable_scope("outer"):
        with tf.Graph().as_default():
            assert tf.get_variable_scope().name == ""
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
    assert seen == [""]


@pytest.mark.usefixtures("only_new_garbage")
def test_a_graph_can_go_away() -> None:
    """Nothing but the program keeps a graph with shared variables alive."""
    other = tf.Graph()
    with other.as_default(), tf.variable_scope("a", regularizer=lambda v: tf.reduce_sum(v)):
        tf.get_variable("v", [2])
    gone = weakref.ref(other)
    del other
    gc.collect()
    assert gone() is None


def test_one_scope_object_can_be_entered_again() -> None:
    scope = tf.variable_scope("a")
    with scope as first:
        pass
    with scope as second:
        assert note("v") == "a/v|a_1/Add|a_1/"
    assert (first.name, second.name) == ("a", "a")


# --- sharing -----------------------------------------------------------------------------------------------------------


def test_reuse_is_handed_down() -> None:
    with tf.variable_scope("a", reuse=True) as a:
        assert a.reuse is True
        for reuse, expected in ((None, True), (False, True), (True, True), (tf.AUTO_REUSE, tf.AUTO_REUSE)):
            with tf.variable_scope("b", reuse=reuse) as b:
                assert b.reuse is expected
    with tf.variable_scope("plain") as plain:
        assert not plain.reuse
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        with tf.variable_scope("b", reuse=True) as b:
            assert b.reuse is True
        with tf.variable_scope("b") as b:
            assert b.reuse is tf.AUTO_REUSE
        with tf.variable_scope(plain) as again:
            assert not again.reuse  # a scope that is opened as an object keeps its own mode
    with tf.variable_scope("later") as later:
        later.reuse_variables()
        with tf.variable_scope("b") as b:
            assert b.reuse is True
    with tf.variable_scope(later) as again:
        assert again.reuse is True


def test_sharing() -> None:
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2, 3])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2, 3]) is v
        assert tf.get_variable("v") is v
        assert tf.get_variable("v", [2, None]) is v
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v", [2, 3]) is v
        w = tf.get_variable("w", [5])
        assert tf.get_variable("w", [5]) is w
    with tf.variable_scope("a"):
        tf.get_variable_scope().reuse_variables()
        assert tf.get_variable("w", [5]) is w
    assert tf.global_variables() == [v, w]


def test_a_tf_variable_is_not_shared() -> None:
    tf.Variable([1.0], name="v")
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="Variable v does not exist"):
        tf.get_variable("v", [1])
    assert tf.get_variable("v", [1]).name == "v_1:0"


def test_second_definition_names_the_first() -> None:
    frame = inspect.currentframe()
    assert frame is not None
    tf.get_variable("firstvar", [1])
    line = frame.f_lineno - 1
    with pytest.raises(ValueError, match="firstvar") as caught:
        tf.get_variable("firstvar", [1])
    assert str(caught.value) == (
        "Variable firstvar already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? "
        f'Originally defined at:\n\n  File "{__file__}", line {line}\n'
    )


# --- what scopes hand down ---------------------------------------------------------------------------------------------


def test_initializers_are_handed_down() -> None:
    """The printout of B 4.3.5: the scope's, the outer scope's, the variable's own."""
    with tf.variable_scope("test1", initializer=tf.constant_initializer(0.4)):
        var1 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
        with tf.variable_scope("test2"):
            var2 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
            var3 = tf.get_variable("test3", shape=[2], initializer=tf.constant_initializer(0.3))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run([var1, var2, var3])
    assert [x.tolist() for x in got] == [[pytest.approx(0.4)] * 2] * 2 + [[pytest.approx(0.3)] * 2]


def test_settings_are_handed_down_and_overridden() -> None:
    zeros, ones, half = tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(0.5)

    def settings() -> tuple[Any, ...]:
        s = tf.get_variable_scope()
        return (s.initializer, s.regularizer, s.caching_device, s.dtype, s.use_resource, s.partitioner)

    with tf.variable_scope("other") as other:
        pass
    part = tf.fixed_size_partitioner(2)
    with tf.variable_scope(
        "a", initializer=zeros, regularizer=abs, caching_device="/cpu:1", dtype=tf.float64, partitioner=part
    ) as a:
        assert settings() == (zeros, abs, "/cpu:1", tf.float64, None, part)
        with tf.variable_scope("b", initializer=ones, dtype=tf.int32):
            assert settings() == (ones, abs, "/cpu:1", tf.int32, None, part)
        with tf.variable_scope(other):
            assert settings() == (None, None, None, tf.float32, None, None)
        with tf.variable_scope(other, initializer=half):
            assert settings() == (half, None, None, tf.float32, None, None)
        a.set_initializer(half)
        a.set_regularizer(None)
        a.set_caching_device("/cpu:2")
        a.set_dtype(tf.float16)
        a.set_use_resource(False)
        a.set_partitioner(None)
        assert settings() == (half, None, "/cpu:2", tf.float16, False, None)
        v = tf.get_variable("v", [2])
    assert (v.dtype.base_dtype, v.value().device) == (tf.float16, "/device:CPU:2")
    assert tf.get_variable("w", [2]).dtype.base_dtype is tf.float32


def test_default_initializers(graph: Any) -> None:
    made = {
        d: tf.get_variable(f"v_{d.name}", [3, 5], d)
        for d in (tf.float32, tf.float64, tf.float16, tf.int32, tf.bool, tf.string)
    }
    kinds = {d.name: graph.get_operation_by_name(v.initializer.inputs[1].op.name).type for d, v in made.items()}
    assert kinds["int32"] == kinds["bool"] == kinds["string"] == "Const"
    assert kinds["float32"] == kinds["float64"] == "AddV2"
    limit = graph.get_operation_by_name("v_float64/Initializer/random_uniform/max").get_attr("value").double_val[0]
    assert limit == pytest.approx((6 / 8) ** 0.5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made[tf.string]).tolist() == [[b""] * 5] * 3
        assert not session.run(made[tf.bool]).any()
        assert abs(session.run(made[tf.float64])).max() <= limit


def _ones_if_not_partitioned(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    return tf.fill(shape, float(partition_info is None))


def test_ways_to_initialize() -> None:
    made = [
        tf.get_variable("value", initializer=[[1, 2], [3, 4]]),
        tf.get_variable("tensor", initializer=tf.constant([1.0, 2.0])),
        tf.get_variable("no_arguments", initializer=lambda: tf.fill([2], 3.0)),
        tf.get_variable("class", [2], initializer=tf.ones_initializer),
        tf.get_variable("function", [2], initializer=lambda shape, dtype: tf.fill(shape, tf.cast(4.0, dtype))),
        tf.get_variable("with_info", [2], initializer=_ones_if_not_partitioned),
    ]  # fmt: skip
    assert [v.dtype.base_dtype for v in made[:2]] == [tf.int32, tf.float32]
    assert made[0].initial_value.op.name == "value/initial_value"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = [x.tolist() for x in session.run(made)]
    assert got == [[[1, 2], [3, 4]], [1, 2], [3, 3], [1, 1], [4, 4], [1, 1]]


def test_dtype_of_a_value_wins_over_the_scope_s() -> None:
    with tf.variable_scope("a", dtype=tf.float64):
        assert tf.get_variable("t", initializer=tf.constant(1.0)).dtype.base_dtype is tf.float32
        assert tf.get_variable("f", [2]).dtype.base_dtype is tf.float64


def test_validate_shape() -> None:
    v = tf.get_variable("v", initializer=tf.placeholder_with_default([1.0], [None]), validate_shape=False)
    assert v.shape.ndims is None
    assert tf.get_variable("w", [3, 2], validate_shape=False).shape == [3, 2]


def test_regularizers() -> None:
    def penalty(v: Any) -> Any:
        return 0.5 * tf.reduce_sum(v)

    with tf.variable_scope("s", regularizer=penalty, initializer=tf.ones_initializer()):
        tf.get_variable("a", [3])
        with tf.name_scope("elsewhere"):
            b = tf.get_variable("b", [5], trainable=False)
        tf.get_variable("own", [2], regularizer=lambda v: tf.constant(7.0))
        with tf.variable_scope("", reuse=True):
            tf.get_variable_scope().set_regularizer(penalty)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [x.name for x in losses] == ["s/a/Regularizer/mul:0", "s/b/Regularizer/mul:0", "s/own/Regularizer/Const:0"]
    assert losses[1].op.get_attr("_class") == [b"loc:@s/b"]
    assert losses[0].dtype is tf.float32
    assert losses[0].get_shape() == []
    total, weighted = tf.add_n(losses), losses[0] * 2.0
    assert tf.convert_to_tensor(losses[0]).op.name != losses[0].op.name, "each use computes it again, as in TensorFlow"
    with tf.variable_scope("s", reuse=True, regularizer=penalty):
        assert tf.get_variable("b", [5]) is b
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 3
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([total, weighted, losses[1]]) == [1.5 + 2.5 + 7.0, 3.0, 2.5]


def test_custom_getters() -> None:
    calls: list[str] = []

    def adding(suffix: str) -> Any:
        def own(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            assert args == ()
            assert set(kwargs) == {
                "shape", "dtype", "initializer", "regularizer", "reuse", "trainable", "collections", "caching_device",
                "partitioner", "validate_shape", "use_resource", "constraint", "synchronization", "aggregation",
            }  # fmt: skip
            return getter(name + suffix, **kwargs)

        return own

    with tf.variable_scope("a", custom_getter=adding("_outer")):
        assert tf.get_variable("x", [1]).op.name == "a/x_outer"
        with tf.variable_scope("b", custom_getter=adding("_inner")):
            assert tf.get_variable("y", [1]).op.name == "a/b/y_inner_outer"
        assert tf.get_variable("z", [1], custom_getter=adding("_own")).op.name == "a/z_own"
    assert calls == ["a/x", "a/b/y", "a/b/y_inner", "a/z"]
    negated = tf.get_variable("n", [1], initializer=tf.ones_initializer(), custom_getter=lambda getter, **k: -getter(**k))
    assert negated.op.type == "Neg"
    with pytest.raises(TypeError, match="'inner'"):  # by name, as all that a custom getter is called with
        tf.get_variable("m", [1], custom_getter=lambda inner, *a, **k: inner(*a, **k))


def test_local_variables() -> None:
    v = tf.get_local_variable("v", [2], initializer=tf.zeros_initializer(), collections=["mine"])
    assert tf.local_variables() == tf.get_collection("mine") == [v]
    assert tf.global_variables() == tf.trainable_variables() == []
    assert not v.trainable


def test_collections_of_a_scope() -> None:
    with tf.variable_scope("a") as a:
        v = tf.get_variable("v", [1])
        w = tf.get_variable("w", [1], trainable=False)
        local = tf.get_local_variable("l", [1])
    tf.get_variable("ab", [1])
    assert a.global_variables() == [v, w]
    assert a.trainable_variables() == [v]
    assert a.local_variables() == [local]
    assert a.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [v]


# --- errors ------------------------------------------------------------------------------------------------------------


def enter(*args: Any, **kwargs: Any) -> None:
    with tf.variable_scope(*args, **kwargs):
        pass


def reusing(*args: Any, **kwargs: Any) -> None:
    with tf.variable_scope("", reuse=True):
        tf.get_variable(*args, **kwargs)


ERRORS = [
    (
        lambda: reusing("w", [2]),
        ValueError,
        r"Variable w does not exist, or was not created with tf.get_variable\(\). Did you mean",
    ),
    (
        lambda: reusing("v", [3, 2]),
        ValueError,
        r"Trying to share variable v, but specified shape \(3, 2\) and found shape \(2, 3\).",
    ),
    (lambda: reusing("v", [2, 3], tf.float64), ValueError, "specified dtype float64 and found dtype float32_ref."),
    (
        lambda: tf.get_variable("n"),
        ValueError,
        "Variable n did not get an initializer, so its `shape` argument must be specified.",
    ),
    (
        lambda: tf.get_variable("n", [2], initializer=[1.0, 2.0]),
        ValueError,
        "If initializer is a constant, do not specify shape.",
    ),
    (lambda: tf.get_variable("n", [2, None]), ValueError, "The initializer passed is not valid"),
    (
        lambda: tf.get_variable("n", [2], tf.complex64),
        ValueError,
        "An initializer for variable n of .*complex64.* is required",
    ),
    (
        lambda: tf.get_variable("n", dtype=tf.int32, initializer=1.5),
        ValueError,
        "Initializer type '.*float32.*' and explicit dtype",
    ),
    (lambda: tf.get_variable("n", [2], custom_getter=3), ValueError, "Passed a custom_getter which is not callable: 3"),
    (lambda: tf.get_variable("n", [2], partitioner=3), ValueError, "Partitioner must be callable, but received: 3"),
    (lambda: tf.get_variable("n", [2], initializer=lambda: 1.0), TypeError, "positional|dtype"),
    (lambda: enter(None), TypeError, "If default_name is None then name_or_scope is required"),
    (lambda: enter(3), TypeError, "name_or_scope must be a string or VariableScope"),
    (lambda: enter("a", reuse=3), ValueError, "The reuse parameter must be True or False or None."),
    (lambda: enter(None, "d", reuse=True), ValueError, "reuse=True cannot be used without a name_or_scope"),
    (lambda: enter("a b"), ValueError, "'a b' is not a valid scope name"),
    (lambda: enter("a", auxiliary_name_scope=1), TypeError, "auxiliary_name_scope"),
]


@pytest.mark.parametrize(("build", "error", "message"), ERRORS)
def test_errors(build: Any, error: type[Exception], message: str) -> None:
    tf.get_variable("v", [2, 3])
    with pytest.raises(error, match=message):
        build()
    assert tf.get_variable_scope().name == ""

"""Private names of resource variables, variable scopes and their stores."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.formats.protos.shape_inference import CppShapeInferenceResult
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.variables import validate_synchronization_aggregation_trainable
from tfexp.stand_ins import resource_handles, variable_nodes
from tfexp.stand_ins.modules import stand_for

handles = stand_for("tensorflow.python.ops.resource_variable_ops")
scopes = stand_for("tensorflow.python.ops.variable_scope")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_what_is_known_of_a_handle():
    handle = handles.variable_handle_from_shape_and_dtype([2, None], tf.int32, "shared", "name", graph_mode=True)
    known = handles.get_resource_handle_data(handle)
    assert isinstance(known, CppShapeInferenceResult.HandleData) and known.is_set
    (behind,) = known.shape_and_type
    assert ([dim.size for dim in behind.shape.dim], behind.dtype) == ([2, -1], tf.int32.as_datatype_enum)
    assert not handles.get_eager_safe_handle_data(tf.placeholder(tf.resource)).is_set
    made = handles.eager_safe_variable_handle(tf.zeros([2, 3]), tf.TensorShape([2, 3]), "shared", "other", True)
    assert (made.op.name, made.op.get_attr("shared_name"), made.op.get_attr("dtype")) == ("other", b"shared", tf.float32)


def test_an_assignment_checks_the_shape():
    variable = tf.Variable([1.0, 2.0], use_resource=True)
    assigned = handles.shape_safe_assign_variable_handle(variable.handle, variable.shape, [3.0, 4.0], name="set")
    assert (assigned.type, assigned.name) == ("AssignVariableOp", "set")
    with tf.Session() as session:
        session.run(assigned)
        np.testing.assert_array_equal(session.run(variable), [3, 4])
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are"):
        handles.shape_safe_assign_variable_handle(variable.handle, variable.shape, [3.0, 4.0, 5.0])


def test_a_variable_that_nothing_initializes(graph):
    variable = handles.UninitializedVariable(trainable=False, shape=[2, 3], dtype=tf.float32, name="u")
    assert [op.name for op in graph.get_operations()] == ["u", "u/Read/ReadVariableOp"]
    assert isinstance(variable, handles.BaseResourceVariable)
    assert tf.global_variables() == [variable] and tf.trainable_variables() == []
    assigned = variable.assign(tf.ones([2, 3]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="resource variable u from Container"):
            session.run(variable)
        session.run(assigned)
        np.testing.assert_array_equal(session.run(variable + 1.0), np.full([2, 3], 2))


def test_a_copy_without_value_stands_in_another_graph():
    variable = tf.Variable([1.0, 2.0], use_resource=True, trainable=False, name="v")
    with tf.Graph().as_default() as other:
        copied = handles.copy_to_graph_uninitialized(variable)
    assert copied.graph is other and isinstance(copied, resource_handles.UninitializedVariable)
    assert (copied.name, copied.shape, copied.dtype, copied.trainable) == ("v:0", [2], tf.float32, False)


def test_tapes_watch_a_variable_that_was_accessed():
    trained, other = (tf.Variable([1.0], use_resource=True, trainable=trainable) for trainable in (True, False))
    with tf.GradientTape() as tape:
        handles.variable_accessed(trained)
        handles.variable_accessed(other)
    assert tape.watched_variables() == (trained,)


def test_default_creators_ask_no_other_creator():
    def refusing(next_creator, **kwargs):
        raise AssertionError("asked")

    with tf.variable_creator_scope(refusing):
        plain = scopes.default_variable_creator(None, initial_value=1.0, name="plain")
        behind = scopes.default_variable_creator_v2(None, initial_value=1.0, name="behind")
    assert (plain.name, behind.name) == ("plain:0", "behind:0")
    assert not isinstance(plain, ResourceVariable) and isinstance(behind, ResourceVariable)
    assert stand_for("tensorflow.python.ops.variables").default_variable_creator is scopes.default_variable_creator


def test_a_store_of_variables_is_used_for_a_while():
    store = variable_nodes._VariableStore()
    with scopes.with_variable_store(store):
        first = tf.get_variable("a", [2])
        assert scopes._get_default_variable_store() is store
    second = tf.get_variable("a", [2])
    assert (first.name, second.name) == ("a:0", "a_1:0") and list(store._vars) == ["a"]


def test_the_store_of_scopes_counts_them():
    store = scopes.get_variable_scope_store()
    assert store.current_scope is tf.get_variable_scope()
    with tf.variable_scope("a"):
        for _ in range(2):
            with tf.variable_scope("b"):
                pass
        store.open_variable_scope("a/z")
        assert (store.current_scope.name, store.variable_scopes_count) == ("a", {"a": 1, "a/b": 2, "a/z": 1})
        store.close_variable_subscopes("a")
        assert [store.variable_scope_count(name) for name in ("a", "a/b", "a/z", "c")] == [1, 0, 0, 0]
    store.close_variable_subscopes(None)
    assert set(store.variable_scopes_count.values()) == {0}


def test_how_a_variable_is_shared_says_whether_it_is_trained():
    on_read = tf.VariableSynchronization.ON_READ
    assert validate_synchronization_aggregation_trainable(on_read, None, None, "x") == (
        on_read,
        tf.VariableAggregation.NONE,
        False,
    )
    assert validate_synchronization_aggregation_trainable(None, None, None, "x")[2]
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: b for variable: x"):
        validate_synchronization_aggregation_trainable(None, "b", None, "x")

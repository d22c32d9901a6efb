"""What TensorFlow's tests ask of nodes, of arguments that may be variables, and of initializers by their other names."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.ops.{name}")


@pytest.fixture
def graph():
    """A cond in a while loop, to which a constant goes in; recorded from TensorFlow, names and all."""
    with tf.Graph().as_default() as graph:
        step = tf.placeholder(tf.int32, [], name="step")
        tf.while_loop(lambda i: i < 3, lambda i: tf.cond(i > 1, lambda: i + step, lambda: i + 2), [0], name="w")
    return graph


def test_merges_of_loops_and_of_conds(graph):
    util = module("control_flow_util")
    merges = [op for op in graph.get_operations() if op.type == "Merge"]
    assert [op.name for op in merges if util.IsLoopMerge(op)] == ["w/Merge"]
    assert [op.name for op in merges if util.IsCondMerge(op)] == ["w/cond/Merge"]
    assert not util.IsCondMerge(graph.get_operation_by_name("step"))


def test_constants_of_loops(graph):
    util = module("control_flow_util")
    (enter,) = [op for op in graph.get_operations() if util.IsLoopConstantEnter(op)]
    assert enter.type == "Enter" and enter.inputs[0].op.name == "step"
    switched = [op for op in graph.get_operations() if op.type == "Switch" and op.inputs[0] is enter.outputs[0]]
    assert [util.GetLoopConstantEnter(op.outputs[0]) for op in switched] == [enter]
    assert util.GetLoopConstantEnter(graph.get_tensor_by_name("w/Merge:0")) is None


def test_contexts_around_nodes(graph):
    util = module("control_flow_util")
    inside, outside = (graph.get_operation_by_name(name) for name in ("w/cond/add", "step"))
    branch = inside._get_control_flow_context()
    loop = branch.outer_context
    assert util.IsContainingContext(branch, loop) and not util.IsContainingContext(loop, branch)
    assert util.IsContainingContext(None, None) and util.OpInContext(inside, loop) and not util.OpInContext(outside, loop)
    assert util.TensorInContext(inside.outputs[0], branch) and not util.IsInXLAContext(inside)
    util.CheckInputFromValidContext(inside, outside)
    with pytest.raises(ValueError, match="is in a while loop"):
        util.CheckInputFromValidContext(outside, graph.get_operation_by_name("w/Less"))


def test_selection_of_nodes(graph):
    select = module("op_selector")
    assert select.concatenate_unique([1, 2], [2, 3]) == [1, 2, 3]
    assert select.is_iterable([1]) and not select.is_iterable(1)
    with graph.as_default():
        total = (tf.constant(1.0, name="one") + 2.0).op
        step = graph.get_operation_by_name("step")
        with tf.control_dependencies([step]):
            last = tf.identity(total.outputs[0]).op
    assert select.graph_inputs(last) == [total, step]
    assert select.is_differentiable(total) and not select.is_differentiable(graph.get_operation_by_name("one"))


def test_zeros_that_stand_for_no_gradient():
    default = module("default_gradient")
    with tf.Graph().as_default(), tf.Session() as session:
        handle = tf.get_variable("v", [2, 3], use_resource=True).handle
        assert default.shape_and_dtype(handle) == (tf.TensorShape([2, 3]), tf.float32)
        assert default.get_zeros_dtype(tf.constant(1)) == tf.int32
        of_handle, of_tensor = session.run([default.zeros_like(handle), default.zeros_like(tf.constant([5]))])
    np.testing.assert_array_equal(of_handle, np.zeros([2, 3], np.float32))
    np.testing.assert_array_equal(of_tensor, [0])


def test_arguments_that_may_be_variables():
    util = module("linalg.linear_operator_util")
    with tf.Graph().as_default():
        variables = [tf.get_variable(f"v{resource}", [2], use_resource=resource) for resource in (True, False)]
        for variable in variables:
            assert util.is_ref(variable) and util.convert_nonref_to_tensor(variable) is variable
            with pytest.raises(TypeError, match='Mutable type must be of dtype "float64" but is "float32"'):
                util.convert_nonref_to_tensor(variable, dtype=tf.float64)
            with pytest.raises(TypeError, match="Argument a cannot be reference type"):
                util.assert_not_ref_type(variable, "a")
        assert util.convert_nonref_to_tensor(1.0, dtype=tf.float64).dtype == tf.float64
        assert util.convert_nonref_to_tensor(1.0, dtype_hint=tf.float64).dtype == tf.float64
        assert util.convert_nonref_to_tensor(None) is None and not util.is_ref(tf.constant(1.0))
    assert [util.dtype_name(kind) for kind in (tf.float32, np.float32, np.dtype("int8"), int)] == [
        *("float32", "float32", "int8", "int")
    ]
    assert util.base_dtype(tf.float32._as_ref) is tf.float32 and util.base_dtype(np.float32) is np.float32


@pytest.mark.parametrize(
    ("short", "kind"), [("zeros", "Zeros"), ("random_uniform", "RandomUniform"), ("orthogonal", "Orthogonal")]
)
def test_other_names_of_initializers(short, kind):
    initializers = module("init_ops_v2")
    assert getattr(initializers, short) is getattr(initializers, kind) is getattr(initializers, f"{short}_initializer")
    assert initializers.zero is initializers.Zeros and initializers.constant is tf.compat.v2.constant_initializer


def test_axes_and_splits():
    array_ops = module("array_ops")
    assert array_ops.get_positive_axis(-1, 3) == 2
    with pytest.raises(ValueError, match="axis=3 out of bounds: expected -3<=axis<3"):
        array_ops.get_positive_axis(3, 3)
    with pytest.raises(TypeError, match="x must be an integer tensor"):
        array_ops.convert_to_int_tensor(3.5, "x")
    with tf.Session() as session:
        assert session.run(module("ragged.ragged_util").lengths_to_splits([1, 2])).tolist() == [0, 1, 3]


@pytest.mark.parametrize("resource", [True, False])
def test_variables_behind_handles(resource):
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [2], use_resource=resource)
    assert isinstance(variable, module("resource_variable_ops").BaseResourceVariable) is resource

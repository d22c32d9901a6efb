"""Functions that TensorFlow's tests take from its modules: resizing of version 2, ragged conversions, variables' nodes."""

import copy

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for

image_ops = stand_for("tensorflow.python.ops.image_ops")
RAMP = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


@pytest.mark.parametrize(
    ("method", "expected"),  # recorded from TensorFlow
    [
        ("bilinear", [2.1667, 3.5, 4.8333]),
        ("bicubic", [1.7501, 3.1471, 4.544]),
        ("nearest", [4, 6, 7]),
        ("area", [2.25, 3.5, 4.75]),
        ("lanczos3", [1.5723, 2.9866, 4.4008]),
    ],
)
def test_resizing_of_version_2(method, expected):
    with tf.Session() as session:
        found = session.run(image_ops.resize_images_v2(RAMP, [2, 3], method))
        np.testing.assert_allclose(found[0, 0, :, 0], expected, atol=1e-4)
        assert session.run(image_ops.resize_image_with_pad_v2(RAMP[0], 8, 4, method)).shape == (8, 4, 1)


def test_methods_of_both_versions():
    assert image_ops.ResizeMethodV1 is tf.image.ResizeMethod and image_ops.ResizeMethod.AREA == "area"
    with tf.Session() as session:
        by_name, by_number = (image_ops.resize_images(RAMP, [2, 3], m) for m in (image_ops.ResizeMethod.AREA, 3))
        np.testing.assert_array_equal(*session.run([by_name, by_number]))
    with pytest.raises(ValueError, match="Resize method is not implemented: cubic"):
        tf.image.resize_images(RAMP, [2, 3], "cubic")
    with pytest.raises(ValueError, match="Resize method is not implemented: cubic"):
        image_ops.resize_images_v2(RAMP, [2, 3], "cubic")


def test_ragged_conversions():
    conversions = stand_for("tensorflow.python.ops.ragged.ragged_conversion_ops")
    ragged_tensor = stand_for("tensorflow.python.ops.ragged.ragged_tensor")
    test_case = stand_for("tensorflow.python.ops.ragged.ragged_test_util").RaggedTensorTestCase()
    value = tf.ragged.constant_value([[1, 2], [3]])
    with tf.Session() as session:
        made = ragged_tensor.convert_to_tensor_or_ragged_tensor(value)
        test_case.assertRaggedEqual(session.run(made), [[1, 2], [3]])
        test_case.assertRaggedEqual(session.run(conversions.from_tensor([[1, 2], [3, 0]], padding=0)), [[1, 2], [3]])
        assert session.run(conversions.to_tensor(made, 9)).tolist() == [[1, 2], [3, 9]]
    assert ragged_tensor.is_ragged(value) and not ragged_tensor.is_ragged([[1]])
    ragged_string_ops = stand_for("tensorflow.python.ops.ragged.ragged_string_ops")
    assert ragged_tensor.is_ragged(ragged_string_ops.string_split_v2(["a b", "c"]))
    ragged_array_ops = stand_for("tensorflow.python.ops.ragged.ragged_array_ops")
    with tf.Session() as session:
        hot, size = session.run([ragged_array_ops.ragged_one_hot(made, 4, dtype=tf.int32), ragged_array_ops.size([[1, 2]])])
        assert hot.to_list() == [[[0, 1, 0, 0], [0, 0, 1, 0]], [[0, 0, 0, 1]]] and size == 2
    narrow = made.with_row_splits_dtype(tf.int32)
    assert ragged_tensor.match_row_splits_dtypes(made, 1, return_dtype=True) == (tf.int64, [made, 1])
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        ragged_tensor.match_row_splits_dtypes(made, narrow)
    with pytest.raises(ValueError, match="requested dtype float32 for RaggedTensor with dtype int"):
        ragged_tensor.convert_to_tensor_or_ragged_tensor(made, tf.float32)


def test_nodes_of_variables():
    state_ops, variables = (stand_for(f"tensorflow.python.ops.{name}") for name in ("state_ops", "variables"))
    assert state_ops.variable_op([2, 3], tf.float32).shape == [2, 3]
    assert state_ops.variable_op([2], tf.float32, set_shape=False).shape.rank is None
    start = tf.constant(1.0)
    assert variables._try_guard_against_uninitialized_dependencies("v", start) is start
    with pytest.raises(TypeError, match="initial_value needs to be a Tensor"):
        variables._try_guard_against_uninitialized_dependencies("v", 3)


def test_losses_over_samples_may_keep_what_is_expected_of_them():
    sampled = (np.array([1, 0]), np.full((1, 1), 0.5, np.float32), np.full(2, 0.5, np.float32))
    compute = stand_for("tensorflow.python.ops.nn_impl")._compute_sampled_logits
    weights, biases = np.eye(3, dtype=np.float32), np.zeros(3, np.float32)
    arguments = (weights, biases, np.array([[2]]), np.float32([[1, 2, 3]]), 2, 3)
    with tf.Session() as session:
        whole, less = (session.run(compute(*arguments, sampled_values=sampled, subtract_log_q=s)[0]) for s in (False, True))
        np.testing.assert_allclose(whole, [[3, 2, 1]])
        np.testing.assert_allclose(less, whole - np.log(0.5), rtol=1e-6)


def test_what_a_table_names_goes_before_ops():
    string_ops = stand_for("tensorflow.python.ops.string_ops")
    assert string_ops.string_format is tf.strings.format and string_ops.string_split_v2 is tf.strings.split
    reduced_shape = stand_for("tensorflow.python.ops.math_ops").reduced_shape
    assert reduced_shape([5, 7, 3], [1]).tolist() == [5, 1, 3] and reduced_shape([5, 7], []).tolist() == [5, 7]


def test_what_functions_and_cells_are_asked():
    script_ops = stand_for("tensorflow.python.ops.script_ops")
    before = script_ops._py_funcs.size()
    with tf.Graph().as_default():
        node = tf.py_func(lambda: 1.0, [], tf.float64)
        assert script_ops._py_funcs.size() == before + 1 and node.op.type == "PyFunc"
    cells = stand_for("tensorflow.python.ops.rnn_cell_impl")
    cells.assert_like_rnncell("cell", tf.nn.rnn_cell.GRUCell(3))
    with pytest.raises(TypeError, match=r"'cell' .* is not an RNNCell"):
        cells.assert_like_rnncell("cell", 3)
    with pytest.raises(ValueError, match="RNN cell only supports floating point inputs, but saw dtype: int32"):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3, dtype=tf.int32), np.zeros((3, 4, 5), np.int32), dtype=tf.int32)


def test_a_network_that_runs_at_once_takes_arrays():
    with eager_mode():
        cell = tf.nn.rnn_cell.BasicRNNCell(5)
        outputs, state = tf.nn.dynamic_rnn(cell, np.zeros((3, 4, 2), np.float32), initial_state=np.zeros((3, 5), np.float32))
        assert outputs.shape == [3, 4, 5] and state.shape == [3, 5]


def test_resource_variables_of_another_graph_and_copies():
    resource_variable_ops = stand_for("tensorflow.python.ops.resource_variable_ops")
    assert callable(resource_variable_ops.resource_gather)  # the op, not a module of ours of that name
    with tf.Graph().as_default() as graph:
        variable = resource_variable_ops.ResourceVariable(1.0)
    with tf.Graph().as_default():
        assert variable.assign(2.0).op.graph is graph
    with pytest.raises(NotImplementedError, match="eager execution"):
        copy.deepcopy(variable)
    with eager_mode():
        first = resource_variable_ops.ResourceVariable([1.0, 2.0])
        second = copy.deepcopy(first)
        second.assign([3.0, 3.0])
        assert resource_variable_ops.is_resource_variable(second)
        assert [first.numpy().tolist(), second.numpy().tolist()] == [[1.0, 2.0], [3.0, 3.0]]


def test_products_with_hessians():
    product = stand_for("tensorflow.python.ops.gradients_impl")._hessian_vector_product
    matrix = np.random.default_rng(1).normal(size=(3, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        x, v = tf.constant([1.0, -2.0, 0.5], tf.float64), tf.constant([0.3, 1.0, -1.0], tf.float64)
        loss = tf.reduce_sum(tf.tensordot(x, tf.tensordot(matrix, x, 1), 1))
        (found,) = product(loss, [x], [v])
        np.testing.assert_allclose(session.run(found), (matrix + matrix.T) @ [0.3, 1.0, -1.0])
        with pytest.raises(ValueError, match="same length, got 1 and 2"):
            product(loss, [x], [v, v])


def test_stores_of_variables():
    scopes = stand_for("tensorflow.python.ops.variable_scope")
    with tf.Graph().as_default():
        store = scopes._get_default_variable_store()
        first = store.get_variable("v", [1])
        assert store.get_variable("v", [1]) is first and isinstance(store, scopes._VariableStore)
        with pytest.raises(ValueError, match="Variable v already exists"):
            store.get_variable("v", [1], reuse=False)
    with eager_mode():
        kept = scopes.EagerVariableStore()
        with kept.as_default():
            old = tf.get_variable("v", initializer=1.0)
        with kept.copy().as_default():
            new = tf.get_variable("v", shape=[])
        new.assign_add(1.0)
        assert [old.numpy(), new.numpy()] == [1.0, 2.0]


def test_messages_of_shapes_and_of_control_flow():
    shapes = stand_for("tensorflow.python.framework.cpp_shape_inference_pb2")
    known = shapes.CppShapeInferenceResult.HandleData(is_set=True)
    known.shape_and_type.add(dtype=1).shape.dim.add(size=3)
    control_flow = stand_for("tensorflow.core.protobuf.control_flow_pb2")
    context = control_flow.CondContextDef(context_name="a", branch=1)
    for message in (known, context):
        assert type(message).FromString(message.SerializeToString()) == message


def test_a_gradient_that_is_no_number_is_an_error_that_is_none():
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant([1.0, 2.0])
        y = tf.where(x > 0, x, x) * tf.constant([np.nan, 1.0])
        assert np.isnan(tf.test.compute_gradient_error(x, [2], y, [2]))


def test_private_functions_of_metrics():
    metrics_impl = stand_for("tensorflow.python.ops.metrics_impl")
    with tf.Graph().as_default(), tf.Session() as session:
        predictions, labels, weights = metrics_impl._remove_squeezable_dimensions(tf.ones([2, 1]), tf.ones([2]), None)
        assert (predictions.shape, labels.shape, weights) == ((2,), (2,), None)
        values, updates = metrics_impl._confusion_matrix_at_thresholds(
            tf.constant([1, 0, 1]), tf.constant([0.2, 0.7, 0.9]), [0.5, 0.8], includes=("tp", "fp")
        )
        assert list(values) == list(updates) == ["tp", "fp"]
        _, precision = metrics_impl._streaming_sparse_average_precision_at_top_k(
            tf.constant([[3], [2]], tf.int64), tf.constant([[1, 2], [2, 1]], tf.int64)
        )
        session.run(tf.local_variables_initializer())
        counts, mean = session.run([updates, precision])
    assert {kind: list(count) for kind, count in counts.items()} == {"tp": [1, 1], "fp": [1, 0]}
    assert mean == 0.5


def test_a_metric_of_a_librarys_own():
    metrics_impl = stand_for("tensorflow.python.ops.metrics_impl")
    with tf.Graph().as_default(), tf.Session() as session:
        total = metrics_impl.metric_variable([], tf.float32, name="total")
        seen = metrics_impl.metric_variable([0], tf.float32, validate_shape=False, name="seen")
        value = metrics_impl._aggregate_variable(total, ["mine"])
        assert tf.get_collection("mine") == [value] and tf.local_variables() == [total, seen]
        session.run(tf.local_variables_initializer())
        session.run([tf.assign_add(total, 3.0), tf.assign(seen, [1.0, 2.0], validate_shape=False)])
        assert session.run(value) == 3.0 and session.run(seen).tolist() == [1.0, 2.0]


def test_a_confusion_matrix_that_adds_up():
    metrics_impl = stand_for("tensorflow.python.ops.metrics_impl")
    with tf.Graph().as_default(), tf.Session() as session:
        total, update = metrics_impl._streaming_confusion_matrix(
            [[0, 1], [1, 1]], [[0, 1], [0, 2]], 3, tf.constant([[1, 2], [3, 4]])
        )
        session.run(tf.local_variables_initializer())
        expected = np.array([[1, 0, 0], [3, 2, 4], [0, 0, 0]])
        np.testing.assert_array_equal(session.run(update), expected)
        session.run(update)
        np.testing.assert_array_equal(session.run(total), 2 * expected)


@pytest.mark.parametrize(("name", "value"), [("shape", [2, 3]), ("size", 6), ("rank", 2)])
def test_what_is_known_makes_a_constant_or_not(name, value):
    internal = getattr(stand_for("tensorflow.python.ops.array_ops"), f"{name}_internal")
    with tf.Session() as session:
        known, computed = internal(tf.zeros([2, 3])), internal(tf.zeros([2, 3]), optimize=False)
        assert (known.op.type, computed.op.type) == ("Const", name.capitalize())
        np.testing.assert_array_equal(session.run([known, computed])[1], value)


def test_a_session_that_exists_runs_with_hooks_and_nothing_else_is_done_to_it():
    class Adds(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"twice": x * 2}, {x: 7.0})

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)
            run_context.request_stop()

    hooked, seen = stand_for("tensorflow.python.training.monitored_session")._HookedSession, []
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        stepping = hooked(session, [Adds()])
        assert stepping.graph is graph and not stepping.should_stop()
        assert stepping.run(x + 1) == 8.0 and seen == [{"twice": 14.0}] and stepping.should_stop()
        with pytest.raises(RuntimeError, match="should_stop"):
            stepping.run(x)
        assert session.run(x, {x: 3.0}) == 3.0


def test_summaries_of_ones_own():
    parts = stand_for("tensorflow.python.ops.summary_op_util")
    assert stand_for("tensorflow.python.ops.summary_ops_v2")._INVALID_SCOPE_CHARACTERS.sub("", "a b?/c") == "ab/c"
    with parts.summary_scope("a b", "family", values=[]) as (tag, scope):
        made = tf.constant("", name=scope)
    assert (tag, made.op.name) == ("family/family/a_b", "family/a_b")
    parts.collect(made, None, ["mine"])
    parts.collect(made, ["others"], ["mine"])
    assert tf.get_collection("mine") == tf.get_collection("others") == [made]
    assert stand_for("tensorflow.python.distribute.summary_op_util").skip_summary() is False
    with tf.name_scope("x"):
        assert tf.contrib.framework.get_name_scope() == "x"


def test_what_stands_for_tpus():
    function = stand_for("tensorflow.contrib.tpu.python.tpu.tpu_function")
    assert function.get_tpu_context().number_of_shards is None
    assert stand_for("tensorflow.python.tpu.ops.tpu_ops").cross_replica_sum is tf.tpu.cross_replica_sum
    assert stand_for("tensorflow.contrib.tpu.python.tpu.tpu_config").RunConfig is tf.contrib.tpu.RunConfig
    context = tf.get_default_graph()._get_control_flow_context()
    assert stand_for("tensorflow.python.ops.control_flow_util").GetContainingXLAContext(context) is None


def test_zero_states_of_cells():
    sizes = (tf.TensorShape([2, 3]), 5)
    zeros = stand_for("tensorflow.python.ops.rnn_cell_impl")._zero_state_tensors(sizes, 7, tf.float32)
    assert [state.shape.as_list() for state in zeros] == [[7, 2, 3], [7, 5]]


def test_caches_of_summary_writers():
    assert stand_for("tensorflow.python.training.summary_io").SummaryWriterCache is tf.summary.FileWriterCache


def test_constants_of_version_2_repeat_one_value_only():
    constant_op = stand_for("tensorflow.python.framework.constant_op")
    assert constant_op.constant(1, shape=[2]).shape == [2]
    assert constant_op.constant_v1([1, 2], shape=[3]).shape == [3]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), got \(2,\)"):
        constant_op.constant([1, 2], shape=[3])


def test_a_sparse_tensor_that_was_stored():
    sparse_ops = stand_for("tensorflow.python.ops.sparse_ops")
    stored = tf.serialize_sparse(tf.SparseTensor([[0, 1]], [7], [2, 3]))
    restored = sparse_ops.deserialize_sparse(stored, tf.int32, rank=2)
    assert restored.indices.shape.as_list() == [None, 2] and restored.shape.rank == 2
    with tf.Session() as session:
        assert session.run(restored).values.tolist() == [7]


def test_bijectors_of_the_distributions():
    names = ("bijector", "bijector_impl", "identity_bijector", "transformed_distribution")
    bijector, impl, identity, transformed = (stand_for(f"tensorflow.python.ops.distributions.{name}") for name in names)
    assert bijector.Bijector is impl.Bijector
    made = transformed.TransformedDistribution(tf.distributions.Normal(0.0, 1.0), identity.Identity())
    with tf.Session() as session:
        assert session.run(made.log_prob(0.0)) == pytest.approx(-0.9189385)


@pytest.mark.parametrize(
    ("nested", "depths"), [(1, (0, 0)), ([], (None, 1)), ([[1], []], (2, 2)), ([[], [[]]], (None, 3)), ([[[], [3]]], (3, 3))]
)
def test_depths_of_nested_lists(nested, depths):
    assert stand_for("tensorflow.python.ops.ragged.ragged_factory_ops")._find_scalar_and_max_depth(nested) == depths


@pytest.mark.parametrize(
    ("nested", "rank", "shape"),
    [([], 0, ()), ([[1, 2], [3, 4]], 0, (2,)), ([[1, 2], [3, 4]], 1, ()), ([[[1, 2]], [[3, 4], [5, 6]]], 1, (2,))],
)
def test_shapes_of_the_values_of_nested_lists(nested, rank, shape):
    factory = stand_for("tensorflow.python.ops.ragged.ragged_factory_ops")
    assert factory._default_inner_shape_for_pylist(nested, rank) == shape
    with pytest.raises(ValueError, match="inconsistent shape"):
        factory._default_inner_shape_for_pylist([[1, 2], [3]], 0)
    with pytest.raises(ValueError, match="depth 2, but ragged_rank=3 requires scalar value depth greater than 3"):
        factory._default_inner_shape_for_pylist([[1]], 3)


def test_sums_of_slices():
    backprop = stand_for("tensorflow.python.eager.backprop")

    def slices(values, indices, shape=None):
        return tf.IndexedSlices(tf.constant(values), tf.constant(indices), shape)

    one, dense = slices([[2.0, 3.0], [3.0, 4.0]], [0, 1], tf.constant([2, 2])), tf.constant([[0.0, 0.0], [1.0, 2.0]])
    nested = tf.IndexedSlices(slices([[7.0], [9.0]], [1, 0]), tf.constant([5, 6]))
    total, flat = (
        backprop.aggregate_indexed_slices_gradients([one, None, one]),
        backprop.flatten_nested_indexed_slices(nested),
    )
    with tf.Session() as session:
        assert session.run(total.indices).tolist() == [0, 1, 0, 1] and session.run(total.values)[2].tolist() == [2.0, 3.0]
        summed = session.run(backprop.aggregate_indexed_slices_gradients([dense, one]))
        assert summed.tolist() == [[2.0, 3.0], [4.0, 6.0]]
        assert session.run(flat.indices).tolist() == [6, 5]
        wide = tf.IndexedSlices(one.values, tf.constant([2, 3], tf.int64))
        assert session.run(backprop.aggregate_indexed_slices_gradients([one, wide]).indices).tolist() == [0, 1, 2, 3]
    assert backprop.aggregate_indexed_slices_gradients([None]) is None
    assert backprop.aggregate_indexed_slices_gradients([one]) is one


def test_what_mixed_precision_is_made_of():
    policies = stand_for("tensorflow.python.keras.mixed_precision.experimental.policy")
    made = policies.with_input_dtype(policies.Policy("infer_with_float32_vars"), "float16")
    assert (made.compute_dtype, made.variable_dtype) == ("float16", "float32")
    with pytest.raises(AssertionError, match="'float16' does not infer"):
        policies.with_input_dtype(policies.Policy("float16"), "float32")
    scales = stand_for("tensorflow.python.training.experimental.loss_scale")
    assert scales.get(None) is None and type(scales.get(2)).__name__ == "FixedLossScale"
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: x"):
        scales.get("x")
    filtered = stand_for("tensorflow.python.keras.utils.metrics_utils")._filter_top_k(tf.constant([[0.5, 0.1, 0.75]]), 2)
    with tf.Session() as session:
        assert session.run(filtered).tolist() == [[0.5, -1e10, 0.75]]
        assert [bool(session.run(scales._is_all_finite([tf.constant(v), None]))) for v in (1.0, np.nan)] == [True, False]


def test_sparse_tensors_in_maps():
    ops = stand_for("tensorflow.python.ops.sparse_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.SparseTensor([[0, 1], [2, 0]], [5, 7], [3, 2])
        numbers = ops._add_many_sparse_to_tensors_map(rows, shared_name="map")
        back = ops._take_many_sparse_from_tensors_map(numbers.op, numbers, rank=2)
        np.testing.assert_array_equal(session.run(back).indices, [[0, 1], [2, 0]])
        alone = ops._add_sparse_to_tensors_map(rows)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 10"):
            session.run(ops._take_many_sparse_from_tensors_map(alone.op, [session.run(alone) + 10]))
        with pytest.raises(TypeError, match="must be one of AddSparse"):
            ops._take_many_sparse_from_tensors_map(tf.no_op(), [1])


def test_a_tensor_as_slices_that_are_all_of_its_rows():
    math_ops = stand_for("tensorflow.python.ops.math_ops")
    x = tf.constant([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]])
    slices = math_ops._as_indexed_slices(x)
    assert slices.values is x and math_ops._as_indexed_slices(slices) is slices
    with tf.Session() as session:
        indices, shape, doubled = session.run([slices.indices, slices.dense_shape, tf.convert_to_tensor(slices) * 2.0])
    assert indices.tolist() == [0, 1] and shape.tolist() == [2, 3] and doubled[1].tolist() == [14, 22, 26]
    with pytest.raises(TypeError, match="Not a Tensor or IndexedSlices: <class 'float'>"):
        math_ops._as_indexed_slices(3.0)

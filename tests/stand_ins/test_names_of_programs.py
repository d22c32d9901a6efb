"""Modules that programs import at their top: names of layers, and the debugger."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def test_layers_have_their_other_names():
    pooling, convolutional = (stand_for(f"tensorflow.python.layers.{name}") for name in ("pooling", "convolutional"))
    assert pooling.MaxPool2D is tf.layers.MaxPooling2D and pooling.avg_pool3d is tf.layers.average_pooling3d
    assert convolutional.convolution2d is tf.layers.conv2d and convolutional.Deconv3D is tf.layers.Conv3DTranspose


def test_the_debugger_is_there_but_for_what_needs_a_server():
    debug, wrappers = (stand_for(f"tensorflow.python.{name}") for name in ("debug", "debug.wrappers.hooks"))
    assert wrappers.DumpingDebugHook is debug.DumpingDebugHook and callable(debug.watch_graph)
    with pytest.raises(NotImplementedError, match=r"GrpcDebugHook: values are dumped to files only\. .*DumpingDebugHook do"):
        debug.GrpcDebugHook("localhost:7000")


@pytest.mark.parametrize("kind", [tf.Module, tf.keras.layers.Layer, tf.train.Checkpoint])
def test_what_is_assigned_without_dependency_is_no_part(kind):
    no_dependency = stand_for("tensorflow.python.training.tracking.data_structures").NoDependency
    owner, variable = kind(), tf.Variable(1.0, use_resource=True)
    owner.many, owner.settings = no_dependency([variable]), no_dependency({"a": 1})
    assert owner.many == [variable] and owner.settings == {"a": 1}
    assert "many" not in dict(owner._checkpoint_children())
    owner.many = [variable]
    assert "many" in dict(owner._checkpoint_children())


@pytest.mark.parametrize("kind", [tf.Module, tf.keras.layers.Layer, tf.train.Checkpoint])
def test_what_is_assigned_without_tracking_is_no_part(kind):
    base = stand_for("tensorflow.python.training.tracking.base")
    owner, variable, layer = kind(), tf.Variable(1.0, use_resource=True), tf.keras.layers.Dense(1)
    with base.no_automatic_dependency_tracking_scope(owner):
        owner.one, owner.layer = variable, layer
    assert owner.one is variable and owner.layer is layer and not {"one", "layer"} & set(dict(owner._checkpoint_children()))
    assert getattr(owner, "weights", []) == [] and getattr(owner, "_inner_layers", []) == []
    owner.one = tf.Variable(2.0, use_resource=True)
    assert "one" in dict(owner._checkpoint_children()) and "layer" not in dict(owner._checkpoint_children())


def test_methods_without_tracking_assign_no_parts():
    base = stand_for("tensorflow.python.training.tracking.base")

    class Owner(tf.Module):
        @base.no_automatic_dependency_tracking
        def keep(self, value):
            self.kept = value

    owner = Owner()
    owner.keep(tf.Variable(1.0))
    assert "kept" not in dict(owner._checkpoint_children())


def test_metrics_of_programs_have_cells_by_label():
    monitoring = stand_for("tensorflow.python.eager.monitoring")
    gauge = monitoring.BoolGauge("/a", "what", "who")
    gauge.get_cell("x").set(True)
    assert gauge.get_cell("x").value() is True and gauge.get_cell("y").value() is False
    counter = monitoring.Counter("/b", "what").get_cell()
    counter.increase_by(3)
    counter.increase_by(-1)
    assert counter.value() == 3
    sampler = monitoring.Sampler("/c", monitoring.ExponentialBuckets(1.0, 2.0, 2), "what").get_cell()
    for value in (0.5, 1.5, 1.0, 9.0):
        sampler.add(value)
    found = sampler.value()
    assert (list(found.bucket), found.bucket_limit[:2], found.num, found.sum) == ([1, 2, 1], [1.0, 2.0], 4, 12.0)
    assert found.sum_squares == 0.25 + 2.25 + 1 + 81
    with pytest.raises(ValueError, match="The BoolGauge expects taking 1 labels"):
        gauge.get_cell()
    with pytest.raises(ValueError, match="Cannot create IntGauge metric with label >= 3"):
        monitoring.IntGauge("/d", "what", "a", "b", "c")
    with pytest.raises(TypeError, match="holds a str"):
        monitoring.StringGauge("/e", "what").get_cell().set(1)


def test_structures_are_messages_and_back():
    module = stand_for("tensorflow.python.saved_model.nested_structure_coder")
    coder = module.StructureCoder()
    nested = {"a": [tf.TensorSpec([2, None], tf.int32, "n"), (1, 2.5)], "b": "text"}
    assert coder.can_encode(nested) and coder.decode_proto(coder.encode_structure(nested)) == nested
    assert not coder.can_encode(object())
    with pytest.raises(module.NotEncodableError, match="No encoder for object"):
        coder.encode_structure(object())


def test_functions_of_recurrent_loops():
    rnn, cells = (stand_for(f"tensorflow.python.ops.{name}") for name in ("rnn", "rnn_cell_impl"))
    assert cells._concat(3, [4, 5], static=True) == [3, 4, 5] and cells._concat(tf.TensorShape([None]), 4, True) == [None, 4]
    assert cells._concat(tf.constant(3), 4).shape == [2]
    time_major = tf.placeholder(tf.float32, [None, 3, 5])
    assert rnn._transpose_batch_time(time_major).shape.as_list() == [3, None, 5]
    assert rnn._best_effort_input_batch_size([time_major]) == 3
    assert rnn._infer_state_dtype(None, (time_major,)) is tf.float32
    assert rnn._maybe_tensor_shape_from_tensor(tf.constant([2, 3])) == tf.TensorShape([2, 3])


def test_the_network_of_the_first_tutorials():
    mnist = stand_for("tensorflow.examples.tutorials.mnist.mnist")
    images, labels = np.random.RandomState(0).rand(5, mnist.IMAGE_PIXELS), [1, 2, 3, 4, 5]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        logits = mnist.inference(tf.constant(images, tf.float32), 7, 3)
        loss, correct = mnist.loss(logits, labels), mnist.evaluation(logits, labels)
        train = mnist.training(loss, 0.01)
        assert [v.op.name for v in tf.trainable_variables()][:2] == ["hidden1/weights", "hidden1/biases"]
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(5):
            session.run(train)
        assert session.run(loss) < before and 0 <= session.run(correct) <= 5


def test_names_of_estimators_callbacks_and_logs():
    assert stand_for("tensorflow.python.estimator.util").fn_args(lambda a, b: a) == ("a", "b")
    assert stand_for("tensorflow.python.estimator.model_fn").EstimatorSpec is tf.estimator.EstimatorSpec
    assert stand_for("tensorflow.python.keras.callbacks").CallbackList([]).callbacks == []
    assert stand_for("tensorflow.python.platform.tf_logging").get_logger().name == "tensorflow"


def test_everything_of_a_module_can_be_imported_at_once():
    cells = stand_for("tensorflow.python.ops.rnn_cell")
    assert "LSTMCell" in cells.__all__ and all(hasattr(cells, name) for name in cells.__all__)


def test_optimizers_are_derived_from_the_private_name():
    assert stand_for("tensorflow.python.keras.optimizer_v2.optimizer_v2").OptimizerV2 is tf.keras.optimizers.Optimizer


def test_attention_has_what_programs_mechanisms_are_made_with():
    module, seq2seq = stand_for("tensorflow.contrib.seq2seq.python.ops.attention_wrapper"), tf.contrib.seq2seq
    assert issubclass(seq2seq.LuongAttention, module._BaseAttentionMechanism)
    assert issubclass(seq2seq.LuongMonotonicAttention, module._BaseMonotonicAttentionMechanism)
    assert module.AttentionWrapperState is seq2seq.AttentionWrapperState
    with tf.Graph().as_default(), tf.Session() as session:
        memory, query = tf.reshape(tf.range(12.0), [2, 3, 2]), tf.ones([2, 2])
        mask = [[True, False, True]] * 2
        zeroed = module._prepare_memory(memory, memory_mask=mask)
        scores = module._maybe_mask_score(module._luong_score(query, zeroed, 2.0), memory_mask=mask, score_mask_value=-1.0)
        by_tanh = module._bahdanau_score(query, zeroed, tf.constant([3.0, 4.0]), 5.0, -query[0])
        assert session.run(scores).tolist() == [[2, -1, 18], [26, -1, 42]]
        wanted = (np.tanh(session.run(zeroed)) * [3, 4]).sum(-1)
        np.testing.assert_allclose(session.run(by_tanh), wanted, rtol=1e-5)


def test_hooks_derived_from_the_one_that_ends_trainings():
    stopping = stand_for("tensorflow.contrib.estimator.python.estimator.early_stopping")
    assert stopping._CheckForStoppingHook is stand_for("tensorflow.python.estimator.early_stopping")._CheckForStoppingHook

    class AtThree(stopping._StopOnPredicateHook):
        def __init__(self):
            super().__init__(self.asked, run_every_secs=None, run_every_steps=1)
            self.times = 0

        def asked(self):
            self.times += 1
            return self.times == 3

    hook, step = AtThree(), tf.assign_add(tf.train.create_global_step(), 1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(step)
    assert hook.times == 3
    with pytest.raises(TypeError, match=r"must be callable\. Given: 3"):
        stopping._StopOnPredicateHook(3)


def test_estimators_of_programs_take_inputs_apart():
    util, lib = (stand_for(f"tensorflow_estimator.python.estimator.{name}") for name in ("util", "estimator"))
    assert lib.EstimatorV2 is tf.compat.v2.estimator.Estimator
    with tf.Graph().as_default():
        features, labels, hooks = util.parse_input_fn_result(tf.data.Dataset.from_tensors(({"x": [2.0, 3.0]}, [5])))
        with tf.train.SingularMonitoredSession(hooks=hooks) as session:
            values = session.run((features, labels))
    assert values[0]["x"].tolist() == [2.0, 3.0] and values[1].tolist() == [5]
    assert util.parse_input_fn_result(({"x": 2}, 3)) == ({"x": 2}, 3, [])
    assert util.parse_iterator_result({"x": 2}) == ({"x": 2}, None)
    with pytest.raises(ValueError, match="len 2 tuple"):
        util.parse_input_fn_result((1, 2, 3))


def test_estimators_of_programs_make_the_step_of_their_graphs(tmp_path):
    estimator = tf.estimator.Estimator(lambda features: None, model_dir=str(tmp_path))
    with tf.Graph().as_default() as graph:
        step = estimator._create_and_assert_global_step(graph)
        assert step is tf.train.get_global_step() and step.dtype.base_dtype == tf.int64


def test_cells_that_are_never_initialised_take_other_variables():
    class Cell(tf.nn.rnn_cell.RNNCell):
        def __init__(self):
            self.weights_of_gates = None

    cell = Cell()
    cell.weights_of_gates = tf.Variable(1.0)
    cell.weights_of_gates = other = tf.Variable(2.0)
    assert cell.weights_of_gates is other


@pytest.mark.parametrize("above", ["python.keras.api._v1.keras", "python.keras.api.keras", "contrib.keras.api.keras"])
def test_keras_is_also_found_where_tensorflow_publishes_it(above):
    assert stand_for(f"tensorflow.{above}").Sequential is tf.keras.Sequential
    assert stand_for(f"tensorflow.{above}").layers.LSTM is tf.keras.layers.LSTM
    assert stand_for(f"tensorflow.{above}.datasets.mnist").load_data is tf.keras.datasets.mnist.load_data
    assert stand_for(f"tensorflow.{above.rpartition('.')[0]}") is not None


def test_keras_of_version_2_has_its_own_recurrent_layers():
    layers = stand_for("tensorflow.python.keras.api._v2.keras.layers")
    assert layers.LSTM is tf.compat.v2.keras.layers.LSTM and layers.LSTM is not tf.keras.layers.LSTM


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("graph_editor.edit", "detach"),
        ("graph_editor.reroute", "swap_ios"),
        ("graph_editor.select", "get_forward_walk_ops"),
        ("graph_editor.subgraph", "SubGraphView"),
        ("graph_editor.transform", "graph_replace"),
        ("graph_editor.util", "get_generating_ops"),
        ("lookup.lookup_ops", "index_table_from_tensor"),
        ("predictor.predictor", "Predictor"),
        ("predictor.predictor_factories", "from_saved_model"),
        ("tensorboard.plugins.projector.projector_config_pb2", "ProjectorConfig"),
    ],
)
def test_parts_of_contributed_libraries_are_found_in_their_modules(module, name):
    library = stand_for(f"tensorflow.contrib.{module}")
    public = tf.contrib.tensorboard.plugins.projector if "projector" in module else getattr(tf.contrib, module.split(".")[0])
    assert getattr(library, name) is getattr(public, name)

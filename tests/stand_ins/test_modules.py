"""The modules that TensorFlow's own tests import from."""

import functools
import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import tfexp as tf
from tfexp.core.op import all_ops, find_op
from tfexp.stand_ins.modules import generated_name, stand_for
from tfexp.stand_ins.places import CONTRIB, MESSAGES, OTHERS, PYTHON, SHOWN

ROWS = {**PYTHON, **OTHERS, **MESSAGES}
OURS = sorted(
    {place.partition(":")[0] for places in ROWS.values() for place in places.split() if place.startswith("tfexp.")}
)


@pytest.mark.parametrize("name", OURS)
def test_every_module_of_ours_that_the_table_names_is_there(name):
    assert importlib.import_module(name)


def test_every_attribute_that_the_table_names_is_there():
    lacking = []
    for module, places in {**ROWS, **CONTRIB}.items():
        for place, _, attribute in (row.partition(":") for row in places.split() if ":" in row):
            owner = importlib.import_module(place) if place.partition(".")[0] != "tf" else _public(place)
            if not hasattr(owner, attribute.partition("=")[2]):
                lacking.append(f"{module}: {place}:{attribute}")
    assert lacking == []


def _public(name):
    return functools.reduce(getattr, name.split(".")[1:], tf)


@pytest.mark.usefixtures("installed")
def test_packages_that_show_a_module_in_their_place():
    # What is imported before and after does not matter.
    importlib.import_module("tensorflow.python.saved_model.loader")
    from tensorflow.python import compat, ops, saved_model, summary
    from tensorflow.python.compat import compat as forward
    from tensorflow.python.saved_model import simple_save

    assert saved_model.simple_save is tf.saved_model.simple_save is simple_save.simple_save
    assert ops.convert_to_tensor is tf.convert_to_tensor and summary.scalar is tf.summary.scalar
    assert compat.as_bytes is tf.compat.as_bytes and forward.forward_compatible is tf.compat.forward_compatible
    python = sys.modules["tensorflow.python"]
    assert {name: getattr(python, name) for name in SHOWN} == {
        name: stand_for(f"tensorflow.python.{shown}") for name, shown in SHOWN.items()
    }


@pytest.mark.parametrize(
    ("module", "names"),
    {
        "data": "Dataset Iterator TFRecordDataset experimental",
        "data.experimental": "shuffle_and_repeat",
        "autograph": "to_graph do_not_convert",
        "feature_column.feature_column_lib": "numeric_column NumericColumn DenseFeatures SequenceFeatures LinearModel "
        "serialize_feature_columns FeatureTransformationCache",
        "feature_column.feature_column_v2": "_StateManagerImpl _StateManagerImplV2",
        "keras.optimizer_v2.optimizer_v2": "OptimizerV2 learning_rate_schedule",
        "util.tf_inspect": "_inspect getfullargspec",
        "framework.ops": "Graph Tensor Operation GraphKeys name_scope uid convert_to_tensor internal_convert_to_tensor "
        "get_gradient_function RegisterGradient strip_name_scope prepend_name_scope get_all_collection_keys",
        "framework.dtypes": "float32 DType as_dtype",
        "lib.io.file_io": "FileIO file_exists get_matching_files recursive_create_dir copy stat",
        "ops.init_ops": "Constant Zeros TruncatedNormal zeros_initializer glorot_uniform_initializer",
        "framework.errors": "InvalidArgumentError OpError",
        "framework.tensor_util": "make_tensor_proto MakeNdarray constant_value constant_value_as_shape",
        "framework.tensor_shape": "TensorShape Dimension as_shape unknown_shape",
        "framework.test_util": "TensorFlowTestCase run_deprecated_v1 run_in_graph_and_eager_modes create_local_cluster",
        "ops.array_ops": "concat placeholder where expand_dims space_to_batch_nd",
        "ops.control_flow_ops": "cond while_loop group with_dependencies switch merge exit enter WhileContext",
        "ops.gen_math_ops": "mat_mul add_v2 _sum select",
        "ops.gen_nn_ops": "conv2d max_pool3d_grad l2_loss lrn fused_batch_norm_v3",
        "kernel_tests.signal.test_util": "grappler_optimize",
        "ops.check_ops": "assert_shapes assert_equal ensure_shape",
        "ops.ctc_ops": "ctc_loss ctc_loss_dense dense_labels_to_sparse",
        "ops.data_flow_ops": "Barrier FIFOQueue GPUCompatibleFIFOQueue ConditionalAccumulator",
        "ops.gen_data_flow_ops": "fifo_queue_v2 dynamic_stitch",
        "ops.inplace_ops": "inplace_update alias_inplace_add empty_like",
        "ops.linalg.linear_operator_util": "matrix_solve_with_broadcast is_aat_form",
        "ops.list_ops": "tensor_list_from_tensor tensor_list_push_back",
        "ops.logging_ops": "print_v2 Print",
        "ops.nn_ops": "fractional_avg_pool_v2 conv2d",
        "ops.state_ops": "assign batch_scatter_update variable_op_v2",
        "util.compat": "as_bytes collections_abc",
        "ops.math_ops": "matmul reduce_sum xlogy reduce_std",
        "ops.variables": "_all_saveable_objects Variable VariableV1 RefVariable PartitionedVariable",
        "ops.rnn_cell_impl": "BasicLSTMCell LSTMStateTuple",
        "platform.googletest": "TestCase main GetTempDir",
        "platform.test": "TestCase main mock Benchmark compute_gradient_error is_gpu_available",
        "pywrap_tensorflow": "NewCheckpointReader",
        "training.adam": "AdamOptimizer",
        "training.saver": "Saver latest_checkpoint export_meta_graph",
        "training.server_lib": "Server ClusterSpec",
    }.items(),
)
def test_names_where_tensorflow_has_them(module, names):
    found = stand_for(f"tensorflow.python.{module}")
    assert [name for name in names.split() if not hasattr(found, name)] == []
    assert {name for name in names.split() if not name.startswith("_")} <= set(dir(found))


def test_they_are_the_public_ones():
    assert stand_for("tensorflow.python.framework.dtypes").float32_ref is tf.Variable(1.0).dtype
    assert stand_for("tensorflow.python.ops.math_ops").matmul is tf.matmul
    assert stand_for("tensorflow.python.ops.variables").Variable is tf.compat.v2.Variable
    assert stand_for("tensorflow.python.ops.variables").VariableV1 is tf.Variable
    assert stand_for("tensorflow.python.framework.errors").OpError is tf.errors.OpError
    assert stand_for("tensorflow.core.framework.graph_pb2").GraphDef is tf.GraphDef
    assert stand_for("tensorflow.core.example.example_pb2").Example is tf.train.Example
    assert stand_for("tensorflow.core.protobuf.config_pb2").ConfigProto is tf.ConfigProto


@pytest.mark.parametrize(
    ("module", "names"),
    {
        "example.example_parser_configuration_pb2": "ExampleParserConfiguration FixedLenFeatureProto",
        "framework.device_attributes_pb2": "InterconnectLink LocalLinks",
        "framework.kernel_def_pb2": "KernelDef KernelList",
        "framework.reader_base_pb2": "ReaderBaseState",
        "framework.tensor_slice_pb2": "TensorSliceProto",
        "grappler.costs.op_performance_data_pb2": "OpInfo OpPerformance OpPerformanceList",
        "kernels.boosted_trees.boosted_trees_pb2": "TreeEnsemble",
        "profiler.tfprof_options_pb2": "OptionsProto AdvisorOptionsProto",
        "profiler.tfprof_output_pb2": "GraphNodeProto TFProfTensorProto",
        "protobuf.config_pb2": "RPCOptions",
        "protobuf.device_properties_pb2": "DeviceProperties NamedDevice",
        "protobuf.named_tensor_pb2": "NamedTensorProto",
        "protobuf.tpu.topology_pb2": "TopologyProto",
        "util.saved_tensor_slice_pb2": "SavedSliceMeta SavedTensorSliceMeta SavedSlice",
        "util.test_log_pb2": "BenchmarkEntries TestResults",
    }.items(),
)
def test_messages_where_tensorflow_has_them(module, names):
    messages = stand_for(f"tensorflow.core.{module}")
    for name in names.split():
        assert getattr(messages, name)().SerializeToString() == b""


def test_codes_of_errors_are_an_enum():
    codes = stand_for("tensorflow.core.lib.core.error_codes_pb2")
    assert codes.Code.Name(codes.NOT_FOUND) == "NOT_FOUND" and codes.Code.Value("DATA_LOSS") == 15


def test_generated_functions_take_positions():
    gen_math_ops = stand_for("tensorflow.python.ops.gen_math_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        product = gen_math_ops.mat_mul([[1.0, 2.0]], [[3.0, 4.0]], False, True, "product")
        assert gen_math_ops.MatMul(a=product, b=product).op.type == "MatMul"
        with pytest.raises(TypeError, match="MatMul only takes keyword args"):
            gen_math_ops.MatMul(product, product)
        assert product.name == "product:0" and session.run(product) == [[11.0]]


def test_generated_names_are_those_of_tensorflow():
    names = {"MatMul": "mat_mul", "Conv2DBackpropInput": "conv2d_backprop_input", "FIFOQueueV2": "fifo_queue_v2"}
    names |= {"L2Loss": "l2_loss", "LRN": "lrn", "IRFFT2D": "irfft2d", "TFRecordReaderV2": "tf_record_reader_v2"}
    names |= {"NonMaxSuppressionV4": "non_max_suppression_v4", "AvgPool3DGrad": "avg_pool3d_grad"}
    assert {op: generated_name(op) for op in names} == names
    assert len({generated_name(op) for op in all_ops()}) == len(all_ops())
    assert stand_for("tensorflow.python.ops.gen_array_ops").rank is find_op("Rank")


SCRIPT = """
import json
import tensorflow as tf
from tensorflow.python.client import device_lib, timeline
from tensorflow.python.framework import ops, test_util
from tensorflow.python.ops import gen_math_ops, math_ops
from tensorflow.python.platform import test
from tensorflow.core.framework import graph_pb2, step_stats_pb2
from tensorflow_estimator import estimator
from tensorflow_estimator.python.estimator import estimator as estimator_lib

assert estimator is tf.estimator and estimator_lib.Estimator is estimator.Estimator

assert ops.Graph is tf.Graph and tf.python.ops.math_ops.add is tf.add
from tensorflow.python.keras import layers
from tensorflow.python.keras.layers import core, recurrent
from tensorflow.python.keras.utils import generic_utils
assert core.Dense is tf.keras.layers.Dense and layers.Dense is core.Dense
found = []
for line in ("from tensorflow.python.ops import nonsense", "from tensorflow.python.ops.math_ops import nonsense",
             "import tensorflow.python.nonsense", "from tensorflow.core.framework import nonsense_pb2"):
    try:
        exec(line)
    except ImportError as error:
        found.append(str(error))
print(json.dumps([found, device_lib.list_local_devices()[0].device_type]))
"""


def test_importing_and_what_is_lacking(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    command = [sys.executable, "-m", "tfexp.script", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    errors, device = json.loads(done.stdout)
    names = ["python.ops.nonsense", "python.ops.math_ops.nonsense", "python.nonsense", "core.framework.nonsense_pb2"]
    for name, error in zip(names, errors, strict=True):
        assert error.startswith(f"No module named 'tensorflow.{name}': tfexp, which stands in for TensorFlow here"), error
    assert device == "CPU"


def test_what_is_no_module_is_looked_up_as_an_attribute(tmp_path):
    """Programs name classes in their configurations, and look them up so."""
    names = ["train.AdamOptimizer", "nn.rnn_cell.LSTMCell", "python.ops.math_ops.add", "train.NoSuchOptimizer"]
    (tmp_path / "script.py").write_text(f"import pydoc\nprint([pydoc.locate('tensorflow.' + n) for n in {names}])")
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    command = [sys.executable, "-m", "tfexp.script", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "AdamOptimizer'>" in done.stdout and "LSTMCell'>" in done.stdout and "function add" in done.stdout, done.stderr
    assert done.stdout.endswith(", None]\n")


def test_collections_of_a_program_have_messages():
    """`ops.register_proto_function`: a collection of the program's own objects travels in the MetaGraph."""

    def to_proto(item, export_scope=None):
        return tf.train.Int64List(value=[item["size"]])

    def from_proto(message, import_scope=None):
        return {"size": message.value[0], "scope": import_scope}

    ops = stand_for("tensorflow.python.framework.ops")
    ops.register_proto_function("own", proto_type=tf.train.Int64List, to_proto=to_proto, from_proto=from_proto)
    with tf.Graph().as_default():
        tf.add_to_collection("own", {"size": 7})
        tf.constant(1)
        written = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(written, import_scope="a")
        assert tf.get_collection("own") == [{"size": 7, "scope": "a"}]
    with pytest.raises(TypeError, match="must be callable"):
        ops.register_proto_function("own", from_proto=3)


def test_names_of_contrib_that_are_elsewhere():
    audio_ops = stand_for("tensorflow.contrib.framework.python.ops.audio_ops")
    assert audio_ops.decode_wav is tf.audio.decode_wav
    assert audio_ops.mfcc([[[1.0, 1.0]]], 16000).shape == [1, 1, 13]


def test_modules_have_their_siblings():
    rnn = stand_for("tensorflow.python.ops.rnn")
    assert not hasattr(stand_for("tensorflow.contrib.framework.python"), "ops")  # a package, with an `ops` of its own
    assert rnn.rnn_cell_impl.GRUCell is tf.nn.rnn_cell.GRUCell and rnn.math_ops.matmul is tf.matmul


def test_feature_columns_by_their_classes():
    columns, dense_features, serialization = (
        stand_for(f"tensorflow.python.feature_column.{name}")
        for name in ("feature_column_v2", "dense_features", "serialization")
    )
    column = columns.numeric_column("x")
    assert isinstance(column, columns.NumericColumn) and dense_features.DenseFeatures is tf.keras.layers.DenseFeatures
    assert serialization.serialize_feature_column(column)["class_name"] == "NumericColumn"
    assert columns.make_parse_example_spec_v2([column]).keys() == {"x"}


def test_feature_columns_read_a_cache():
    columns = stand_for("tensorflow.python.feature_column.feature_column_v2")
    with tf.Graph().as_default(), tf.Session() as session:
        number, letters = tf.feature_column.numeric_column("x"), tf.feature_column.categorical_column_with_identity("i", 4)
        cache = columns.FeatureTransformationCache({"x": [[1.5]], "i": tf.SparseTensor([[0, 1]], [3], [1, 2])})
        assert cache.get(number, None) is cache.get(number, None, training=True)
        ids = letters.get_sparse_tensors(cache, None)
        assert session.run([number.get_dense_tensor(cache, None), ids.id_tensor.values]) == [[[1.5]], [3]]
        assert ids.weight_tensor is None and number.parse_example_spec.keys() == {"x"}
        made = columns._transform_features_v2({"x": [[2.5]]}, [number], None)
        assert session.run(made[number]) == [[2.5]]


def test_estimators_are_a_package_of_their_own():
    modules = {
        name: stand_for(f"tensorflow_estimator.python.estimator.{name}")
        for name in ("estimator", "canned.metric_keys", "canned.head", "head.head_utils", "canned.optimizers", "model_fn")
    }
    assert modules["estimator"] is stand_for("tensorflow.python.estimator.estimator")
    assert modules["estimator"].Estimator is tf.estimator.Estimator
    assert modules["canned.metric_keys"].MetricKeys.AUC_PR == "auc_precision_recall"
    assert modules["model_fn"].LOSS_METRIC_KEY == "loss" and modules["model_fn"].ModeKeys is tf.estimator.ModeKeys
    head = modules["canned.head"]._binary_logistic_head_with_sigmoid_cross_entropy_loss(thresholds=[0.5])
    assert head.logits_dimension == 1 and head.loss_reduction == tf.losses.Reduction.SUM
    several = modules["canned.head"]._binary_logistic_or_multi_class_head(3, None, None, tf.losses.Reduction.SUM)
    assert (
        several.logits_dimension
        == modules["head.head_utils"].binary_or_multi_class_head(3, None, None, "sum").logits_dimension
    )
    assert modules["head.head_utils"].binary_or_multi_class_head(2, None, None, "sum").logits_dimension == 1
    head = modules["canned.head"]._regression_head(weight_column="w")
    with tf.Graph().as_default(), tf.Session() as session:
        losses = head.create_loss({"w": [[3.0], [1.0]]}, "eval", tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [5.0]]))
        assert session.run(losses.unreduced_loss).tolist() == [[4.0], [9.0]]
        assert session.run(losses.training_loss) == 3 * 4 + 9
    optimizer = modules["canned.optimizers"].get_optimizer_instance("SGD", learning_rate=0.5)
    assert isinstance(optimizer, tf.train.GradientDescentOptimizer)
    with pytest.raises(ValueError, match="learning_rate must be specified"):
        modules["canned.optimizers"].get_optimizer_instance("SGD")


def test_strategies_and_checkpoints_by_their_classes():
    python = "tensorflow.python"
    assert stand_for(f"{python}.distribute.mirrored_strategy").MirroredStrategyV1 is tf.distribute.MirroredStrategy
    assert stand_for(f"{python}.training.distribute").StrategyV1 is tf.distribute.Strategy
    with tf.Graph().as_default():
        status = tf.train.Checkpoint().restore(None)
    assert isinstance(status, stand_for(f"{python}.training.tracking.util").InitializationOnlyStatus)
    with tf.Graph().as_default(), tf.Session() as session:
        once_each = stand_for(f"{python}.training.optimizer")._deduplicate_indexed_slices
        summed, indices = session.run(once_each(tf.constant([1.0, 2.0, 5.0]), tf.constant([7, 3, 7])))
    assert (summed.tolist(), indices.tolist()) == ([6.0, 2.0], [7, 3])
    assert stand_for(f"{python}.training.training_util").GLOBAL_STEP_READ_KEY == "global_step_read_op_cache"


def test_signatures_of_training_and_of_operations():
    signatures = stand_for("tensorflow.python.saved_model.signature_def_utils_impl")
    constants = stand_for("tensorflow.python.saved_model.signature_constants")
    with tf.Graph().as_default():
        x, loss, op = tf.placeholder(tf.float32, [None], "x"), tf.constant(1.0, name="loss"), tf.no_op("op")
        made = signatures.supervised_train_signature_def({"x": x}, {"loss": loss}, {"p": x})
        assert made.method_name == constants.SUPERVISED_TRAIN_METHOD_NAME
        assert {key: info.name for key, info in made.outputs.items()} == {"loss": "loss:0", "p": "x:0"}
        assert signatures.supervised_eval_signature_def({"x": x}, None).method_name == "tensorflow/supervised/eval"
        with pytest.raises(ValueError, match="inputs cannot be None or empty"):
            signatures.supervised_eval_signature_def({}, {"loss": loss})
        one = signatures.op_signature_def(op, "key")
        assert signatures.load_op_from_signature_def(one, "key") is op
        with pytest.raises(tf.errors.NotFoundError, match="The other could not be found"):
            signatures.load_op_from_signature_def(one, "other")


def test_older_names():
    assert stand_for("tensorflow.python.ops.math_ops").reduce_max_v1 is tf.reduce_max
    assert stand_for("tensorflow.python.ops.losses.loss_reduction").ReductionV2.SUM == "sum"
    with stand_for("tensorflow.python.ops.spectral_ops_test_util").fft_kernel_label_map():
        pass


def test_parts_of_contrib_that_are_namespaces_of_their_own_answer_for_their_modules():
    contrib = tf.contrib
    for name, part in (
        ("slim.python.slim.learning", contrib.slim.learning.train),
        ("slim.python.slim.nets.resnet_v1", contrib.slim.nets.resnet_v1.resnet_v1_50),
        ("learn.python.learn.monitors", contrib.learn.monitors.EveryN),
        ("losses.python.metric_learning.metric_loss_ops", contrib.losses.metric_learning.npairs_loss),
        ("learn.python.learn.datasets.base", contrib.learn.datasets.base.load_csv_with_header),
        ("learn.python.learn.estimators.head", contrib.learn.multi_class_head),
        ("learn.python.learn.estimators.model_fn", contrib.learn.ModelFnOps),
        ("learn.python.learn.estimators.prediction_key", contrib.learn.PredictionKey),
    ):
        assert getattr(stand_for(f"tensorflow.contrib.{name}"), part.__name__) is part
    assert stand_for("tensorflow.contrib.learn.python.learn.estimators.run_config").RunConfig is contrib.learn.RunConfig


def test_modules_are_attributes_of_the_packages_above_them():
    python = stand_for("tensorflow.python")
    assert python.math_ops is stand_for("tensorflow.python.ops.math_ops") and python.Session is tf.Session
    assert python.keras.engine.network is stand_for("tensorflow.python.keras.engine.network")
    assert python.keras.utils.losses_utils.ReductionV2.NONE == "none"
    with pytest.raises(AttributeError, match="no_such_module"):
        python.no_such_module  # noqa: B018


def test_the_dense_features_of_version_2_can_be_told_from_those_of_version_1():
    second = stand_for("tensorflow.python.feature_column.dense_features_v2").DenseFeatures
    assert second is tf.compat.v2.keras.layers.DenseFeatures
    assert issubclass(second, tf.keras.layers.DenseFeatures) and second is not tf.keras.layers.DenseFeatures


def test_a_shape_becomes_a_tensor_by_the_function_of_its_module():
    convert = stand_for("tensorflow.python.framework.constant_op")._tensor_shape_tensor_conversion_function
    with tf.Graph().as_default():
        assert convert(tf.TensorShape([2, 3])).op.name == "shape_as_tensor"

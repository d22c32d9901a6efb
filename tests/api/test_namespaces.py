"""Namespaces that hold more than re-exports, and those that are loaded on first use."""

import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import tfexp as tf
from tfexp.core.gone import names_of


def python(*arguments):
    """What a Python process that can import the library prints, and its exit status."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stdout, done.returncode


def test_flags_take_the_old_argument_names_too():
    flags = tf.app.flags
    assert flags is tf.flags
    flags.DEFINE_integer(flag_name="test_namespaces_steps", default_value=3, docstring="How many steps.")
    flags.DEFINE_string("test_namespaces_folder", "out", "Where to.")
    flags.DEFINE_boolean("test_namespaces_quiet", False, help="Say less.")
    flags.FLAGS(["program", "--test_namespaces_steps=5", "--test_namespaces_quiet"])
    assert flags.FLAGS.test_namespaces_steps == 5
    assert flags.FLAGS.test_namespaces_quiet is True
    assert flags.FLAGS.test_namespaces_folder == "out"
    key_flags = [flag.name for flag in flags.FLAGS.get_key_flags_for_module(sys.modules[__name__])]
    assert {"test_namespaces_steps", "test_namespaces_quiet", "test_namespaces_folder"} <= set(key_flags)


PROGRAM = """
import tfexp as tf

tf.flags.DEFINE_float("rate", 0.5, "Learning rate.")


def main(argv):
    print(tf.flags.FLAGS.rate, argv[1:])
    return 7


if __name__ == "__main__":
    tf.app.run()
"""


def test_app_run_parses_flags_calls_main_and_exits(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert python(program, "--rate=0.25", "--unknown=1", "rest") == ("0.25 ['--unknown=1', 'rest']\n", 7)


def test_importing_loads_neither_absl_nor_unittest():
    check = "import sys, tfexp; print([m for m in ('absl', 'absl.flags', 'unittest') if m in sys.modules])"
    assert python("-c", check) == ("[]\n", 0)


STEP = """
import sys
import tfexp as tf
loss = tf.nn.relu(tf.Variable([1.0, 2.0]))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
unused = (
    "train.saver train.supervisor train.momentum ops.nn_conv ops.nn_pool ops.candidate_sampling distributed.server "
    "plan.dynamic plan.compiled_loops runtime.dumping"
)
print([name for name in unused.split() if f"tfexp.{name}" in sys.modules], "ml_dtypes" in sys.modules)
"""


def test_a_training_step_loads_only_what_it_uses_of_its_namespaces():
    assert python("-c", STEP) == ("[] False\n", 0)


def test_a_model_of_keras_loads_no_other_layers_and_nothing_that_speaks_http():
    check = (
        "import sys, tfexp as tf; tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(5,))]); "
        "print([m for m in ('http.client', 'tfexp.keras.layers.convolutional', 'tfexp.estimator') if m in sys.modules])"
    )
    assert python("-c", check) == ("[]\n", 0)


def test_namespaces_list_names_that_nobody_has_asked_for():
    assert {"dynamic_rnn", "lrn", "relu", "rnn_cell"} <= set(dir(tf.nn))
    assert {"Saver", "experimental", "global_step"} <= set(dir(tf.train))
    assert {"cudnn_rnn", "keras", "layers", "slim"} <= set(dir(tf.contrib))
    assert {"applications", "layers", "preprocessing"} <= set(dir(tf.keras))
    assert {"batch_dot", "softplus"} <= set(dir(tf.keras.backend)) and "to_code" in dir(tf.autograph)
    assert not {"TYPE_CHECKING", "namespace"} & {*dir(tf.train), *dir(tf.nn)}


@pytest.mark.parametrize("package", [tf.data, tf.estimator, tf.layers, tf.metrics, tf.train])
def test_no_module_takes_the_place_of_a_name(package):
    """Importing a module sets its name in the package around it."""
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & {name for name, place in names_of(package.__file__).items() if ":" in place}


def test_compat_v1_is_the_library_itself():
    assert tf.compat.v1.Session is tf.Session
    assert tf.compat.as_str(b"x") == "x"
    assert tf.compat.dimension_value(tf.Dimension(3)) == tf.compat.dimension_value(3) == 3
    assert tf.dimension_at_index(tf.TensorShape([5, None]), 0).value == 5
    assert tf.dimension_at_index(tf.TensorShape(None), 2).value is None


def test_versions_are_those_of_the_api():
    assert tf.VERSION == tf.version.VERSION == "1.15.0"
    assert tf.get_default_graph().graph_def_versions.producer == tf.GRAPH_DEF_VERSION


@pytest.mark.parametrize("name", ["GraphDef", "NodeDef", "AttrValue", "MetaGraphDef", "HistogramProto", "SummaryMetadata"])
def test_messages_at_the_top_level(name):
    message = getattr(tf, name)()
    assert type(message).FromString(message.SerializeToString()) == message


def test_the_first_flag_that_is_asked_for_has_the_command_line_parsed_and_absl_loggings_flags_may_be_ones_own(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import copy\n"
        "import absl.flags\n"
        "import tfexp as tf\n"
        "FLAGS = tf.app.flags.FLAGS\n"
        "tf.app.flags.DEFINE_string('log_dir', 'here', 'Where to.')\n"
        "tf.app.flags.DEFINE_integer('steps', 3, 'How many.')\n"
        "print(FLAGS.is_parsed(), 'steps' in FLAGS, FLAGS.log_dir, FLAGS.steps, FLAGS.is_parsed(), hasattr(FLAGS, 'pace'))\n"
        "FLAGS.steps = 7\n"
        "print(absl.flags.FLAGS.steps, copy.deepcopy(FLAGS).steps)\n"
        "tf.app.run(main=lambda _: print(FLAGS.log_dir))\n"
    )
    assert python(program, "--log_dir=there", "rest") == ("False True there 3 True False\n7 7\nthere\n", 0)


def test_resources_lie_beside_the_file_that_asks(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("one")
    (tmp_path / "asking.py").write_text(
        "import tfexp as tf\n"
        "loader = tf.resource_loader\n"
        "print(loader.get_data_files_path(), loader.get_path_to_datafile('words.txt'), loader.load_resource('words.txt'))\n"
    )
    assert python(tmp_path / "asking.py") == (f"{tmp_path} {tmp_path / 'words.txt'} b'one'\n", 0)


def test_names_for_the_same_function():
    assert tf.tensor_scatter_nd_update is tf.tensor_scatter_update
    assert tf.no_gradient is tf.NoGradient is tf.NotDifferentiable
    assert tf.manip.space_to_batch_nd is tf.space_to_batch_nd
    for name in ("decode_png", "decode_jpeg", "decode_image", "encode_jpeg", "extract_jpeg_shape", "is_jpeg"):
        assert getattr(tf.io, name) is getattr(tf.image, name)
    assert tf.io.decode_base64 is tf.decode_base64


def test_all_names_are_there_for_a_star_import():
    assert {"saved_model", "gather", "train", "Session", "contrib"} <= set(tf.__all__)
    assert not any(name.startswith("_") for name in tf.__all__)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (
            tf.train.string_input_producer,
            "string_tensor num_epochs shuffle seed capacity shared_name name cancel_op",
        ),
        (tf.train.remove_checkpoint, "checkpoint_prefix checkpoint_format_version meta_graph_suffix"),
        (tf.numpy_function, "func inp Tout name"),
        (
            tf.GradientTape.batch_jacobian,
            "self target source unconnected_gradients parallel_iterations experimental_use_pfor",
        ),
    ],
)
def test_arguments_have_their_places(function, arguments):
    assert list(inspect.signature(function).parameters) == arguments.split()


def test_what_compiles_ops_is_refused():
    assert pathlib.Path(tf.sysconfig.get_lib(), "__init__.py") == pathlib.Path(tf.__file__)
    for refused in (tf.sysconfig.get_include, tf.sysconfig.get_compile_flags, tf.sysconfig.get_link_flags):
        with pytest.raises(NotImplementedError, match=r"write them in Python: tf\.py_func"):
            refused()


def test_loaded_modules_of_packages_and_python_are_not_listed():
    importlib.import_module("tfexp.data.csv")
    importlib.import_module("tfexp.train.adam")
    assert "csv" not in dir(tf.data) and "adam" not in dir(tf.train) and {"core", "graph", "ops"}.isdisjoint(dir(tf))
    assert {"inspect", "os", "sys"}.isdisjoint(dir(tf.resource_loader)) and "sys" not in dir(tf.app)

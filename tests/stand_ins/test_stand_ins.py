"""What TensorFlow keeps in private modules: contexts, decorators, signatures, messages, digits, assertions on data sets."""

import functools
import gzip
import struct

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.op import all_ops
from tfexp.stand_ins import callables, context, decorators, exporting, inspecting, layer_arguments, mnist
from tfexp.stand_ins.dataset_tests import DatasetTestBase
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.proto_compare import assertProtoEqual


def test_modes_and_their_blocks():
    assert not context.executing_eagerly() and context.in_graph_mode()
    with context.eager_mode():
        assert context.context().executing_eagerly() and tf.constant(3.0).numpy() == 3.0
        with context.graph_mode():
            assert context.in_graph_mode() and tf.constant(3.0).op.type == "Const"
    with tf.name_scope("a"):
        assert context.context().scope_name == "a"


def test_resource_variables_of_both_modes():
    kind = stand_for("tensorflow.python.ops.resource_variable_ops").ResourceVariable
    assert (
        kind(1.0).handle.op.type == "VarHandleOp" and isinstance(kind(1.0), kind) and not isinstance(tf.Variable(1.0), kind)
    )
    with context.eager_mode():
        variable = kind(3.0)
        ((gradient, of),) = tf.contrib.eager.implicit_gradients(lambda: variable * variable)()
        assert gradient.numpy() == 6.0 and of is variable and isinstance(variable, kind)


def test_decorators_are_unwrapped():
    def target(x, y=3):
        """Text."""
        return x * y

    def wrapper(*args, **kwargs):
        return target(*args, **kwargs) + 1

    made = decorators.make_decorator(target, wrapper)
    assert made(5) == 16 and made.__name__ == "target" and made.__doc__ == "Text."
    found, inside = decorators.unwrap(made)
    assert inside is target and [d.decorator_name for d in found] == ["test_decorators_are_unwrapped"]
    assert inspecting.getargspec(made) == (["x", "y"], None, None, (3,))
    assert inspecting.getcallargs(made, 5) == {"x": 5, "y": 3}
    assert callables.fn_args(made) == ("x", "y") and not callables.has_kwargs(made)
    assert inspecting.getargspec(lambda a, *, b=2: a) == (["a"], None, None, None)
    exported = exporting.tf_export("a.name", v1=["another"])(target)
    assert exported is target


def test_the_innermost_wrapper_is_given_another_target():
    def decorate(target):
        def wrapper(x):
            return wrapper.__wrapped__(x) + 1

        return decorators.make_decorator(target, wrapper)

    inner = decorate(abs)
    outer = decorate(inner)
    assert decorators.rewrap(outer, abs, int) is outer and outer(-3) == -1 and decorators.unwrap(inner)[1] is int
    assert decorators.rewrap(abs, abs, int) is int

    class Valued:
        value = decorate(lambda self: 1)

    one = Valued()
    decorators.rewrap(one.value, decorators.unwrap(one.value)[1], lambda self: 5)
    assert one.value() == 6


def test_arguments_of_callables():
    class Called:
        def __call__(self, a, b, **rest):
            return a, b, rest

    assert callables.fn_args(Called()) == ("a", "b") and callables.has_kwargs(Called())
    assert callables.fn_args(functools.partial(lambda a, b, c: a, 1, c=2)) == ("b",)
    assert callables.get_func_name(mnist.load_mnist) == "load_mnist"
    assert callables.get_func_name(functools.partial(mnist.load_mnist)) == "<class 'functools.partial'>"
    assert callables.get_func_name(Called().__call__) == "Called.__call__"
    with pytest.raises(ValueError, match="callable"):
        callables.get_func_code(7)
    names = {}
    lazy = callables.LazyLoader("late", names, "colorsys")
    assert lazy.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0) and names["late"].__name__ == "colorsys"


def test_what_layers_make_of_their_arguments():
    assert layer_arguments.convert_data_format("channels_first", 5) == "NCDHW"
    assert layer_arguments.conv_output_length(11, 3, "valid", 2) == 5
    assert layer_arguments.deconv_output_length(5, 3, "valid", 2) == 11
    assert layer_arguments.constant_value(True) is True and layer_arguments.constant_value(tf.Variable(True)) is None
    assert layer_arguments.constant_value(tf.placeholder(tf.bool)) is None
    with pytest.raises(TypeError, match="Python bool"):
        layer_arguments.constant_value(5)


def test_conditions_that_are_known():
    smart_cond = tf.contrib.framework.smart_cond
    assert smart_cond(tf.constant(False), lambda: 2, lambda: 3) == 3 and smart_cond(1, lambda: 2, lambda: 3) == 2
    assert smart_cond(tf.placeholder(tf.bool), lambda: 2, lambda: 3).op.type == "Merge"
    smart_case = tf.contrib.framework.smart_case
    assert smart_case([(False, lambda: 2), (tf.constant(True), lambda: 3)], default=lambda: 5) == 3
    assert smart_case([(False, lambda: 2)], default=lambda: 5) == 5
    x, three = tf.placeholder(tf.int32, []), tf.constant(3)
    assert smart_cond(three * 5 > tf.size(tf.zeros([2, 7])), lambda: 2, lambda: 3) == 2
    chosen = smart_case([(x > 1, lambda: three), (three < 1, tf.no_op), (False, tf.no_op), (True, lambda: three)], tf.no_op)
    assert chosen.op.type == "Merge"
    with pytest.raises(TypeError, match="must be callable"):
        smart_cond(True, 3, 5)


class Case(DatasetTestBase):
    def runTest(self):
        """unittest wants one."""


def test_assertions_on_messages_and_data_sets():
    case = Case()
    assertProtoEqual(case, "versions { producer: 3 }", tf.GraphDef(versions={"producer": 3}))
    with pytest.raises(AssertionError, match="producer: 5"):
        assertProtoEqual(case, "versions { producer: 3 }", tf.GraphDef(versions={"producer": 5}))
    near = [tf.Summary(value=[{"tag": "a", "simple_value": value}]) for value in (0.25, 0.25 + 1e-9)]
    assertProtoEqual(case, *near, normalize_numbers=True)
    case.setUp()
    data = tf.data.Dataset.range(3).map(lambda x: {"a": x, "b": [x, x]})
    case.assertDatasetProduces(data, [{"a": i, "b": [i, i]} for i in range(3)])
    case.assertDatasetsEqual(data, data.take(5))
    bad = tf.data.Dataset.range(3).map(lambda x: tf.check_numerics(1.0 / tf.cast(x, tf.float32), "bad"))
    case.assertDatasetProduces(bad, expected_error=(tf.errors.InvalidArgumentError, "bad"))
    with pytest.raises(AssertionError):
        case.assertDatasetProduces(data, [{"a": 0, "b": [0, 0]}])
    case.doCleanups()


def idx(path, magic, dims, values):
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(f">{1 + len(dims)}I", magic, *dims) + bytes(values))


def test_digits_from_files(tmp_path):
    rows = np.arange(5 * 28 * 28, dtype=np.uint8)
    for part in ("train", "t10k"):
        idx(tmp_path / f"{part}-images-idx3-ubyte.gz", 2051, (5, 28, 28), rows)
        idx(tmp_path / f"{part}-labels-idx1-ubyte.gz", 2049, (5,), [3, 1, 4, 1, 5])
    digits = mnist.read_data_sets(str(tmp_path), one_hot=True, validation_size=2, seed=7)
    assert [part.num_examples for part in digits] == [3, 2, 5] and digits.train.images.shape == (3, 784)
    assert digits.test.labels.argmax(1).tolist() == [3, 1, 4, 1, 5] and digits.test.images.max() == 1.0
    seen = np.concatenate([digits.train.next_batch(2)[1].argmax(1) for _ in range(3)])
    assert sorted(seen[:3]) == sorted(seen[3:]) == [1, 4, 5] and digits.train.epochs_completed == 1
    assert mnist.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(2)[1][0][0] == 1
    with pytest.raises(ValueError, match="Validation size should be between 0 and 5"):
        mnist.read_data_sets(str(tmp_path))
    with pytest.raises(OSError, match=r"train-images-idx3-ubyte\.gz is not there"):
        mnist.read_data_sets(str(tmp_path / "empty"), source_url="http://127.0.0.1:9/")


def test_ops_of_tensorflows_own_tests():
    test_ops = stand_for("tensorflow.python.framework.test_ops")
    with tf.Graph().as_default() as graph:
        number, real = test_ops.int_output_float_output(name="both")
        assert (number.dtype, real.dtype, real.get_shape().ndims) == (tf.int32, tf.float32, None)
        tf.import_graph_def(tf.GraphDef.FromString(graph.as_graph_def().SerializeToString()), name="again")
        assert graph.get_operation_by_name("again/both").type == "IntOutputFloatOutput"
        with tf.Session() as session:
            session.run(test_ops.int_input(3))
    assert "IntInput" not in all_ops()

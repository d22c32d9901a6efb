"""Private functions of TensorFlow's that libraries of distributions, bijectors and chains are built on."""

import subprocess
import sys

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.engine import dependencies
from tfexp.stand_ins.modules import stand_for

additions = stand_for("tensorflow.python.ops.linalg.linear_operator_addition")
control_flow_ops = stand_for("tensorflow.python.ops.control_flow_ops")
pywrap_tensorflow = stand_for("tensorflow.python.pywrap_tensorflow")
tf_inspect = stand_for("tensorflow.python.util.tf_inspect")
tf_utils = stand_for("tensorflow.python.keras.utils.tf_utils")
type_spec = stand_for("tensorflow.python.framework.type_spec")

L = tf.linalg
IDENTITY, SCALED, DIAGONAL, LOWER, FULL = (
    lambda: L.LinearOperatorIdentity(2),
    lambda: L.LinearOperatorScaledIdentity(2, 3.0),
    lambda: L.LinearOperatorDiag([1.0, 2.0]),
    lambda: L.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]]),
    lambda: L.LinearOperatorFullMatrix([[1.0, 4.0], [2.0, 3.0]]),
)


@pytest.mark.parametrize(
    ("makers", "kind"),
    [
        ([IDENTITY], L.LinearOperatorIdentity),
        ([IDENTITY, IDENTITY], L.LinearOperatorScaledIdentity),
        ([SCALED, IDENTITY], L.LinearOperatorScaledIdentity),
        ([DIAGONAL, IDENTITY], L.LinearOperatorDiag),
        ([LOWER, DIAGONAL, SCALED], L.LinearOperatorLowerTriangular),
        ([IDENTITY, FULL, LOWER], L.LinearOperatorFullMatrix),
    ],
)
def test_sums_of_linear_operators_keep_their_structure(makers, kind):
    operators = [make() for make in makers]
    (total,) = additions.add_operators(operators)
    assert type(total) is kind
    with tf.Session() as session:
        made, *parts = session.run([total.to_dense(), *(operator.to_dense() for operator in operators)])
    np.testing.assert_array_equal(made, sum(parts))


def test_hints_and_names_of_sums():
    (total,) = additions.add_operators([IDENTITY(), IDENTITY()], operator_name="mine")
    assert total.name == "mine" and total.is_positive_definite and total.is_self_adjoint and total.is_non_singular
    (total,) = additions.add_operators([IDENTITY(), FULL()])
    assert total.is_positive_definite is None and total.is_self_adjoint is None


def test_sums_that_cannot_be():
    with pytest.raises(ValueError, match="at least one operator"):
        additions.add_operators([])
    with pytest.raises(ValueError, match=r"same domain dimension. Found: .*3.*2"):
        additions.add_operators([FULL(), L.LinearOperatorFullMatrix(np.ones((2, 3)))])
    with pytest.raises(TypeError, match="Operator type unknown"):
        additions.add_operators([FULL(), L.LinearOperatorZeros(2)])
    with pytest.raises(TypeError, match="must contain only LinearOperator instances"):
        additions.add_operators([FULL(), 3])
    with pytest.raises(ValueError, match="Incompatible shapes"):
        additions.add_operators([L.LinearOperatorDiag(np.ones((rows, 2))) for rows in (3, 5)])


def named(kind, name):
    return kind([1.0, 2.0] if kind is L.LinearOperatorDiag else [[1.0, 0.0], [2.0, 3.0]], name=name)


D, T, M = L.LinearOperatorDiag, L.LinearOperatorLowerTriangular, L.LinearOperatorFullMatrix


@pytest.mark.parametrize(
    ("kinds", "tiers", "names"),
    [
        ([M, T, D], None, ["Add/Add/b__c/__a/"]),
        ([D, T, D], None, ["Add/b__Add/c__a//"]),
        ([D, T, M], [], ["c", "b", "a"]),
        ([M, T, D, D], ["Diag"], ["a", "b", "Add/c__d/"]),
        ([M, T, D, T, D], ["TriL"], ["a", "Add/Add/Add/b__c/__d/__e/"]),
        ([D, T, D], ["Diag", "TriL"], ["Add/b__Add/a__c//"]),
        ([D, T, D], ["TriL", "Diag"], ["Add/Add/a__b/__c/"]),
    ],
)
def test_tiers_of_adders_say_what_is_added_and_in_which_order(kinds, tiers, names):
    operators = [named(kind, name) for kind, name in zip(kinds, "abcde", strict=False)]
    adders = None if tiers is None else [[getattr(additions, f"_AddAndReturn{tier}")()] for tier in tiers]
    assert [total.name for total in additions.add_operators(operators, addition_tiers=adders)] == names
    assert additions._AddAndReturnDiag().name == "AddAndReturnDiag"


def test_an_adder_of_ones_own():
    class Lazy(additions._Adder):
        def can_add(self, op1, op2):
            return True

        def _add(self, op1, op2, operator_name, hints):
            return [op1.name, op2.name, operator_name, hints.is_self_adjoint, hints.is_non_singular]

    adder, hints = Lazy(), additions._Hints(is_non_singular=False)
    assert adder.add(named(D, "a"), named(D, "b"), None) == ["a", "b", "Add/a__b/", True, None]
    assert adder.add(named(D, "a"), named(M, "b"), "mine", hints) == ["a", "b", "mine", None, False]
    assert adder.name == "Lazy"


def test_functions_have_no_annotations_and_ops_have_arguments():
    assert tf_inspect.getfullargspec(tf.cast).annotations == {}
    assert tf_inspect.getfullargspec(tf.maximum).args == ["x", "y", "name"]
    assert tf_inspect.isfunction(tf.exp) and not tf_inspect.isfunction(tf.Graph)
    assert tf_inspect.getfullargspec(tf.equal).args == ["x", "y", "name"]


def test_constants_by_c_handles():
    x = tf.constant(2) * 3
    assert pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(x.graph._c_graph, x._as_tf_output()) == 6
    free = tf.placeholder(tf.int32)
    assert pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(free.graph._c_graph, free._as_tf_output()) is None


def test_a_case_by_conds_of_ones_own():
    asked = []

    def cond(pred, true_fn, false_fn, name):
        asked.append(pred)
        return true_fn() if pred else false_fn()

    branches = [(False, lambda: "a"), (True, lambda: "b"), (True, lambda: "c")]
    found = control_flow_ops._case_helper(cond, branches, lambda: "d", False, "case", allow_python_preds=True)
    assert found == "b" and asked == [False, True]
    with pytest.raises(TypeError, match="pred must be a Tensor, got: True"):
        tf.case([(True, lambda: 1)])
    with pytest.raises(TypeError, match="pred must be a Tensor or bool, got: 1"):
        control_flow_ops._case_helper(cond, [(1, lambda: "a")], None, False, "case", allow_python_preds=True)


def test_classes_that_stand_for_tensors(monkeypatch):
    monkeypatch.setattr(dependencies, "_symbolic_types", [])

    class Coerced:
        pass

    assert not tf_utils.is_symbolic_tensor(Coerced())
    tf_utils.register_symbolic_tensor_type(Coerced)
    assert tf_utils.is_symbolic_tensor(Coerced()) and tf_utils.is_symbolic_tensor(tf.constant(1))


def test_types_of_a_programs_own():
    class Pairs(type_spec.BatchableTypeSpec):
        def _serialize(self):
            return (1, 2)

    assert Pairs() == Pairs() and repr(Pairs()) == "Pairs(1, 2)"
    with pytest.raises(NotImplementedError, match="_batch"):
        Pairs()._batch(2)


def test_modules_below_one_that_was_imported():
    program = "\n".join(
        [
            "from tfexp.as_tensorflow import install; install()",
            "import tensorflow.python.keras.utils, tensorflow.compat.v2 as tf2",
            "from tensorflow.python.keras.utils import generic_utils",
            "from tensorflow.python.autograph.core import naming",
            "import tensorflow.compat.v2.keras.layers as layers",
            "assert layers.Dense and tf2.compat.v1.Session",
            "try: naming.Namer",
            "except AttributeError as error: assert 'lacks it' in str(error)",
        ]
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_convolution_made_before_its_values():
    convolve = stand_for("tensorflow.python.ops.nn_ops").Convolution(
        tf.TensorShape([1, 3, 1]), tf.TensorShape([2, 1, 1]), "SAME", data_format="NWC"
    )
    with tf.Session() as session:
        made = session.run(convolve(tf.reshape([1.0, 2.0, 3.0], [1, 3, 1]), tf.ones([2, 1, 1])))
    assert made.ravel().tolist() == [3.0, 5.0, 3.0]


def test_a_layer_whose_output_stands_for_a_tensor(monkeypatch):
    """What a library's layer of distributions does: it gives an object that is converted to the tensor it carries."""
    monkeypatch.setattr(dependencies, "_symbolic_types", [])

    class Sample:
        def __init__(self, value):
            self.value, self.shape, self.dtype = value, value.shape, value.dtype

        def get_shape(self):
            return self.shape

    class Sampled(tf.keras.layers.Layer):
        def __call__(self, inputs, *args, **kwargs):
            return super().__call__(inputs, *args, **kwargs)[0]

        def call(self, inputs):
            return Sample(inputs * 2.0), inputs * 2.0

    tf.register_tensor_conversion_function(Sample, lambda sample, dtype=None, name=None, as_ref=False: sample.value)
    tf_utils.register_symbolic_tensor_type(Sample)
    inputs = tf.keras.Input([2])
    model = tf.keras.Model(inputs, Sampled()(inputs))
    assert isinstance(model.outputs[0], Sample)
    around = tf.keras.Sequential([tf.keras.layers.InputLayer([2]), model])
    assert around.outputs[0].shape.as_list() == [None, 2]
    around.compile("sgd", loss=lambda truth, sample: tf.reduce_mean(tf.square(sample.value - truth), -1))
    assert around.evaluate(np.ones((3, 2)), np.zeros((3, 2)), verbose=0) == 4.0

"""Functions, classes and methods take the arguments of TensorFlow 1.15, in its order; further ones are optional."""

import inspect
from pathlib import Path

import pytest

import tfexp as tf
from tfexp.core.gone import public_symbols

# Recorded from TensorFlow 1.15: `name(argument, argument with a default=)`, without `self`; of classes what they define
# themselves. Keras, estimators and tf.contrib have tests of their own.
SIGNATURES = (Path(__file__).parent / "signatures_1_15.txt").read_text().splitlines()

# What differs; a name that comes right is taken out of this list.
DIFFERENT = {
    # Made by functions here, not by programs.
    *("tf.Operation", "tf.Tensor", "tf.data.Dataset"),
    # Nobody writes CriticalSections into graphs.
    "tf.CriticalSection",
    # The class that is made is another one, which has the arguments.
    *("tf.TensorArray", "tf.Variable"),
    # What 1.15 shows are the arguments of what it wraps them in.
    *(f"tf.nn.rnn_cell.{kind}Wrapper" for kind in ("Device", "Dropout", "Residual")),
    *(f"tf.test.TestCase.{name}" for name in ("assertRaisesWithPredicateMatch", "captureWritesToStream")),
    "tf.sparse.split",
    # Handed on as they are.
    *("tf.test.TestCase.assertRaisesRegexp", "tf.train.experimental.MixedPrecisionLossScaleOptimizer.compute_gradients"),
    # Called by position, or with `data` by name.
    *("tf.nn.rnn_cell.RNNCell.build", "tf.ragged.boolean_mask"),
    *(f"tf.linalg.LinearOperator{kind}.add_to_tensor" for kind in ("Identity", "ScaledIdentity", "Zeros")),
    # There are no TPUs' strategies, and no cloud's interfaces.
    *(f"tf.distribute.cluster_resolver.{kind}ClusterResolver" for kind in ("GCE", "Kubernetes")),
    "tf.distribute.experimental.TPUStrategy",
}

_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def find(name):
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def is_missing(name):
    """Whether the symbol, or the class whose method it is, is one that tfexp does not have."""
    symbol = name if name in public_symbols() else name.rpartition(".")[0]
    try:
        find(symbol)
    except AttributeError:
        return True
    return False


def fault(name, wanted):
    """What a program written for 1.15 would stumble over; None if nothing."""
    try:
        found = find(name)
        own = isinstance(inspect.getattr_static(find(name.rpartition(".")[0]), name.rpartition(".")[2], None), staticmethod)
        parameters = list(inspect.signature(found).parameters.values())
    except (AttributeError, ValueError, TypeError) as error:
        return type(error).__name__
    if parameters and parameters[0].name in ("self", "cls", "_cls") and not own:
        parameters = parameters[1:]
    named = [p for p in parameters if p.kind in _NAMED]
    names = [argument.removesuffix("=") for argument in wanted]
    if [p.name for p in named[: len(names)]] != names:
        return ", ".join(p.name for p in parameters)
    optional = [p.default is not inspect.Parameter.empty for p in named]
    asked = [argument.endswith("=") for argument in wanted]
    if any(a and not b for a, b in zip(asked, optional, strict=False)) or not all(optional[len(names) :]):
        return "not optional"
    return None


def test_arguments_are_those_of_1_15():
    faults = set()
    for line in SIGNATURES:
        name, _, arguments = line.removesuffix(")").partition("(")
        if not is_missing(name) and fault(name, [a for a in arguments.split(", ") if a]):
            faults.add(name)
    assert faults == DIFFERENT


@pytest.mark.parametrize(
    ("name", "argument", "default"),
    [
        ("tf.data.experimental.make_csv_dataset", "prefetch_buffer_size", None),
        ("tf.data.experimental.make_csv_dataset", "num_parallel_reads", None),
        ("tf.data.experimental.make_batched_features_dataset", "prefetch_buffer_size", None),
        ("tf.data.experimental.make_batched_features_dataset", "reader_num_threads", None),
        ("tf.data.experimental.make_batched_features_dataset", "parser_num_threads", None),
        ("tf.distribute.Strategy.make_input_fn_iterator", "replication_mode", tf.distribute.InputReplicationMode.PER_WORKER),
        ("tf.image.extract_patches", "padding", inspect.Parameter.empty),
        ("tf.keras.mixed_precision.experimental.LossScaleOptimizer", "opt", inspect.Parameter.empty),
        ("tf.keras.utils.GeneratorEnqueuer", "sequence", inspect.Parameter.empty),
        ("tf.nn.rnn_cell.DropoutWrapper.from_config", "custom_objects", None),
        ("tf.py_function", "Tout", inspect.Parameter.empty),
        ("tf.train.remove_checkpoint", "checkpoint_format_version", 2),
    ],
)
def test_defaults_are_those_of_1_15(name, argument, default):
    assert inspect.signature(find(name)).parameters[argument].default == default

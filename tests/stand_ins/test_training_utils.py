"""`tensorflow.python.keras.engine.training_utils`: what batches give, what training was given."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.stand_ins import keras_training
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for

X = np.arange(10.0).reshape(5, 2)
PARTS = [(0, 2), (2, 4), (4, 5)]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


def sliced(monkeypatch, threshold):
    monkeypatch.setattr(keras_training.SliceAggregator, "_BINARY_SIZE_THRESHOLD", threshold)
    together = keras_training.SliceAggregator(num_samples=5, batch_size=2)
    together.create(X[:2])
    return together


def test_the_module_is_this_one():
    assert stand_for("tensorflow.python.keras.engine.training_utils") is keras_training
    with pytest.raises(TypeError, match="abstract"):
        keras_training.Aggregator(use_steps=True)


@pytest.mark.parametrize(("threshold", "copies"), [(5, 0), (4, 2)])
def test_rows_are_written_at_their_places_large_parts_in_threads(monkeypatch, threshold, copies):
    copied = []

    class Pool:
        def apply_async(self, function, args):
            copied.append(args[1:3])
            threading.Thread(target=function, args=args).start()

    monkeypatch.setattr(keras_training, "_COPY_POOL", Pool())
    together = sliced(monkeypatch, threshold)
    for start, end in PARTS:
        together.aggregate(X[start:end], start, end)
    together.finalize()
    np.testing.assert_array_equal(together.results, X)
    assert copied == PARTS[:copies]


def test_the_threads_that_copy_end_with_the_program():
    program = (
        "import numpy as np\nfrom tfexp.stand_ins.keras_training import SliceAggregator\n"
        "SliceAggregator._BINARY_SIZE_THRESHOLD = 0\n"
        "rows = SliceAggregator(num_samples=2, batch_size=1)\nrows.create(np.ones((1, 3)))\n"
        "rows.aggregate(np.ones((1, 3)), 0, 1)\nrows.aggregate(np.ones((1, 3)), 1, 2)\nrows.finalize()\n"
        "print(rows.results.sum())"
    )
    done = subprocess.run([sys.executable, "-W", "default", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "6.0"
    assert "ThreadPool" not in done.stderr


def test_what_a_thread_cannot_copy_is_an_error_at_the_end(monkeypatch):
    together = sliced(monkeypatch, threshold=1)
    together.aggregate(np.zeros((2, 3)), 0, 2)
    with pytest.raises(ValueError, match="could not broadcast"):
        together.finalize()
    stuck = sliced(monkeypatch, threshold=1)
    monkeypatch.setattr(stuck, "_slice_assign", lambda *_: None)
    monkeypatch.setattr(keras_training.SliceAggregator, "_MAX_COPY_SECONDS", 0.0)
    stuck.aggregate(X[:2], 0, 2)
    with pytest.raises(ValueError, match="Timed out waiting for copy to complete"):
        stuck.finalize()


def test_a_single_batch_is_the_whole():
    together = keras_training.SliceAggregator(num_samples=5, batch_size=5)
    together.create(X)
    together.aggregate(X, 0, 5)
    together.finalize()
    assert together.results is X


def test_batches_one_behind_the_other():
    together = keras_training.OutputsAggregator(use_steps=True, steps=2, batch_size=2)
    sparse = [SparseTensorValue(np.array([[0, 1]]), np.array([value]), np.array([2, 3])) for value in (5, 7)]
    batches = [{"x": X[:2], "y": sparse[0]}, {"x": X[2:4], "y": sparse[1]}]
    together.create(batches[0])
    for batch in batches:
        together.aggregate(batch)
    together.finalize()
    np.testing.assert_array_equal(together.results["x"], X[:4])
    assert together.results["y"].indices.tolist() == [[0, 1], [2, 1]]
    assert together.results["y"].dense_shape.tolist() == [4, 3]
    with pytest.raises(RuntimeError, match="unsupported object x"):
        keras_training.OutputsAggregator(use_steps=True).create(["x"])
    one = keras_training.ConcatAggregator(batch_size=2)
    one.create(X[:2])
    with pytest.raises(ValueError, match=r"Output shape = \(3, 2\), expected output shape = shape \(2, 2\)"):
        one.aggregate(X[:3])


def test_single_dimensions_become_columns():
    standardize = keras_training.standardize_single_array
    assert standardize(None) is None
    assert standardize(np.zeros(3)).shape == (3, 1) and standardize(tf.zeros([3])).shape == (3, 1)
    assert standardize(np.zeros(3), (None,)).shape == (3,) and standardize(np.zeros(3), (None, 1)).shape == (3, 1)


def test_floats_are_cast_and_nothing_else():
    cast = keras_training.cast_single_tensor
    numbers = tf.zeros([2], tf.int32)
    assert cast(numbers) is numbers
    assert cast(np.zeros(2)).dtype == tf.float32 and cast(tf.zeros([2]), "float16").dtype == tf.float16
    assert keras_training.cast_if_floating_dtype({"a": np.zeros(2)})["a"].dtype == tf.float32
    fitted = keras_training.cast_if_floating_dtype_and_mismatch
    outputs = [tf.zeros([2], tf.float16), tf.zeros([2])]
    assert [one.dtype for one in fitted([tf.zeros([2]), numbers], outputs)] == [tf.float16, tf.int32]
    assert fitted(tf.zeros([2]), outputs).dtype == tf.float16


def test_what_has_tensors():
    tensor, has = tf.zeros([1]), keras_training.has_tensors
    assert has(tensor) and has({"a": tf.Variable(1.0)}) and has([tf.sparse.from_dense([1])])
    assert not (has([[tensor]]) or has([X]) or has(None))


def test_inputs_are_arrays_or_tensors():
    validate = keras_training.validate_input_types
    validate([X, tf.zeros([2])], None)
    validate({"a": 1}, None)
    with pytest.raises(ValueError, match="cannot pass a dictionary as model target"):
        validate({"a": X}, None, allow_dict=False, field_name="target")
    for value in ([1, X], "s"):
        with pytest.raises(ValueError, match="You passed: inputs=given"):
            validate(value, "given")


@pytest.mark.parametrize(
    ("name", "of_data_sets", "of_generators"),
    [
        ("y", r"you should not specify a target \(`y`\) argument", "`y` argument is not supported when data is"),
        ("sample_weight", "when input `x` is a dataset", "`sample_weight` argument is not supported when data is"),
        ("validation_split", "when input `x` is a dataset", "Python generator, you cannot use `validation_split`"),
    ],
)
def test_what_datasets_and_generators_give_by_themselves(name, of_data_sets, of_generators):
    dataset = tf.data.Dataset.range(3)
    arguments = {"y": None, "sample_weight": None, "validation_split": None}
    keras_training.validate_dataset_input(dataset, **arguments)
    keras_training.check_generator_arguments(**arguments)
    with pytest.raises(ValueError, match=of_data_sets):
        keras_training.validate_dataset_input(dataset, **{**arguments, name: 0.5})
    with pytest.raises(ValueError, match=of_generators):
        keras_training.check_generator_arguments(**{name: 0.5})


def test_what_is_known_of_datasets():
    numbers = tf.data.Dataset.range(6)
    for plain in (numbers, numbers.repeat(), numbers.map(lambda n: n + 1)):
        keras_training.assert_not_batched(plain)
        keras_training.assert_not_shuffled(plain)
    shuffled, batched = numbers.shuffle(2), numbers.batch(2).prefetch(1)
    keras_training.assert_not_batched(shuffled)
    keras_training.assert_not_shuffled(batched)
    unknown = numbers.flat_map(tf.data.Dataset.from_tensors)
    for dataset in (batched, unknown):
        with pytest.raises(ValueError, match="Could not assert that dataset is not batched"):
            keras_training.assert_not_batched(dataset)
    for dataset in (shuffled, unknown):
        with pytest.raises(ValueError, match="Could not assert that dataset is not shuffled"):
            keras_training.assert_not_shuffled(dataset)


def test_how_many_steps_a_dataset_has():
    numbers = tf.data.Dataset.range(6)
    steps = keras_training.infer_steps_for_dataset
    assert (steps(None, numbers, None), steps(None, numbers, 3), steps(None, numbers, 7, epochs=2)) == (6, 3, 7)
    assert steps(None, numbers.filter(lambda n: True), None) is None
    assert steps(None, numbers.repeat(), 3, epochs=2) == 3
    with pytest.raises(ValueError, match="infinitely repeating dataset, you must specify the `count` argument"):
        steps(None, numbers.repeat(), None, steps_name="count")
    with pytest.raises(ValueError, match="contains 6 batches, but you passed `count=7`"):
        steps(None, numbers, 7, steps_name="count")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_elements_are_inputs_targets_and_weights(count):
    part = tf.data.Dataset.range(2)
    dataset = part if count == 1 else tf.data.Dataset.zip((part,) * count)
    found = keras_training.extract_tensors_from_dataset(dataset)
    assert [one is not None for one in found] == [True] * count + [False] * (3 - count)
    with eager_mode():
        assert keras_training.get_iterator(tf.data.Dataset.range(5, 6)).get_next().numpy() == 5
    with pytest.raises(ValueError, match="2 or 3 elements"):
        keras_training.extract_tensors_from_dataset(tf.data.Dataset.zip((part,) * 4))


def test_metrics_by_the_shape_and_the_loss_of_an_output():
    losses, metrics = tf.keras.losses, tf.keras.metrics
    function = keras_training.get_metric_function
    assert function("mse") is metrics.mean_squared_error
    assert function("acc", (None, 1)) is metrics.binary_accuracy
    assert function("accuracy", (None, 3), losses.SparseCategoricalCrossentropy()) is metrics.sparse_categorical_accuracy
    assert function("ce", (None, 3)) is metrics.categorical_crossentropy
    found = keras_training.collect_per_output_metric_info(
        {"a": ["acc", metrics.Mean(name="m")]}, ["a", "b"], [(None, 1)] * 2, [None] * 2, is_weighted=True
    )
    assert [list(one) for one in found] == [["weighted_acc", "weighted_m"], []]
    assert isinstance(found[0]["weighted_acc"], metrics.Metric)
    assert keras_training.get_progbar(tf.keras.Sequential(), "steps").use_steps


def test_masks_weigh_samples():
    seen = []

    def metric(*values, sample_weight):
        seen.append((len(values), sample_weight))

    y, mask = tf.ones([2, 1], tf.float64), tf.constant([True, False])
    keras_training.call_metric_function(metric, y)
    keras_training.call_metric_function(metric, y, y, mask=mask)
    keras_training.call_metric_function(metric, y, y, weights=tf.constant([[3.0], [5.0]], tf.float64), mask=mask)
    assert [count for count, _ in seen] == [1, 2, 2] and seen[0][1] is None
    with tf.Session() as session:
        assert [session.run(weights).tolist() for _, weights in seen[1:]] == [[1, 0], [3, 0]]


def test_targets_are_as_their_losses_take_them():
    losses, check = tf.keras.losses, keras_training.check_loss_and_target_compatibility
    column, rows = np.zeros((2, 1)), np.zeros((2, 3))
    check([rows, column, None], [losses.MeanSquaredError(), losses.mean_squared_error, None], [(None, 3)] * 3)
    with pytest.raises(ValueError, match=r"with shape \(2, 1\) was passed for an output of shape \(None, 3\)"):
        check([column], [losses.MeanSquaredError()], [(None, 3)])
    with pytest.raises(ValueError, match="expects targets to be binary matrices"):
        check([column], [losses.categorical_crossentropy], [(None, 3)])

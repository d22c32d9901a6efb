"""Time series: windows, steps, states, statistics, readers and the estimators around them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed.timeseries.ar_model import AnomalyMixtureARModel
from tfexp.contributed.timeseries.head import TimeSeriesRegressionHead
from tfexp.contributed.timeseries.input_statistics import InputStatisticsFromMiniBatch
from tfexp.contributed.timeseries.readers import TFExampleReader
from tfexp.contributed.timeseries.sequential_model import SequentialTimeSeriesModel
from tfexp.contributed.timeseries.states import ChainingStateManager, FilteringOnlyStateManager, PassthroughStateManager

ts = tf.contrib.timeseries
TIMES, VALUES, STATE = "times", "values", "start_tuple"
TRAIN, EVAL, PREDICT = tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def windows_model(factory: Any = None, **sizes: Any) -> Any:
    """Two values of which three follow, each one more than the one before."""

    def network(**_: Any) -> Callable[..., dict[str, Any]]:
        def rising(seen: Any, to_come: Any) -> dict[str, Any]:
            mean = seen[:, -1:, -1:] + tf.constant([1.0, 2.0, 3.0])[None, :, None]
            return {"mean": mean, "covariance": tf.fill(tf.shape(mean), 4.0)}

        return rising

    found = ts.ARModel(None, 2, 3, 1, prediction_model_factory=factory or network, **sizes)
    found.initialize_graph()
    return found


def series(count: int, begin: int = 0) -> dict[str, Any]:
    times = np.arange(begin, begin + count)[None]
    return {TIMES: times, VALUES: times[..., None] * 1.0}


def test_windows_are_predicted_from_those_before(session: tf.Session) -> None:
    state = (np.array([[8, 9]]), np.array([[[5.0], [7.0]]], np.float32), np.zeros([1, 2, 0], np.float32))
    found = session.run(windows_model().predict({TIMES: tf.constant(np.arange(10, 17)[None]), STATE: state}))
    np.testing.assert_allclose(found["mean"][0, :, 0], np.arange(8.0, 15.0))
    assert found["covariance"].shape == (1, 7, 1) and np.all(found["covariance"] == 4.0)


@pytest.mark.parametrize("loss", ["squared_loss", "normal_likelihood_loss"])
def test_an_evaluation_is_of_the_windows_that_fit_at_the_end(session: tf.Session, loss: str) -> None:
    given = series(9)
    given[VALUES][0, -1] += 2.0
    outputs = windows_model(loss=loss).define_loss(dict(given), EVAL)
    found, end, times, predictions = session.run(
        [outputs.loss, outputs.end_state, outputs.prediction_times, outputs.predictions]
    )
    errors = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    normal = 0.5 * np.mean((errors / 2.0) ** 2 + np.log(2 * np.pi) + np.log(2.0))  # TensorFlow's, with half of a logarithm
    np.testing.assert_allclose(found, np.mean(errors**2) if loss == "squared_loss" else normal, rtol=1e-6)
    assert times.tolist() == [[3, 4, 5, 6, 7, 8]] and end[0].tolist() == [[7, 8]]
    np.testing.assert_allclose(predictions["mean"][..., 0], [[3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])
    np.testing.assert_allclose(predictions["observed"], given[VALUES][:, 3:])


def test_a_time_is_in_one_part_of_each_period(session: tf.Session) -> None:
    seen: list[Any] = []

    def network(**_: Any) -> Callable[..., dict[str, Any]]:
        def zeros(before: Any, to_come: Any) -> dict[str, Any]:
            seen.append(to_come)
            return dict.fromkeys(("mean", "covariance"), to_come[:, :, :1])

        return zeros

    model = ts.ARModel([8, 3], 0, 3, 1, network, num_time_buckets=4)
    model.initialize_graph()
    model.define_loss({TIMES: [[1, 6, 11]], VALUES: np.zeros([1, 3, 1])}, TRAIN)
    third, two_thirds = 4 / 3 - 1, 8 / 3 - 2
    wanted = [[0.5, 0, 0, 0, 0, third, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0.5, 0, 0, 0, 0, two_thirds, 0]]
    np.testing.assert_allclose(session.run(seen[0]), [wanted], atol=1e-6)


@pytest.mark.parametrize("kind", ["gaussian", "cauchy"])
def test_a_value_may_be_an_anomaly(session: tf.Session, kind: str) -> None:
    model = AnomalyMixtureARModel(12, 0.25, 2, 3, 1, anomaly_distribution=kind)
    targets = tf.constant([[[0.5], [2.0], [-3.0]]])
    said = {"mean": tf.zeros([1, 3, 1]), "covariance": tf.fill([1, 3, 1], 2.0), "anomaly_params": tf.constant(5.0)}
    x = np.array([0.5, 2.0, -3.0])

    def log_normal(variance: float) -> np.ndarray:
        return -0.5 * (x**2 / variance + np.log(2 * np.pi) + 0.5 * np.log(variance))

    broad = log_normal(5.0) if kind == "gaussian" else -np.log(np.pi) - np.log(5.0) - np.log1p((x / 5.0) ** 2)
    mixed = np.logaddexp(log_normal(2.0) + np.log(0.75), broad + np.log(0.25))
    np.testing.assert_allclose(session.run(model.loss_op(targets, said)), -mixed.mean(), rtol=1e-5)


class Sums(SequentialTimeSeriesModel):
    """Predicts the sum of what was seen, and of what is known beside it at odd times."""

    def __init__(self, unrolled: int | None = None, exogenous: bool = False, scaled: bool = False):
        columns = [tf.feature_column.numeric_column("known")] if exogenous else None

        def odd(times: Any, features: Any) -> Any:
            return tf.equal(times % 2, 1)

        super().__init__(
            ["mean"],
            ["mean"],
            1,
            scaled,
            exogenous_feature_columns=columns,
            exogenous_update_condition=odd,
            static_unrolling_window_size_threshold=unrolled,
        )

    def get_start_state(self) -> Any:
        return (tf.zeros([1]),)

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        return state

    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        return state, {"mean": state[0]}

    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: Any) -> Any:
        predictions["loss"] = tf.reduce_sum(tf.square(current_values - state[0]), 1)
        return (state[0] + current_values,), predictions

    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        return (state[0] + current_exogenous_regressors,)


@pytest.mark.parametrize("unrolled", [None, 5])
def test_steps_are_looped_over_or_unrolled(session: tf.Session, unrolled: int | None) -> None:
    model = Sums(unrolled, exogenous=True)
    model.initialize_graph()
    batch = {TIMES: tf.constant([[0, 1, 2], [1, 2, 3]]), VALUES: tf.constant([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])}
    batch["known"] = tf.constant([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]])
    outputs = model.define_loss(batch, TRAIN)
    assert outputs.predictions["mean"].shape.as_list()[2:] == [1]
    loss, [end], mean = session.run([outputs.loss, outputs.end_state, outputs.predictions["mean"]])
    before = np.array([[0.0, 21.0, 23.0], [40.0, 44.0, 109.0]])
    np.testing.assert_allclose(mean[..., 0], before)
    np.testing.assert_allclose(end, [[26.0], [115.0]])
    np.testing.assert_allclose(loss, np.mean((before - [[1, 2, 3], [4, 5, 6]]) ** 2))
    begin = (tf.constant([[7.0]]),)
    later = model.predict({TIMES: [[4, 5]], "known": tf.constant([[1.0, 2.0]]), STATE: begin})
    np.testing.assert_allclose(session.run(later["mean"])[..., 0], [[7.0, 9.0]])


def test_a_model_that_scales_says_how_to_scale_back(session: tf.Session) -> None:
    model = Sums(scaled=True)
    model.initialize_graph()
    with pytest.raises(NotImplementedError, match="_scale_back_predictions"):
        model.predict({TIMES: [[4]], STATE: model.get_start_state()})


def test_windows_go_on_from_the_states_of_those_before(session: tf.Session) -> None:
    model, manager = Sums(), ChainingStateManager(state_saving_interval=4)
    model.initialize_graph()
    manager.initialize_graph(model)
    begin = tf.placeholder_with_default(0, [])
    times = (begin + tf.range(4))[None]
    outputs = manager.define_loss(model, {TIMES: tf.cast(times, tf.int64), VALUES: tf.ones([1, 4, 1])}, TRAIN)
    steps = [session.run([outputs.predictions["mean"], outputs.loss], {begin: when}) for when in (0, 8, 4, 8, 0)]
    assert [mean[0, 0, 0] for mean, _ in steps] == [0.0, 0.0, 4.0, 8.0, 0.0]


def test_statistics_are_of_all_batches(session: tf.Session) -> None:
    generator = InputStatisticsFromMiniBatch(2, tf.float32, starting_variance_window_size=3)
    times, values = tf.placeholder(tf.int64, [None, None]), tf.placeholder(tf.float32, [None, None, 2])
    statistics = generator.initialize_graph({TIMES: times, VALUES: values})
    session.run(tf.global_variables_initializer())
    rng = np.random.default_rng(3)
    when_and_what = [(np.arange(10, 20).reshape(2, 5), 2), (np.arange(5)[None] * 2, 1)]
    batches = [(when, rng.normal(size=[rows, 5, 2])) for when, rows in when_and_what]
    for when, what in batches:
        found = session.run(statistics, {times: when, values: what})
    together = np.concatenate([what.reshape(-1, 2) for _, what in batches])
    np.testing.assert_allclose(found.overall_feature_moments.mean, together.mean(0), rtol=1e-4)
    np.testing.assert_allclose(found.overall_feature_moments.variance, together.var(0, ddof=1), rtol=1e-4)
    np.testing.assert_allclose(found.series_start_moments.variance, batches[1][1][0, :3].var(0), rtol=1e-4)
    assert (found.start_time, found.total_observation_count) == (0, round(20 / (4 / 3)))


def numbers(tensors: dict[str, Any], times: int = 1) -> list[dict[str, Any]]:
    with tf.train.MonitoredSession() as running:
        return [running.run(tensors) for _ in range(times)]


def test_arrays_are_read_as_they_are_and_side_by_side(session: tf.Session) -> None:
    data = {TIMES: np.arange(40), VALUES: np.arange(40) / 2.0, "more": np.zeros([40, 2])}
    reader = ts.NumpyReader(data)
    whole, labels = ts.WholeDatasetInputFn(reader)()
    windows, _ = ts.RandomWindowInputFn(reader, window_size=7, batch_size=3, shuffle_seed=1)()
    assert labels is None and windows["more"].shape.as_list() == [3, 7, 2]
    for found in numbers({**whole, **{f"w_{name}": tensor for name, tensor in windows.items()}}, 3):
        assert found[TIMES].tolist() == [list(range(40))] and found[VALUES].shape == (1, 40, 1)
        assert np.all(np.diff(found["w_times"]) == 1)
        np.testing.assert_allclose(found["w_values"][..., 0], found["w_times"] / 2.0)


def test_a_series_that_goes_back_is_put_in_order_or_ends_the_input(session: tf.Session) -> None:
    reader = ts.NumpyReader({TIMES: [5, 4, 3, 2, 1, 0], VALUES: np.arange(6.0)})
    ordered = ts.RandomWindowInputFn(reader, 6, 2, discard_out_of_order=False, jitter=False)
    found = numbers(ordered()[0])[0]
    assert found[TIMES].tolist() == [[0, 1, 2, 3, 4, 5]] * 2 and found[VALUES][0, :, 0].tolist() == [5, 4, 3, 2, 1, 0]
    never = ts.RandomWindowInputFn(reader, 6, 2, discard_consecutive_batches_limit=3, jitter=False)
    found = []
    with tf.Graph().as_default():
        windows, _ = never()
        with tf.train.MonitoredSession() as running:  # it ends quietly with its input
            found.append(running.run(windows))
    assert not found


def test_files_are_read_one_after_another(session: tf.Session, tmp_path: Path) -> None:
    for name, begin in (("a", 0), ("b", 3)):
        lines = [f"{time},{time / 2},{time / 4},x{time}" for time in range(begin, begin + 3)]
        (tmp_path / name).write_text("\n".join(["a header", *lines, ""]))
    names, types = (TIMES, VALUES, VALUES, "word"), (tf.int64, tf.float64, tf.float64, tf.string)
    reader = ts.CSVReader([str(tmp_path / "a"), str(tmp_path / "b")], names, types, skip_header_lines=1)
    for found in numbers(ts.WholeDatasetInputFn(reader)()[0], 2):
        assert found[TIMES].tolist() == [[0, 1, 2, 3, 4, 5]] and found["word"][0, 5].tolist() == [b"x5"]
        np.testing.assert_allclose(found[VALUES], [[[time / 2, time / 4] for time in range(6)]])


def test_examples_are_read(session: tf.Session, tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for time in range(3):
            example = tf.train.Example()
            example.features.feature[TIMES].int64_list.value.append(time)
            example.features.feature[VALUES].float_list.value.append(time / 2)
            writer.write(example.SerializeToString())
    specs = {TIMES: tf.FixedLenFeature([], tf.int64), VALUES: tf.FixedLenFeature([1], tf.float32)}
    found = numbers(TFExampleReader(path, specs).read_full())[0]
    assert found[TIMES].tolist() == [0, 1, 2] and found[VALUES].tolist() == [[0.0], [0.5], [1.0]]


BEFORE = {TIMES: np.array([[1, 2, 3]]), STATE: (np.zeros([1, 2]),)}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ts.NumpyReader({TIMES: [1, 2]}), "required features"),
        (lambda: ts.NumpyReader({TIMES: [1, 2], VALUES: [1, 2, 3]}), "prefixed by the shape"),
        (lambda: ts.NumpyReader({TIMES: [[1], [2]], VALUES: [[1], [2]]}), "Got batch input"),
        (lambda: ts.NumpyReader({TIMES: [1, 2], VALUES: np.zeros([2, 1, 1])}), "unexpected number of dimensions"),
        (lambda: ts.CSVReader("a", (TIMES,)), "'values' is a required column"),
        (lambda: ts.CSVReader("a", (TIMES, TIMES, VALUES)), "more than one times column"),
        (lambda: ts.CSVReader("a", column_dtypes=(tf.int64,)), "must match the length"),
        (lambda: ts.RandomWindowInputFn(ts.NumpyReader({TIMES: [1], VALUES: [1]}), 3, 1), "windows of size 3"),
        (lambda: ts.predict_continuation_input_fn(BEFORE), "One of `steps` and `times`"),
        (lambda: ts.predict_continuation_input_fn(BEFORE, 1, [4]), "Only one of"),
        (lambda: ts.predict_continuation_input_fn(BEFORE, times=[3]), "must be after"),
        (lambda: ts.predict_continuation_input_fn(BEFORE, times=[[4], [4]]), "batch dimension of 2"),
        (lambda: ts.ARRegressor(12, 6, 2, 1, anomaly_distribution="gaussian"), "anomaly_prior_probability is required"),
        (lambda: ts.ARRegressor(12, 6, 2, 1, anomaly_prior_probability=0.1, loss="squared_loss"), "only supports"),
        (lambda: ts.ARModel(12, 6, 2, 1).define_loss(series(8), TRAIN), "initialize_graph"),
        (lambda: PassthroughStateManager().define_loss(Sums(), {STATE: 1}, EVAL), "Overriding start state"),
        (lambda: FilteringOnlyStateManager().define_loss(Sums(), {STATE: 1}, TRAIN), "Overriding saved state"),
    ],
)
def test_what_cannot_be(build: Callable[[], object], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("dims", "mode", "message"),
    [
        ({TIMES: [1, 8]}, TRAIN, "Expected a 'values' feature"),
        ({TIMES: [8], VALUES: [1, 8, 1]}, EVAL, "batch dimension, window size"),
        ({TIMES: [1, 8], VALUES: [1, 8, 2]}, EVAL, "num_features=1"),
        ({TIMES: [1, 8], VALUES: [1, 9, 1]}, EVAL, "match the 'times' feature"),
        ({TIMES: [1, 9], VALUES: [1, 9, 1]}, TRAIN, r"shape \(batch_size, 5\)"),
        ({TIMES: [1, 4], VALUES: [1, 4, 1]}, EVAL, "at least input_window_size"),
        ({TIMES: [1, 8]}, PREDICT, "Expected a 'start_tuple' feature"),
    ],
)
def test_features_that_do_not_fit(dims: dict[str, list[int]], mode: str, message: str) -> None:
    with tf.Graph().as_default():
        head = TimeSeriesRegressionHead(windows_model(), FilteringOnlyStateManager(), tf.train.AdamOptimizer())
        features = {name: tf.zeros(shape) for name, shape in dims.items()}
        with pytest.raises(ValueError, match=message):
            head.create_estimator_spec(features, mode)


def test_an_estimator_trains_evaluates_predicts_and_is_saved(tmp_path: Path) -> None:
    """The numbers are those of TensorFlow 1.15.0, with the same weights."""
    times = np.arange(13)
    data = {TIMES: times, VALUES: np.sin(times / 5.0)}

    def windows() -> Any:
        found = {TIMES: tf.reshape(tf.range(12, dtype=tf.int64), [3, 4])}
        return {**found, VALUES: tf.sin(tf.cast(found[TIMES], tf.float32) / 5.0)[..., None]}, None

    class Begin(tf.train.SessionRunHook):
        def begin(self) -> None:
            self.ops = [variable.assign(tf.fill(variable.shape, 0.1)) for variable in tf.trainable_variables()]

        def after_create_session(self, session: Any, coord: Any) -> None:
            session.run(self.ops)

    optimizer = tf.train.GradientDescentOptimizer(0.01)
    estimator = ts.ARRegressor(6, 3, 1, 1, num_time_buckets=2, optimizer=optimizer, model_dir=str(tmp_path))
    estimator.train(windows, steps=2, hooks=[Begin()])
    evaluation = estimator.evaluate(ts.WholeDatasetInputFn(ts.NumpyReader(data)), steps=1)
    [predicted] = estimator.predict(ts.predict_continuation_input_fn(evaluation, steps=4))
    np.testing.assert_allclose(evaluation["average_loss"], 1.032635, rtol=1e-5)
    np.testing.assert_allclose(predicted["mean"][:, 0], [0.802426, 0.802184, 0.779275, 0.800796], rtol=1e-5)
    np.testing.assert_allclose(predicted["covariance"][:, 0], [0.148290, 0.148239, 0.138332, 0.147707], rtol=1e-5)
    assert predicted[TIMES].tolist() == [13, 14, 15, 16] and evaluation["observed"].shape == (1, 10, 1)
    assert "model/flat_prediction_model/predicted_mean/kernel" in estimator.get_variable_names()
    folder = estimator.export_saved_model(str(tmp_path / "saved"), estimator.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        served = tf.saved_model.loader.load(session, ["serve"], folder)
        utils = ts.saved_model_utils
        state = utils.cold_start_filter(served, session, {name: array[:9] for name, array in data.items()})
        state = utils.filter_continuation(state, served, session, {name: array[9:] for name, array in data.items()})
        found = utils.predict_continuation(state, served, session, steps=4)
    np.testing.assert_allclose(found["mean"][0], predicted["mean"], rtol=1e-5)

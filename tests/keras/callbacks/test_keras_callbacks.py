"""What callbacks are told, what they write and print, and when they end training."""

from __future__ import annotations

import http.server
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.callbacks.callback import CallbackList
from tfexp.runtime.eager import eager_mode

X = np.random.RandomState(1).rand(10, 3)
Y = np.random.RandomState(2).rand(10, 2)


@pytest.fixture(autouse=True)
def own_graph() -> Any:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def linear(rate: float = 0.01, **compiled: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="a")])
    model.set_weights([np.ones((3, 2)), np.zeros(2)])
    model.compile(tf.keras.optimizers.SGD(rate), "mse", **compiled)
    return model


class Written(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
    """Writes down each call, with the names of its logs."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []


def _written(hook: str) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        logs = kwargs.get("logs", args[-1] if args and isinstance(args[-1], dict) else None)
        number = args[0] if args and isinstance(args[0], int) else None
        self.calls.append((hook.removeprefix("on_"), number, sorted(logs or ())))

    return call


HOOKS = [
    f"on_{mode}_{when}" for mode in ("train", "test", "predict") for when in ("begin", "end", "batch_begin", "batch_end")
] + ["on_epoch_begin", "on_epoch_end"]
for name in HOOKS:
    setattr(Written, name, _written(name))


def test_calls_come_in_tensorflows_order_with_its_logs() -> None:
    written = Written()
    model = linear(metrics=["mae"])
    model.fit(X, Y, batch_size=5, validation_split=0.2, verbose=0, callbacks=[written])
    names = ["loss", "mean_absolute_error"]
    begun, ended = ["batch", "size"], sorted(["batch", "size", *names])
    assert written.params == {
        "batch_size": 5,
        "epochs": 1,
        "steps": None,
        "samples": 8,
        "verbose": 0,
        "do_validation": True,
        "metrics": [*names, *(f"val_{name}" for name in names)],
    }
    assert written.calls == [
        ("train_begin", None, []),
        ("epoch_begin", 0, []),
        ("train_batch_begin", 0, begun),
        ("train_batch_end", 0, ended),
        ("train_batch_begin", 1, begun),
        ("train_batch_end", 1, ended),
        ("test_begin", None, []),
        ("test_batch_begin", 0, begun),
        ("test_batch_end", 0, ended),
        ("test_end", None, []),
        ("epoch_end", 0, sorted([*names, *(f"val_{name}" for name in names)])),
        ("train_end", None, []),
    ]
    written.calls.clear()
    model.predict(X, callbacks=[written])
    assert written.calls[2] == ("predict_batch_end", 0, ["batch", "outputs", "size"])
    assert written.params["metrics"] == []


def test_hooks_around_a_whole_are_told_no_logs() -> None:
    told: list[Any] = []
    callback = tf.keras.callbacks.Callback()
    for mode in ("train", "test", "predict"):
        for when in ("begin", "end"):
            setattr(callback, f"on_{mode}_{when}", told.append)
    model = linear()
    model.fit(X, Y, verbose=0, callbacks=[callback])
    model.evaluate(X, Y, verbose=0, callbacks=[callback])
    model.predict(X, callbacks=[callback])
    assert told == [None] * 6


def test_a_logger_of_the_users_takes_totals_as_they_are() -> None:
    histories = []
    for given in ([], [tf.keras.callbacks.BaseLogger()]):
        model = linear(metrics=["mae"])
        histories.append(model.fit(X, Y, batch_size=3, epochs=2, shuffle=False, verbose=0, callbacks=given).history)
    assert histories[0] == histories[1]


def test_older_names_of_batch_hooks_are_called() -> None:
    found: list[Any] = []
    callback = tf.keras.callbacks.LambdaCallback(
        on_batch_begin=lambda batch, logs: found.append(batch),
        on_epoch_end=lambda epoch, logs: found.append(sorted(logs)),
        on_train_end=lambda logs: found.append("over"),
    )
    linear().fit(X, Y, batch_size=5, verbose=0, callbacks=[callback])
    assert found == [0, 1, ["loss"], "over"]


def test_a_list_calls_what_is_appended_later() -> None:
    first, second = Written(), Written()
    called = CallbackList([first])
    called.on_batch_end(0)
    called.append(second)
    called.on_batch_end(1, {"loss": 1.0})
    assert [call[1] for call in first.calls] == [0, 1]
    assert second.calls == [("train_batch_end", 1, ["loss"])]
    assert list(called) == [first, second]


def test_what_is_logged_for_an_epoch_is_the_mean_by_size() -> None:
    logger = tf.keras.callbacks.BaseLogger(["total"])
    logger.params = {"metrics": ["loss", "total", "absent"]}
    logger.on_epoch_begin(0)
    logger.on_batch_end(0, {"size": 3, "loss": 1.0, "total": 5.0})
    logger.on_batch_end(1, {"size": 1, "loss": 5.0, "total": 7.0})
    logs: dict[str, Any] = {}
    logger.on_epoch_end(0, logs)
    assert logs == {"loss": 2.0, "total": 7.0}


def test_training_ends_where_a_loss_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    history = linear().fit(
        np.full_like(X, np.nan), Y, batch_size=4, epochs=3, verbose=0, callbacks=[tf.keras.callbacks.TerminateOnNaN()]
    )
    assert len(history.epoch) == 1
    assert capsys.readouterr().out == "Batch 0: Invalid loss, terminating training\n"


def test_training_ends_early_and_takes_the_best_weights_back(capsys: pytest.CaptureFixture[str]) -> None:
    model = linear(rate=0.0)
    stopping = tf.keras.callbacks.EarlyStopping("loss", patience=2, verbose=1, restore_best_weights=True)
    seen = []
    change = tf.keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: model.set_weights(_shifted(epoch)))
    history = model.fit(X, Y, epochs=9, verbose=0, callbacks=[change, stopping], shuffle=False)
    seen.append(model.get_weights()[1])
    assert history.epoch == [0, 1, 2]
    assert stopping.stopped_epoch == 2
    np.testing.assert_array_equal(seen[0], [0.0, 0.0])
    assert capsys.readouterr().out == (
        "Restoring model weights from the end of the best epoch.\nEpoch 00003: early stopping\n"
    )


def _shifted(by: float) -> list[Any]:
    return [np.ones((3, 2)), np.full(2, float(by))]


def test_a_baseline_is_to_be_reached_within_the_patience() -> None:
    stopping = tf.keras.callbacks.EarlyStopping("loss", baseline=0.0, patience=2)
    assert len(linear().fit(X, Y, epochs=9, verbose=0, callbacks=[stopping]).epoch) == 2


@pytest.mark.parametrize(
    ("monitor", "mode", "better"), [("val_acc", "auto", np.greater), ("loss", "auto", np.less), ("loss", "max", np.greater)]
)
def test_what_is_better_is_told_by_the_name(monitor: str, mode: str, better: Any) -> None:
    assert tf.keras.callbacks.EarlyStopping(monitor, mode=mode).monitor_op is better
    assert tf.keras.callbacks.ModelCheckpoint("x", monitor, mode=mode).monitor_op is better


def test_what_is_not_there_to_watch_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    of = tf.keras.callbacks
    made = [of.EarlyStopping(mode="odd"), of.ReduceLROnPlateau(), of.ModelCheckpoint("x", save_best_only=True)]
    with caplog.at_level(logging.WARNING, "tensorflow"):
        linear().fit(X, Y, verbose=0, callbacks=made)
    assert (
        "Early stopping conditioned on metric `val_loss` which is not available. Available metrics are: loss" in caplog.text
    )
    assert "Reduce LR on plateau conditioned on metric `val_loss` which is not available" in caplog.text
    assert "Can save best model only with val_loss available, skipping." in caplog.text


def test_learning_rates_are_reduced_and_scheduled(capsys: pytest.CaptureFixture[str]) -> None:
    model = linear(rate=0.5)
    plateau = tf.keras.callbacks.ReduceLROnPlateau("loss", min_delta=10, patience=1, verbose=1)
    history = model.fit(X, Y, epochs=3, verbose=0, callbacks=[plateau])
    np.testing.assert_allclose(history.history["lr"], [0.5, 0.5, 0.05])
    assert capsys.readouterr().out.startswith("\nEpoch 00002: ReduceLROnPlateau reducing learning rate to 0.05.\n")
    scheduler = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.25, verbose=1)
    model.fit(X, Y, verbose=0, callbacks=[scheduler])
    assert capsys.readouterr().out == "\nEpoch 00001: LearningRateScheduler reducing learning rate to 0.25.\n"
    with pytest.raises(ValueError, match=r'output of the "schedule" function should be float. Got: x'):
        model.fit(X, Y, verbose=0, callbacks=[tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: "x")])
    with pytest.raises(ValueError, match=r"does not support a factor >= 1.0"):
        tf.keras.callbacks.ReduceLROnPlateau(factor=2)


class _Saved:
    """Stands for a model that is saved."""

    def __init__(self) -> None:
        self.saved: list[str] = []

    def save(self, path: str, overwrite: bool) -> None:
        self.saved.append(path)

    def save_weights(self, path: str, overwrite: bool) -> None:
        self.saved.append(f"weights of {path}")


def test_models_are_saved_when_they_are_better(capsys: pytest.CaptureFixture[str]) -> None:
    saved = _Saved()
    checkpoint = tf.keras.callbacks.ModelCheckpoint("m{epoch:02d}-{loss:.1f}", "loss", verbose=1, save_best_only=True)
    checkpoint.set_model(saved)
    for epoch, loss in enumerate([3.0, 2.5, 2.75]):
        checkpoint.on_epoch_end(epoch, {"loss": loss})
    assert saved.saved == ["m01-3.0", "m02-2.5"]
    assert capsys.readouterr().out == (
        "\nEpoch 00001: loss improved from inf to 3.00000, saving model to m01-3.0\n"
        "\nEpoch 00002: loss improved from 3.00000 to 2.50000, saving model to m02-2.5\n"
        "\nEpoch 00003: loss did not improve from 2.50000\n"
    )


def test_models_are_saved_after_so_many_epochs_or_samples() -> None:
    saved = _Saved()
    checkpoint = tf.keras.callbacks.ModelCheckpoint("m{epoch}", save_weights_only=True, period=2)
    checkpoint.set_model(saved)
    for epoch in range(5):
        checkpoint.on_epoch_end(epoch, {})
    assert saved.saved == ["weights of m2", "weights of m4"]
    saved.saved.clear()
    checkpoint = tf.keras.callbacks.ModelCheckpoint("m{epoch}", save_freq=5)
    checkpoint.set_model(saved)
    checkpoint.on_epoch_begin(6)
    for batch in range(4):
        checkpoint.on_batch_end(batch, {"size": 3, "batch": batch})
    checkpoint.on_epoch_end(6, {})
    assert saved.saved == ["m7", "m7"]


def test_checkpoints_say_what_is_wrong_with_their_arguments() -> None:
    with pytest.raises(ValueError, match="Unrecognized save_freq: never"):
        tf.keras.callbacks.ModelCheckpoint("x", save_freq="never")
    checkpoint = tf.keras.callbacks.ModelCheckpoint("{odd}", what_it_does_not_know=1)
    checkpoint.set_model(_Saved())
    with pytest.raises(KeyError, match=r"Failed to format this callback filepath.*There are: epoch, loss"):
        checkpoint.on_epoch_end(0, {"loss": 1.0})


def test_epochs_are_written_as_csv(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    logger = tf.keras.callbacks.CSVLogger(file, separator=";")
    model = _Saved()
    model.stop_training = False  # type: ignore[attr-defined]
    logger.set_model(model)
    logger.on_train_begin()
    logger.on_epoch_end(0, {"val_loss": 2.0, "loss": 1.5, "each": [1, 2]})
    model.stop_training = True  # type: ignore[attr-defined]
    logger.on_epoch_end(1, {"loss": 0.5, "each": [3, 4]})
    logger.on_train_end()
    again = tf.keras.callbacks.CSVLogger(file, separator=";", append=True)
    again.set_model(model)
    again.on_train_begin()
    again.on_epoch_end(0, {"each": [5], "loss": 0.25, "val_loss": 0.0})
    again.on_train_end()
    assert file.read_text() == (
        'epoch;each;loss;val_loss\n0;"""[1, 2]""";1.5;2.0\n1;"""[3, 4]""";0.5;NA\n0;"""[5]""";0.25;0.0\n'
    )


def test_numbers_are_written_and_printed_in_the_precision_that_they_have(tmp_path: Path) -> None:
    batches: list[Any] = []
    logger = tf.keras.callbacks.CSVLogger(tmp_path / "log.csv")
    watcher = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: batches.append(logs))
    model = linear(metrics=["mae"])
    history = model.fit(X, Y, batch_size=4, shuffle=False, verbose=0, callbacks=[logger, watcher]).history
    (metric,) = history["mean_absolute_error"]
    assert type(batches[-1]["loss"]) is type(batches[-1]["mean_absolute_error"]) is np.float32
    assert type(metric) is np.float32 and metric == batches[-1]["mean_absolute_error"]
    # The loss is a mean of these, as a double.
    assert type(history["loss"][0]) is np.float64
    sizes = [logs["size"] for logs in batches]
    assert history["loss"] == [pytest.approx(np.average([logs["loss"] for logs in batches], weights=sizes), rel=1e-12)]
    assert (tmp_path / "log.csv").read_text().splitlines()[1] == f"0,{history['loss'][0]},{metric!s}"


def test_a_server_is_told_and_may_be_away(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            told.append((self.path, self.headers["Content-Type"], self.headers.get("Extra"), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    root = f"http://127.0.0.1:{server.server_port}"
    try:
        monitor = tf.keras.callbacks.RemoteMonitor(root, headers={"Extra": "yes"}, send_as_json=True)
        monitor.on_epoch_end(3, {"loss": np.float32(0.5)})
        tf.keras.callbacks.RemoteMonitor(root, path="/here/").on_epoch_end(0, {})
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert told[0][:3] == ("/publish/epoch/end/", "application/json", "yes")
    assert json.loads(told[0][3]) == {"epoch": 3, "loss": 0.5}
    assert told[1][0] == "/here/"
    assert told[1][3] == "data=%7B%22epoch%22%3A+0%7D"
    tf.keras.callbacks.RemoteMonitor(root).on_epoch_end(0, {})
    assert "could not reach RemoteMonitor root server" in caplog.text


def _events(folder: Path) -> list[Any]:
    file = next(folder.glob("events.out.*"))
    return list(tf.train.summary_iterator(str(file)))


def _tags(events: list[Any]) -> list[Any]:
    return [(event.step, [value.tag for value in event.summary.value]) for event in events if event.HasField("summary")]


def test_tensorboard_gets_metrics_by_epoch_or_by_samples(tmp_path: Path) -> None:
    model = linear(metrics=["mae"])
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(tmp_path / "epochs")])
    events = _events(tmp_path / "epochs")
    assert [event.WhichOneof("what") for event in events[:3]] == ["file_version", "graph_def", "meta_graph_def"]
    names = ["epoch_loss", "epoch_mean_absolute_error"]
    assert _tags(events) == [(epoch, [name]) for epoch in range(2) for name in names]
    board = tf.keras.callbacks.TensorBoard(tmp_path / "samples", update_freq=4, write_graph=False)
    model.fit(X, Y, batch_size=2, epochs=1, verbose=0, callbacks=[board])
    of_batch = ["batch_loss", "batch_mean_absolute_error"]
    assert _tags(_events(tmp_path / "samples")) == [(step, [name]) for step in (1, 3) for name in of_batch] + [
        (10, [name]) for name in names
    ]


def test_tensorboard_gets_histograms_as_validation_goes_on(tmp_path: Path) -> None:
    model = linear()
    board = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=2, write_grads=True, write_images=True)
    model.fit(X, Y, validation_data=(X, Y), batch_size=5, epochs=3, verbose=0, callbacks=[board])
    found = [one for one in _tags(_events(tmp_path)) if len(one[1]) > 1]
    assert [step for step, _ in found] == [0, 1, 2, 3]
    assert found[0][1] == [
        "a/kernel_0",
        "a/kernel_0_1/image/0",
        "a/bias_0",
        "a/bias_0_1/image/0",
        "a/kernel_0_grad",
        "a/bias_0_grad",
        "a_out",
    ]
    model.fit(X, Y, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(tmp_path / "other", histogram_freq=1)])
    assert all(len(tags) == 1 for _, tags in _tags(_events(tmp_path / "other")))


def test_tensorboard_gets_the_graph_of_eager_models(tmp_path: Path) -> None:
    with eager_mode():
        linear().fit(X, Y, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(tmp_path)])
    assert any(event.graph_def for event in _events(tmp_path))


def test_tensorboard_gets_embeddings(tmp_path: Path) -> None:
    board = tf.keras.callbacks.TensorBoard(
        tmp_path, embeddings_freq=1, embeddings_layer_names=["a"], embeddings_data=X, embeddings_metadata="names.tsv"
    )
    model = linear(rate=0.0)
    model.fit(X, Y, verbose=0, callbacks=[board])
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "a_embedding"\n  metadata_path: "names.tsv"\n}\n'
    )
    values = tf.train.load_variable(str(tmp_path / "keras_embedding.ckpt-0"), "a_embedding")
    np.testing.assert_allclose(values, X @ np.ones((3, 2)), rtol=1e-6)


def test_tensorboard_says_that_it_profiles_no_step(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.keras.callbacks.TensorBoard(str(tmp_path))
        assert not caplog.text
        tf.keras.callbacks.TensorBoard(str(tmp_path), profile_batch=7)
    assert "`profile_batch` changes nothing" in caplog.text


def test_training_begins_anew_with_the_latest_weights_of_a_pattern(tmp_path: Path) -> None:
    for number, name in enumerate(["w.02.h5", "w.10.h5", "w.01.h5", "other.h5"]):
        model = linear()
        model.set_weights([np.full((3, 2), number), np.zeros(2)])
        model.save_weights(str(tmp_path / name))
        seconds = 1000 if name in {"w.02.h5", "w.10.h5"} else 10
        os.utime(tmp_path / name, (seconds, seconds))
    callback = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "w.{epoch:02d}.h5"), load_weights_on_restart=True)
    callback.set_model(model := linear())
    callback.on_train_begin()
    assert model.get_weights()[0][0, 0] == 1  # of two that are as late, the last by name


def test_a_checkpoint_that_is_the_latest_goes_before_files(tmp_path: Path) -> None:
    linear().save_weights(str(tmp_path / "w.01"))
    callback = tf.keras.callbacks.ModelCheckpoint(None)
    found = callback._get_most_recently_modified_file_matching_pattern
    assert found(str(tmp_path / "w.{epoch:02d}")) == str(tmp_path / "w.01")
    assert found(str(tmp_path / "v.{epoch:02d}")) is None
    assert found(str(tmp_path / "nowhere" / "w")) is None

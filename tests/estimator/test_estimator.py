"""`tf.estimator.Estimator`: training, evaluating, predicting, and what it refuses."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lines import X, Y, line, model_fn, receiver, rows

import tfexp as tf
from tfexp.train.summary_writer import FileWriterCache


def scalars(folder: str) -> dict[str, list[tuple[int, float]]]:
    FileWriterCache.clear()
    found: dict[str, list[tuple[int, float]]] = {}
    for file in Path(folder).glob("events*"):
        for event in tf.train.summary_iterator(str(file)):
            for value in event.summary.value:
                if value.WhichOneof("value") == "simple_value":
                    found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_a_model_is_trained_evaluated_and_asked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = line(tmp_path, save_summary_steps=2, log_step_count_steps=2)
    with caplog.at_level(logging.INFO, "tensorflow"):
        assert model.train(rows(), steps=3) is model
        model.train(rows(), max_steps=3)
        model.train(rows(), max_steps=4)
    said = [record.getMessage() for record in caplog.records]
    assert "Skipping training since max_steps has already saved." in said
    assert any(line.startswith("loss = 24.0, step = ") for line in said)
    assert model.get_variable_names() == ["global_step", "slope"]
    assert model.get_variable_value("global_step") == 4
    assert model.latest_checkpoint() == str(tmp_path / "model.ckpt-4")
    assert (tmp_path / "checkpoint").read_text().startswith('model_checkpoint_path: "model.ckpt-4"')
    slope = model.get_variable_value("slope")
    assert abs(slope - 2) < 0.05
    results = model.evaluate(rows(1), name="all")
    assert results["global_step"] == 4
    np.testing.assert_allclose(results["error"], np.abs(X * slope - Y).mean(), rtol=1e-3)
    np.testing.assert_allclose(results["loss"], np.square(X * slope - Y).mean(), rtol=1e-3)
    found = list(model.predict(rows(1), predict_keys="next"))
    assert list(found[3]) == ["next"]
    np.testing.assert_allclose([one["next"] for one in found], X * slope + 1, rtol=1e-5)
    batches = list(model.predict(rows(1), yield_single_examples=False))
    assert [batch["y"].shape for batch in batches] == [(5,), (5,)]
    assert [step for step, _ in scalars(str(tmp_path))["loss"]] == [1, 3, 4]
    assert scalars(model.eval_dir("all"))["loss"] == [(4, results["loss"])]
    assert model.eval_dir() == str(tmp_path / "eval")


def test_predicting_leaves_the_default_graph_to_the_caller(tmp_path: Path) -> None:
    before = tf.get_default_graph()
    predictions = line(tmp_path).predict(rows(1))
    assert next(predictions) == {"y": 0.0, "next": 1.0}  # of a model that is as it is initialized
    assert tf.get_default_graph() is before
    predictions.close()


def test_a_data_set_is_begun_anew_in_every_session(tmp_path: Path) -> None:
    def data(mode: str, params: Any) -> Any:
        assert mode in ("train", "eval") and params == {"rate": 0.01}
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(5)

    model = line(tmp_path)
    model.train(data)
    model.train(data)
    assert model.get_variable_value("global_step") == 4
    assert model.evaluate(data, steps=1)["global_step"] == 4


def test_hooks_and_listeners_are_told(tmp_path: Path) -> None:
    told: list[Any] = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            told.append(global_step_value)

    class Hook(tf.train.SessionRunHook):
        def end(self, session: Any) -> None:
            told.append("end")

    line(tmp_path, save_checkpoints_steps=2).train(rows(), hooks=[Hook()], steps=3, saving_listeners=[Listener()])
    assert told == [0, 2, 3, "end"]
    never = line(tmp_path, save_checkpoints_steps=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook to use saving_listeners"):
        never.train(rows(), steps=1, saving_listeners=[Listener()])


def test_training_may_begin_with_another_model(tmp_path: Path) -> None:
    first = line(tmp_path / "first")
    first.train(rows(), steps=3)
    exported = first.export_saved_model(str(tmp_path / "exported"), receiver).decode()
    for source in (first.model_dir, exported, tf.estimator.WarmStartSettings(first.model_dir, "slope")):
        second = tf.estimator.Estimator(model_fn, tempfolder(tmp_path), params={"rate": 0.0}, warm_start_from=source)
        second.train(rows(), steps=1)
        assert second.get_variable_value("slope") == first.get_variable_value("slope")
    with pytest.raises(ValueError, match="warm_start_from must be a string or a WarmStartSettings"):
        tf.estimator.Estimator(model_fn, warm_start_from=3)


def test_a_model_that_is_not_trained_yet_is_what_it_will_begin_with(tmp_path: Path) -> None:
    first = line(tmp_path / "first")
    first.train(rows(), steps=3)
    slope = first.get_variable_value("slope")
    second = tf.estimator.Estimator(
        model_fn, str(tmp_path / "second"), params={"rate": 0.0}, warm_start_from=first.model_dir
    )
    assert second.evaluate(rows(1))["error"] == first.evaluate(rows(1))["error"]
    np.testing.assert_allclose([found["y"] for found in second.predict(rows(1))], X * slope, rtol=1e-6)
    exported = second.export_saved_model(str(tmp_path / "exported"), receiver).decode()
    assert tf.train.load_variable(f"{exported}/variables/variables", "slope") == slope


def test_a_model_may_have_a_local_init_op_of_its_own(tmp_path: Path) -> None:
    def own(features: Any, labels: Any, mode: str) -> Any:
        local = tf.get_local_variable("local", initializer=3.0)
        loss = local * tf.reduce_mean(features["x"] - labels)
        return tf.estimator.EstimatorSpec(mode, {}, loss, scaffold=tf.train.Scaffold(local_init_op=local.initializer))

    assert tf.estimator.Estimator(own, str(tmp_path)).evaluate(rows(1))["loss"] == 3 * np.mean(X - Y)


def tempfolder(parent: Path) -> str:
    return str(parent / str(len(list(parent.iterdir()))))


def test_metrics_can_be_added(tmp_path: Path) -> None:
    def more(labels: Any, predictions: Any) -> Any:
        return {"squared": tf.metrics.mean_squared_error(labels, predictions["y"])}

    model = tf.estimator.add_metrics(line(tmp_path), more)
    results = model.evaluate(rows(1))
    assert list(results) == ["error", "loss", "squared", "global_step"]
    assert results["squared"] == results["loss"] == np.square(Y).mean()
    with pytest.raises(ValueError, match=r"has following not expected args: \['other'\]"):
        tf.estimator.add_metrics(model, lambda other: {})


def test_an_export_has_the_checkpoint_and_files_beside_it(tmp_path: Path) -> None:
    model = line(tmp_path / "model")
    with pytest.raises(ValueError, match="Couldn't find trained model at"):
        model.export_saved_model(str(tmp_path / "out"), receiver)
    model.train(rows(), steps=2)
    (tmp_path / "words").write_text("a\nb\n")
    path = Path(model.export_saved_model(str(tmp_path / "out"), receiver, {"more/words": str(tmp_path / "words")}).decode())
    assert path.parent == tmp_path / "out" and path.name.isdigit()
    assert (path / "assets.extra" / "more" / "words").read_text() == "a\nb\n"
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], str(path))
        signature = loaded.signature_def["serving_default"]
        made = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [3.0]})
    np.testing.assert_allclose(made, [3 * model.get_variable_value("slope")], rtol=1e-6)
    again = model.export_savedmodel(str(tmp_path / "out"), receiver, as_text=True).decode()
    assert Path(again) > path and (Path(again) / "saved_model.pbtxt").exists()


def test_training_and_evaluation_can_be_exported_too(tmp_path: Path) -> None:
    model = line(tmp_path)
    model.train(rows(), steps=1)

    def supervised() -> Any:
        made = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf.constant([1.0])}, tf.constant([1.0])
        )
        return made()

    with pytest.raises(ValueError, match=r"No valid modes for exporting found\. Got dict_keys\(\['z'\]\)"):
        model.experimental_export_all_saved_models(str(tmp_path / "out"), {"z": receiver})
    receivers = {"infer": receiver, "train": supervised, "eval": supervised}
    path = model.experimental_export_all_saved_models(str(tmp_path / "out"), receivers).decode()
    for tag, key, output in (("serve", "serving_default", "next"), ("eval", "eval", "metrics/error/value")):
        with tf.Session(graph=tf.Graph()) as session:
            loaded = tf.saved_model.load(session, [tag], path)
            assert output in loaded.signature_def[key].outputs


class Overriding(tf.estimator.Estimator):
    def train(self) -> None: ...  # type: ignore[override]


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda model: model.train(rows(), steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda model: model.train(rows(), max_steps=0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda model: model.train(rows(), steps=1, max_steps=1), ValueError, "Can not provide both steps and max_steps."),
        (lambda model: model.train(rows(), hooks=[3]), TypeError, "Hooks must be a SessionRunHook, given: 3"),
        (lambda model: model.train(rows(), saving_listeners=[3]), TypeError, "must be a list of CheckpointSaverListener"),
        (lambda model: model.train(lambda: None), ValueError, "gave None"),
        (lambda model: model.train(lambda: (1, 2, 3)), ValueError, "as a len 2 tuple. It gave 3 elements"),
        (lambda model: model.train(lambda other: None), ValueError, "params, config and input_context, and it wants other"),
        (lambda model: model.train(3), TypeError, "input_fn must be a function"),
        (lambda model: model.get_variable_names(), ValueError, "Could not find trained model in model_dir"),
        (lambda model: next(model.predict(rows(1), ["z"])), ValueError, r"dict_keys\(\['y', 'next'\]\), provided \['z'\]\."),
        (lambda model: tf.estimator.Estimator(None), ValueError, "model_fn must be provided"),
        (lambda model: tf.estimator.Estimator(lambda labels: 1), ValueError, "must include features argument"),
        (lambda model: tf.estimator.Estimator(lambda features, z: 1), ValueError, r"not expected args: \['z'\]"),
        (
            lambda model: tf.estimator.Estimator(lambda features: 1, params={"a": 1}),
            ValueError,
            r"does not include params argument, but params \({'a': 1}\)",
        ),
        (lambda model: tf.estimator.Estimator(model_fn, config=3), ValueError, "config must be an instance of `RunConfig`"),
        (
            lambda model: tf.estimator.Estimator(model_fn, "a", tf.estimator.RunConfig("b")),
            ValueError,
            "In constructor: 'a', in `RunConfig`: 'b'",
        ),
        (lambda model: Overriding(model_fn), ValueError, r"does override \['train'\]"),
        (
            lambda model: type("E", (tf.estimator.Estimator,), {"_call_model_fn": 1, "_mine": 2, "config": 3})(model_fn),
            ValueError,
            r"does override \['_call_model_fn', 'config'\]",
        ),
        (lambda model: model.export_saved_model("a", None), ValueError, "An input_receiver_fn must be defined"),
        (lambda model: model.export_savedmodel("a", None), ValueError, "An input_receiver_fn must be defined"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, action: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        action(line(tmp_path))


def test_libraries_may_allow_what_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "_assert_members_are_not_overridden"
    monkeypatch.setattr(tf.estimator.Estimator, name, staticmethod(lambda estimator: None))
    assert Overriding(model_fn, str(tmp_path))._model_dir == str(tmp_path)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda features: 1, "model_fn does not take labels, but input_fn returns labels"),
        (lambda features, labels: 1, "model_fn should return an EstimatorSpec. Given: 1"),
        (
            lambda features, labels, mode: tf.estimator.EstimatorSpec(
                mode, loss=tf.constant(1.0), eval_metric_ops={"loss": tf.metrics.mean(1.0)}
            ),
            'Metric with name "loss" is not allowed',
        ),
    ],
)
def test_model_functions_are_held_to_their_word(tmp_path: Path, function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.estimator.Estimator(function, str(tmp_path)).evaluate(rows(1))


@pytest.mark.parametrize(("shared", "table"), [(False, "VarHandleOp"), (True, "VariableV2")])
def test_variables_of_deep_models_are_resources_except_shared_tables(shared: bool, table: str) -> None:
    words = tf.feature_column.categorical_column_with_identity("x", 3)
    embed = tf.feature_column.embedding_column
    columns = tf.feature_column.shared_embedding_columns([words], 2) if shared else [embed(words, 2)]
    deep = tf.estimator.DNNRegressor([5], columns, batch_norm=True)
    deep.model_fn({"x": tf.constant([[0], [2]])}, tf.constant([[1.0], [2.0]]), tf.estimator.ModeKeys.EVAL, deep.config)
    assert [v.op.type for v in tf.global_variables("dnn/input")] == [table]
    rest = tf.global_variables("dnn/hidden") + tf.global_variables("dnn/logits")
    assert {v.op.type for v in rest} == {"VarHandleOp"} and len(rest) == 8

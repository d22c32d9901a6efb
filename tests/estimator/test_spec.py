"""`tf.estimator.EstimatorSpec` and what is exported: what they take, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

import tfexp as tf
from tfexp.estimator.export_outputs import EvalOutput

Spec, export = tf.estimator.EstimatorSpec, tf.estimator.export


def one() -> Any:
    return tf.constant(1.0)


def foreign() -> Any:
    with tf.Graph().as_default():
        return tf.constant(1.0)


def test_a_loss_becomes_a_scalar_and_predictions_an_output() -> None:
    assert Spec("eval", loss=tf.constant([1.0])).loss.shape == ()
    assert Spec("eval", loss=tf.placeholder(tf.float32, [None])).loss.shape == ()
    outputs = Spec("infer", predictions={"p": one()}).export_outputs
    assert list(outputs) == ["serving_default"] and list(outputs["serving_default"].outputs) == ["p"]
    both = Spec("infer", one(), export_outputs={"a": export.PredictOutput({("x", "y"): one()})}).export_outputs
    assert both["serving_default"] is both["a"] and list(both["a"].outputs) == ["x/y"]


def test_only_predictions_outputs_are_looked_at() -> None:
    outputs = {k: export.PredictOutput(one()) for k in "ab"}
    assert Spec("eval", loss=one(), export_outputs=outputs).export_outputs is outputs
    assert Spec("train", loss=one(), train_op=tf.no_op()).export_outputs is None
    assert Spec("infer", one(), export_outputs={}).export_outputs == {}


def test_fields_put_in_their_place_are_checked() -> None:
    spec = Spec("eval", loss=one())
    assert spec._replace(loss=tf.constant([3.0]), mode="eval").loss.shape == ()
    with pytest.raises(ValueError, match=r"mode of EstimatorSpec cannot be changed\."):
        spec._replace(mode="train", train_op=tf.no_op())
    with pytest.raises(TypeError, match="loss must be Tensor, given: 3"):
        spec._replace(loss=3)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Spec("train", train_op=tf.no_op()), ValueError, "Missing loss"),
        (lambda: Spec("train", loss=one()), ValueError, "Missing train_op"),
        (lambda: Spec("infer"), ValueError, "Missing predictions"),
        (lambda: Spec("eval", loss=tf.constant([1.0, 2.0])), ValueError, "Loss must be scalar"),
        (lambda: Spec("eval", loss=2.0), TypeError, "loss must be Tensor, given: 2.0"),
        (lambda: Spec("train", loss=one(), train_op=3), TypeError, "train_op must be Operation or Tensor, given: 3"),
        (lambda: Spec("infer", {"a": 3}), TypeError, r"predictions\[a\] must be Tensor, given: 3"),
        (lambda: Spec("eval", loss=one(), eval_metric_ops=3), TypeError, "eval_metric_ops must be a dict, given: 3"),
        (lambda: Spec("eval", loss=one(), eval_metric_ops={"a": (one(), 3)}), TypeError, "tuples, given: .* for key: a"),
        (lambda: Spec("eval", loss=one(), evaluation_hooks=[1]), TypeError, "All hooks must be SessionRunHook"),
        (lambda: Spec("eval", loss=one(), scaffold=1), TypeError, "scaffold must be tf.train.Scaffold. Given: 1"),
        (lambda: Spec("infer", one(), export_outputs=1), TypeError, "export_outputs must be dict, given: 1"),
        (lambda: Spec("infer", one(), export_outputs={"a": 1}), TypeError, "must be ExportOutput objects"),
        (
            lambda: Spec("infer", one(), export_outputs={k: export.PredictOutput(one()) for k in "ab"}),
            ValueError,
            "none of them is specified as the default",
        ),
        (lambda: Spec("eval", loss=foreign()), ValueError, 'loss with "Const:0" must be from the default graph'),
        (lambda: export.ClassificationOutput(), ValueError, "with empty arguments"),
        (lambda: export.ClassificationOutput(scores=tf.constant(1)), ValueError, "scores must be a float32 Tensor"),
        (lambda: export.ClassificationOutput(classes=one()), ValueError, "classes must be a string Tensor"),
        (lambda: export.RegressionOutput(tf.constant("a")), ValueError, "Regression output value must be a float32 Tensor"),
        (lambda: export.PredictOutput({1: one()}), ValueError, "key must be a string; got 1"),
        (lambda: export.ServingInputReceiver(None, one()), ValueError, "features must be defined"),
        (lambda: export.ServingInputReceiver({"a": 3}, one()), ValueError, "feature a must be a Tensor"),
        (lambda: export.ServingInputReceiver(one(), {1: one()}), ValueError, "receiver_tensor keys must be strings: 1"),
        (lambda: export.ServingInputReceiver(one(), one(), 3), ValueError, "alternatives must be a dict: 3"),
        (lambda: export.TensorServingInputReceiver({"a": one()}, one()), ValueError, "feature must be a Tensor"),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_receivers_make_placeholders_and_parse() -> None:
    features = {"x": tf.placeholder(tf.float32, [None, 2], name="x")}
    raw = export.build_raw_serving_input_receiver_fn(features, default_batch_size=3)()
    assert raw.features["x"].shape == (3, 2) and raw.receiver_tensors == raw.features
    parsed = export.build_parsing_serving_input_receiver_fn({"n": tf.FixedLenFeature([2], tf.int64)})()
    assert parsed.receiver_tensors["examples"].name == "input_example_tensor:0"
    assert parsed.features["n"].shape.as_list() == [None, 2]
    tensors = export.TensorServingInputReceiver(one(), one(), {"other": tf.constant("a")})
    assert tensors.receiver_tensors_alternatives["other"]["input"].dtype == tf.string
    specs = tf.estimator.regressor_parse_example_spec([tf.feature_column.numeric_column("a")], "y", weight_column="w")
    assert {key: value.dtype for key, value in specs.items()} == dict.fromkeys("ayw", tf.float32)
    with pytest.raises(ValueError, match=r"label should not be used as feature\. label_key: a"):
        tf.estimator.classifier_parse_example_spec([tf.feature_column.numeric_column("a")], "a")
    with pytest.raises(ValueError, match="weight_column should not be used as feature"):
        tf.estimator.classifier_parse_example_spec([tf.feature_column.numeric_column("a")], "y", weight_column="a")


def test_what_is_exported_of_an_evaluation() -> None:
    with tf.Graph().as_default():
        value, done, text = tf.constant([1.0], name="value"), tf.no_op(), tf.placeholder(tf.string)
        output = EvalOutput(
            {"l": value}, {"predictions/p": value, "q": value}, {("a", "b"): (value, done), "c": (value, value)}
        )
        assert output.loss == {"loss/l": value}
        assert output.predictions == {"predictions/p": value, "predictions/q": value}
        waited = output.metrics["metrics/a/b/update_op"]
        assert waited.op.control_inputs == [done] and waited.shape == [0]
        assert sorted(output.metrics) == [f"metrics/{n}/{what}" for n in ("a/b", "c") for what in ("update_op", "value")]
        signature = output.as_signature_def({"x": text})
        assert set(signature.outputs) == {*output.loss, *output.predictions, *output.metrics}
        assert EvalOutput().loss is EvalOutput().predictions is EvalOutput().metrics is None


def test_metrics_of_keras_are_exported() -> None:
    with tf.Graph().as_default():
        mean = tf.keras.metrics.Mean()
        mean.update_state([1.0, 3.0])
        output = EvalOutput(metrics={"mean": mean})
        with tf.Session() as session:
            session.run([v.initializer for v in mean.variables])
            session.run(output.metrics["metrics/mean/update_op"])
            assert session.run(output.metrics["metrics/mean/value"]) == 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EvalOutput("a"), "loss output value must be a Tensor; got a."),
        (lambda: EvalOutput(predictions={5: one()}), "predictions output key must be a string; got 5."),
        (lambda: EvalOutput(metrics={"m": ("x", one())}), "metrics/m output value must be a Tensor; got x."),
        (lambda: EvalOutput(metrics={"m": (one(), "x")}), "metrics/m update_op must be a Tensor or Operation; got x."),
        (lambda: EvalOutput(metrics={5: (one(), one())}), "metrics output key must be a string; got 5."),
    ],
)
def test_what_cannot_be_exported_of_an_evaluation(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message

"""The rows of the table of stand-ins (`places`) for `tensorflow_estimator.python.estimator`.

1.15 has the same modules below `tensorflow.python.estimator`.
"""

from __future__ import annotations

from tfexp.stand_ins.places_of_data import renamed

_NAMES = "tfexp.stand_ins.estimator_names"
_EXPORT = (
    "tf.estimator.export tf.estimator.experimental tfexp.estimator.receivers tfexp.estimator.export_outputs "
    + renamed(_NAMES, SINGLE_FEATURE_DEFAULT_NAME="SINGLE_FEATURE", SINGLE_LABEL_DEFAULT_NAME="SINGLE_LABEL")
    + renamed(_NAMES, SINGLE_RECEIVER_DEFAULT_NAME="SINGLE_RECEIVER")
)

SERIES_ROOM = "tfexp.contributed.timeseries"
# Modules of time series, which are in `tensorflow.contrib` and, in part, among the canned estimators.
SERIES = {
    **{name: f"{SERIES_ROOM}.{name}" for name in ("estimators", "feature_keys", "head", "saved_model_utils")},
    "ar_model": f"{SERIES_ROOM}.ar_model {SERIES_ROOM}.prediction_networks",
    "math_utils": f"{SERIES_ROOM}.input_statistics {SERIES_ROOM}.model",
    "model": f"{SERIES_ROOM}.model {SERIES_ROOM}.sequential_model",
    "model_utils": renamed(f"{SERIES_ROOM}.continuing", canonicalize_times_or_steps_from_output="times_to_predict"),
    "state_management": f"{SERIES_ROOM}.states",
}
_PUBLISHED = (".experimental", ".export", ".inputs", ".tpu")

ESTIMATOR = {
    **{f"api._v1.estimator{part}": f"tf.estimator{part}" for part in ("", *_PUBLISHED)},
    **{f"api._v2.estimator{part}": f"tf.compat.v2.estimator{part}" for part in ("", *_PUBLISHED[:-1])},
    "canned.baseline": "tf.estimator",
    "canned.boosted_trees": "tf.estimator",
    "canned.dnn": "tf.estimator tf.estimator.experimental",
    "canned.dnn_linear_combined": "tf.estimator",
    "canned.head": _NAMES + " " + renamed("tfexp.contributed.older_heads", _Head="OlderHeadBase"),
    "canned.kmeans": "tf.estimator.experimental tfexp.estimator.canned.kmeans",
    "canned.linear": "tf.estimator tf.estimator.experimental",
    "canned.metric_keys": _NAMES,
    "canned.optimizers": _NAMES,
    "canned.parsing_utils": "tf.estimator",
    "canned.prediction_keys": _NAMES,
    "canned.saved_model_estimator": "tf.contrib.estimator",
    **{f"canned.timeseries.{key}": places for key, places in SERIES.items() if key != "ar_model"},
    "canned.timeseries.ar_model": f"tfexp.stand_ins.estimator_series {SERIES_ROOM}.prediction_networks",
    "early_stopping": "tf.estimator.experimental "
    + renamed("tfexp.estimator.eval_metrics", read_eval_metrics="metrics_of_folder")
    + renamed("tfexp.estimator.early_stopping", _StopOnPredicateHook="StopOnPredicateHook")
    + renamed("tfexp.estimator.early_stopping", _CheckForStoppingHook="CheckForStoppingHook"),
    "estimator": "tf.estimator tf.estimator:EstimatorV2=Estimator",
    "estimator_lib": "tf.estimator",
    "export.export": _EXPORT,
    "export.export_lib": _EXPORT,
    "export.export_output": _EXPORT,
    "exporter": "tf.estimator tfexp.estimator.exporters:_loss_smaller=loss_smaller",
    "extenders": "tf.estimator",
    "head.base_head": "tf.estimator",
    "head.binary_class_head": "tf.estimator",
    "head.head_utils": _NAMES,
    "head.multi_class_head": "tf.estimator",
    "head.multi_head": "tf.estimator",
    "head.multi_label_head": "tf.estimator",
    "head.regression_head": "tf.estimator",
    "hooks.basic_session_run_hooks": "tf.train",
    "hooks.fake_summary_writer": "tfexp.stand_ins.fake_summary_writer",
    "hooks.hooks": "tf.estimator.experimental",
    "hooks.session_run_hook": "tf.train",
    "inputs.inputs": "tf.estimator.inputs",
    "inputs.numpy_io": "tf.estimator.inputs",
    "inputs.pandas_io": "tf.estimator.inputs",
    "keras": "tfexp.estimator.keras_models",
    "mode_keys": "tf.estimator",
    "model_fn": "tf.estimator tf.estimator.experimental "
    + renamed(_NAMES, LOSS_METRIC_KEY="LOSS", AVERAGE_LOSS_METRIC_KEY="AVERAGE_LOSS"),
    "run_config": "tf.estimator tfexp.stand_ins.estimator_names "
    + renamed("tfexp.estimator.run_config", get_default_session_config="default_session_config"),
    "tpu.tpu_config": "tf.estimator.tpu tfexp.estimator.tpu.config",
    "tpu.tpu_estimator": "tf.estimator.tpu tfexp.estimator.tpu.config tfexp.estimator.tpu.estimator",
    "training": "tf.estimator",
    "util": "tf.estimator tfexp.stand_ins.callables tfexp.stand_ins.estimator_inputs",
}

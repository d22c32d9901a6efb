"""SavedModels of estimators, under the older names of what exports them. Source: `tf.contrib.estimator`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.estimator.estimator import Estimator
from tfexp.estimator.model import input_parts
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.receivers import SupervisedInputReceiver, build_raw_supervised_input_receiver_fn
from tfexp.graph.graph import Graph


def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn: Callable[[], object],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """As `tf.estimator.Estimator.export_saved_model`."""
    return estimator.export_saved_model(export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode)


def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[[], object]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """As `tf.estimator.Estimator.experimental_export_all_saved_models`."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """A function of a receiver of features and labels as `input_fn(**input_fn_args)` gives them, in placeholders."""
    with Graph().as_default():
        found = input_parts(input_fn(**input_fn_args), input_fn)
    return build_raw_supervised_input_receiver_fn(found.features, found.labels)

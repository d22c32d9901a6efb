"""`tensorflow.python.saved_model.model_utils.export_utils`: signatures and folders of exported models. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator.export_outputs import EvalOutput, ExportOutput, PredictOutput, TrainOutput, with_default
from tfexp.estimator.saved_models import new_folder, signatures_of, temporary_folder
from tfexp.stand_ins.mode_keys import KerasModeKeys, ModeKeyMap, is_predict, is_train
from tfexp.train import saved_model_names as names
from tfexp.train.signatures import is_valid_signature

_log = get_logger()

SINGLE_FEATURE_DEFAULT_NAME, SINGLE_RECEIVER_DEFAULT_NAME, SINGLE_LABEL_DEFAULT_NAME = "feature", "input", "label"
EXPORT_TAG_MAP = ModeKeyMap(
    **{
        KerasModeKeys.PREDICT: [names.SERVING],
        KerasModeKeys.TRAIN: [names.TRAINING],
        KerasModeKeys.TEST: [names.EVAL],
    }
)
SIGNATURE_KEY_MAP = ModeKeyMap(
    **{
        KerasModeKeys.PREDICT: names.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
        KerasModeKeys.TRAIN: names.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
        KerasModeKeys.TEST: names.DEFAULT_EVAL_SIGNATURE_DEF_KEY,
    }
)


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Any,
    receiver_tensors_alternatives: Mapping[str | None, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """A SignatureDef for each output that fits what is received: `OUTPUT`, and `ALTERNATIVE:OUTPUT` for other receivers.

    serving_only: only those that a server answers. A tensor alone is received as `input`. ValueError unless
    `export_outputs` is a dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not {type(export_outputs)}")
    receivers = {f"{name or 'None'}:": tensors for name, tensors in (receiver_tensors_alternatives or {}).items()}
    given = {prefix: _named(tensors) for prefix, tensors in {"": receiver_tensors, **receivers}.items()}
    signatures, excluded = signatures_of(given, {key or "None": output for key, output in export_outputs.items()})
    for name, why in excluded.items():
        _log.info("The export leaves out the signature %s: %s", name, why)
    return {name: one for name, one in signatures.items() if not serving_only or is_valid_signature(one)}


def _named(tensors: Any) -> Any:
    return tensors if isinstance(tensors, dict) else {SINGLE_RECEIVER_DEFAULT_NAME: tensors}


def get_timestamped_export_dir(export_dir_base: str | bytes) -> bytes:
    """The path of a folder, which is not made, named after the time; not one that exists."""
    return os.fsencode(new_folder(os.fsdecode(export_dir_base)))


def get_temp_export_dir(timestamped_export_dir: str | bytes) -> bytes:
    """The folder beside it, `temp-NAME`, that an export is written to first."""
    return os.fsencode(temporary_folder(os.fsdecode(timestamped_export_dir)))


def export_outputs_for_mode(
    mode: str, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None, metrics: Any = None
) -> dict[str, ExportOutput]:
    """What a model gives in that mode, by the keys of its signatures. ValueError for what is no mode."""
    key = SIGNATURE_KEY_MAP[mode]
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if is_train(mode) else EvalOutput
    return {key: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs, one of them the default; without any, the predictions.

    TypeError for what is no dict of ExportOutputs, ValueError for several of which none is the default.
    """
    if export_outputs is None:
        return {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    return with_default(export_outputs)

"""How an Estimator is exported: a checkpoint and the graphs to serve it, as a SavedModel. Source: TF 1.15."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator.export_outputs import EvalOutput, ExportOutput, TrainOutput
from tfexp.estimator.model import Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.collections import GraphKeys
from tfexp.runtime.session import Session
from tfexp.train import saved_model_names as names
from tfexp.train.saved_model_builder import SavedModelBuilder
from tfexp.train.saver import Saver
from tfexp.train.scaffold import Scaffold

_log = get_logger()

# In the order in which graphs are written: mode -> the tag of its graph.
TAGS = {ModeKeys.TRAIN: names.TRAINING, ModeKeys.EVAL: names.EVAL, ModeKeys.PREDICT: names.SERVING}
_TEMPORARY = "temp-"


def export(
    model: Model,
    base: str,
    receivers: Mapping[str, Callable[[], Any]],
    checkpoint_path: str,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
) -> bytes:
    """The path of a new folder below `base`, called after the time. It has its name only when it is complete."""
    strange = sorted(set(receivers) - set(TAGS))
    if strange or not receivers:
        raise ValueError(f"No valid modes for exporting found. Got {dict(receivers).keys()}. Modes are {', '.join(TAGS)}.")
    folder = new_folder(base)
    temporary = temporary_folder(folder)
    builder = SavedModelBuilder(temporary)
    first = True
    for mode in TAGS:
        if mode in receivers:
            _add(model, builder, mode, receivers[mode], checkpoint_path, first, strip_default_attrs)
            first = False
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
    os.rename(temporary, folder)
    return os.fsencode(folder)


def new_folder(base: str) -> str:
    """`base/SECONDS`; a second that is taken is passed over. It is not made."""
    stamp = int(time.time())
    while any(os.path.exists(os.path.join(base, f"{prefix}{stamp}")) for prefix in ("", _TEMPORARY)):
        stamp += 1
    return os.path.join(base, str(stamp))


def temporary_folder(folder: str) -> str:
    """Where an export is written before it is complete."""
    base, name = os.path.split(folder)
    return os.path.join(base, _TEMPORARY + name)


def timestamped(base: str) -> list[str]:
    """The complete exports below a folder, the oldest first."""
    found = os.listdir(base) if os.path.isdir(base) else []
    return [os.path.join(base, name) for name in sorted(filter(str.isdigit, found), key=int)]


def _add(
    model: Model,
    builder: SavedModelBuilder,
    mode: str,
    receiver_fn: Callable[[], Any],
    checkpoint_path: str,
    first: bool,
    strip_default_attrs: bool,
) -> None:
    with model.graph() as graph:
        receiver = receiver_fn()
        spec = model.spec(receiver.features, getattr(receiver, "labels", None), mode)
        signatures = _signatures(receiver, _outputs(spec, mode))
        if spec.train_op is not None:
            graph.add_to_collection(names.TRAIN_OP_KEY, spec.train_op)
        saver = spec.scaffold.saver or Saver(sharded=True)
        common: dict[str, Any] = {
            "tags": [TAGS[mode]],
            "signature_def_map": signatures,
            "assets_collection": graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            "main_op": spec.scaffold.local_init_op or Scaffold.default_local_init_op(),
            "strip_default_attrs": strip_default_attrs,
            "saver": saver,
        }
        if not first:
            builder.add_meta_graph(**common)
            return
        with Session(config=model.config.session_config) as session:
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(session, **common)


def _outputs(spec: EstimatorSpec, mode: str) -> Mapping[str, ExportOutput]:
    if mode == ModeKeys.PREDICT:
        return spec.export_outputs or {}
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    return {mode: kind(spec.loss, spec.predictions, spec.eval_metric_ops)}


def _signatures(receiver: Any, outputs: Mapping[str, ExportOutput]) -> dict[str, Any]:
    """A signature for each output that can answer what is received; ValueError where there is none at all."""
    alternatives = receiver.receiver_tensors_alternatives or {}
    given = {"": receiver.receiver_tensors, **{f"{name}:": tensors for name, tensors in alternatives.items()}}
    signatures, excluded = signatures_of(given, outputs)
    _log.info("Signatures of the export: %s", ", ".join(sorted(signatures)) or "none")
    for key, why in excluded.items():
        _log.warning("The export leaves out the signature %s: %s", key, why)
    if not signatures:
        said = "; ".join(f"{key}: {why}" for key, why in excluded.items())
        raise ValueError(f"No signature of the model fits its receiver_tensors. {said}")
    return signatures


def signatures_of(
    given: Mapping[str, Mapping[str, Any]], outputs: Mapping[str, ExportOutput]
) -> tuple[dict[str, Any], dict[str, str]]:
    """({name: signature}, {name: why there is none}) of each output with each of the `given` receivers.

    The name is the receiver's, then the output's.
    """
    signatures, excluded = {}, {}
    for prefix, tensors in given.items():
        for key, output in outputs.items():
            try:
                signatures[prefix + key] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded[prefix + key] = str(error)
    return signatures, excluded

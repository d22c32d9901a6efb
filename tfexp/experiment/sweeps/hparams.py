"""TensorBoard's HParams tab: what was varied and how each trial ended, beside the trials' own events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.experiment.sweeps.results import Row
from tfexp.experiment.sweeps.schema import Sweep

__all__ = ["write_hparams"]

_SUFFIX = ".hparams"


def write_hparams(folder: Path, sweep: Sweep, rows: Sequence[Row]) -> None:
    """Into the sweep's folder, what the hyperparameters and the metrics are; into each trial's, its values and its status.
    Those of an earlier stay are replaced. The metrics' values are the scalars that the trials wrote."""
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    values = {row.number: {name: _read(text) for name, text in row.varied.items()} for row in rows}
    names = list(dict.fromkeys(name for row in rows for name in row.varied))
    experiment = api_pb2.Experiment(description=f"sweep of {', '.join(names)}")
    for name in names:
        info = experiment.hparam_infos.add(
            name=name, type=_type_of([of[name] for of in values.values() if name in of], api_pb2)
        )
        for value in dict.fromkeys(of[name] for of in values.values() if name in of):
            _set(info.domain_discrete.values.add(), value)
    metrics = list(
        dict.fromkeys(
            f"{part}/{name}" for row in rows if row.numbers for part in ("test", "train") for name in row.numbers[part]
        )
    )
    first = f"{sweep.part}/{sweep.metric_name}"
    for tag in sorted(metrics, key=lambda tag: tag != first):
        experiment.metric_infos.add(name=api_pb2.MetricName(tag=tag), display_name=tag)
    _write(folder, [(metadata.EXPERIMENT_TAG, plugin_data_pb2.HParamsPluginData(experiment=experiment))])
    for row in rows:
        path = folder / row.folder
        if not path.is_dir() or row.status == "waiting":
            continue
        start = plugin_data_pb2.SessionStartInfo(group_name=f"point {row.point}")
        for name, value in values[row.number].items():
            _set(start.hparams[name], value)
        ended = api_pb2.STATUS_FAILURE if row.numbers is None else api_pb2.STATUS_SUCCESS
        end = plugin_data_pb2.SessionEndInfo(status=ended)
        _write(
            path,
            [
                (metadata.SESSION_START_INFO_TAG, plugin_data_pb2.HParamsPluginData(session_start_info=start)),
                (metadata.SESSION_END_INFO_TAG, plugin_data_pb2.HParamsPluginData(session_end_info=end)),
            ],
        )


def _write(folder: Path, contents: Sequence[tuple[str, Any]]) -> None:
    from tensorboard.plugins.hparams import metadata

    for earlier in folder.glob(f"events.*{_SUFFIX}"):
        earlier.unlink()
    writer = tf.summary.FileWriter(str(folder), filename_suffix=_SUFFIX)
    for tag, content in contents:
        value = tf.Summary.Value(tag=tag, metadata=metadata.create_summary_metadata(content), tensor=metadata.NULL_TENSOR)
        writer.add_summary(tf.Summary(value=[value]), 0)
    writer.close()


def _read(text: str) -> float | bool | str:
    """A value as an override has it: a number, true or false, or a text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text


def _type_of(values: list[Any], api: Any) -> Any:
    for kind, name in ((bool, "DATA_TYPE_BOOL"), (float, "DATA_TYPE_FLOAT64")):
        if all(isinstance(value, kind) for value in values):
            return getattr(api, name)
    return api.DATA_TYPE_STRING


def _set(target: Any, value: float | bool | str) -> None:
    if isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, float):
        target.number_value = value
    else:
        target.string_value = value

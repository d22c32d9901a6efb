"""What a server of a model of series receives. Source: `tf.contrib.timeseries.TimeSeriesRegressor`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures
from tfexp.contributed.timeseries.head import state_to_dictionary
from tfexp.contributed.timeseries.model import TimeSeriesModel, replicate_state
from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.estimator.receivers import ServingInputReceiver
from tfexp.feature_column import numeric_column
from tfexp.feature_column.model import make_parse_example_spec
from tfexp.graph.graph import Graph
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import placeholder, placeholder_with_default
from tfexp.ops.cast import cast
from tfexp.ops.parsing import FixedLenFeature, parse_example

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def raw_receiver(model: TimeSeriesModel, batch_size: int | None, length: int | None) -> ServingInputReceiver:
    """Each feature [batch, window, ...] and each part of the state in a placeholder; values need not be fed, nor states."""
    times = placeholder(dtypes.int64, [batch_size, length], _TIMES)
    no_values = zeros([batch_size or 0, length or 0, model.num_features], model.dtype)
    received = {
        _TIMES: times,
        _VALUES: placeholder_with_default(no_values, [batch_size, length, model.num_features], _VALUES),
    }
    for name, (dtype, dims) in _exogenous_features(model).items():
        received[name] = placeholder(dtype, [batch_size, length, *dims], name)
    received |= _state_placeholders(model, shape(times)[0], batch_size)
    return ServingInputReceiver(received, received)


def parsing_receiver(
    model: TimeSeriesModel, filtering_length: int, length: int, values_length: int, values_dtype: Any, batch_size: int | None
) -> ServingInputReceiver:
    """Serialized examples, each a series of `length` times of which `filtering_length` have values.

    values_length: how many values an example has. ValueError for exogenous features of varying length that are no strings.
    """
    columns = [
        *model.exogenous_feature_columns,
        numeric_column(_TIMES, dtype=dtypes.int64),
        numeric_column(_VALUES, shape=(model.num_features,), dtype=values_dtype),
    ]
    specs = {}
    for name, spec in make_parse_example_spec(columns).items():
        times = values_length if name == _VALUES else length
        if isinstance(spec, FixedLenFeature):
            specs[name] = spec._replace(shape=(times, *spec.shape))
        elif spec.dtype == dtypes.string:
            specs[name] = FixedLenFeature((times,), dtypes.string)
        else:
            raise ValueError(f"VarLenFeatures not supported, got {spec} for key {name}")
    examples = placeholder(dtypes.string, [batch_size], "input")
    features = parse_example(examples, specs)
    features[_TIMES] = squeeze(features[_TIMES], axis=-1)
    features[_VALUES] = cast(features[_VALUES], model.dtype)[:, :filtering_length]
    features |= _state_placeholders(model, shape(features[_TIMES])[0], batch_size)
    return ServingInputReceiver(features, {"examples": examples})


def _exogenous_features(model: TimeSeriesModel) -> dict[str, tuple[Any, list[int | None]]]:
    """The dtype and the dims at one time of each."""
    with Graph().as_default():
        parsed = model.parsed_exogenous_features()
    return {name: (tensor.dtype, tensor.shape.with_rank_at_least(1).as_list()[1:]) for name, tensor in parsed.items()}


def _state_placeholders(model: TimeSeriesModel, batch_size: Any, static_batch_size: int | None) -> dict[str, Any]:
    """The parts of the state, of zeros where they are not fed."""
    with Graph().as_default():
        model.initialize_graph()
        parts = {name: (part.dtype, part.shape) for name, part in state_to_dictionary(model.get_start_state()).items()}
    return {
        name: placeholder_with_default(
            replicate_state(zeros(dims, dtype), batch_size), TensorShape([static_batch_size]).concatenate(dims), name
        )
        for name, (dtype, dims) in parts.items()
    }

"""`tf.contrib.estimator.forward_features`: predictions that say which example they are of. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.estimator.estimator import Estimator
from tfexp.estimator.export_outputs import PredictOutput
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import is_sparse
from tfexp.ops.sparse import sparse_tensor_to_dense


def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """An Estimator of the same folder, whose predictions have the features `keys` (None: all) too.

    They are served too, where predictions are served by name. Features that are sparse become dense with
    `sparse_default_values`. ValueError for a feature that is not there, or that has the name of a prediction, or is sparse
    and has no default; TypeError for keys that are no texts.
    """
    wanted = [keys] if isinstance(keys, str) else None if keys is None else list(keys)
    if any(not isinstance(key, str) for key in wanted or ()):
        raise TypeError(f"keys must be a text or a list of texts. Given: {keys!r}")
    inner = estimator.model_fn

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = inner(features, labels, mode, config)
        if not isinstance(spec.predictions, Mapping):
            raise ValueError(f"Predictions must be a dict to have features beside them. Given: {spec.predictions}")
        own = {key: _dense(features, key, sparse_default_values or {}) for key in (features if wanted is None else wanted)}
        both = sorted(set(own) & set(spec.predictions))
        if both:
            raise ValueError(f"Features and predictions have the same names: {', '.join(both)}")
        outputs = {
            key: PredictOutput({**output.outputs, **own}) if type(output) is PredictOutput else output
            for key, output in (spec.export_outputs or {}).items()
        }
        changed = {"predictions": {**spec.predictions, **own}, "export_outputs": outputs or None}
        return EstimatorSpec(**{**spec._asdict(), **changed})

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _dense(features: Mapping[str, Any], key: str, defaults: Mapping[str, Any]) -> Any:
    if key not in features:
        raise ValueError(f"There is no feature {key!r}: there are {', '.join(features)}")
    if not is_sparse(features[key]):
        return convert_to_tensor(features[key])
    if key not in defaults:
        raise ValueError(f"The feature {key!r} is sparse: give its default value in sparse_default_values")
    return sparse_tensor_to_dense(features[key], default_value=defaults[key])

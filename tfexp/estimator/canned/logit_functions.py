"""`tf.estimator.experimental.call_logit_fn`: a function from features to logits, called with what it takes. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.estimator.arguments import argument_names, call_with_wanted
from tfexp.graph.tensor import Tensor


def call_logit_fn(logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any) -> Any:
    """What `logit_fn` gives for those of the arguments that it takes: a tensor, or a dict of them.

    ValueError for a function without `features`, and for what is no tensor.
    """
    if "features" not in argument_names(logit_fn):
        raise ValueError(f"logit_fn ({logit_fn}) must include features argument.")
    logits = call_with_wanted(logit_fn, features=features, mode=mode, params=params, config=config)
    parts = logits.values() if isinstance(logits, Mapping) else [logits]
    if not all(isinstance(part, Tensor) for part in parts):
        raise ValueError(f"model_fn should return a Tensor or a dictionary of Tensors. Given: {logits}")
    return logits

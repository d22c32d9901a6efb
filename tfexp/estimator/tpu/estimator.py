"""`tf.estimator.tpu.TPUEstimator`, as it is without TPUs: an Estimator whose functions are told the batch size.

Source: TF 1.15, with `use_tpu=False`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.core.log import get_logger
from tfexp.estimator.arguments import argument_names
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.model import Input, Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.estimator.tpu.config import ExportSavedModelApiVersion, RunConfig, logged_every
from tfexp.estimator.tpu.spec import TPUEstimatorSpec
from tfexp.estimator.warm_starting import WarmStartSettings
from tfexp.train.watching_hooks import StepCounterHook

_log = get_logger()
_RESERVED = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An Estimator whose `params` have the mode's `batch_size` (where one was given), and for the model `use_tpu`: False.

    `model_fn` and the input functions have to take `params`; `model_fn` may give a TPUEstimatorSpec. While it trains, it
    logs and records `examples/sec`. There are no TPUs here: with `use_tpu` all that would run on one is a RuntimeError, as
    in TensorFlow without them; evaluation is not, with `eval_on_tpu=False`. SavedModels are the CPU's: `export_to_tpu`,
    `batch_axis`, `embedding_config_spec` and `export_saved_model_api_version` say nothing.
    ValueError for a `config` that is no `tf.estimator.tpu.RunConfig`, for reserved names in `params`, and, with `use_tpu`,
    without `train_batch_size`.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: WarmStartSettings | str | None = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: ExportSavedModelApiVersion = ExportSavedModelApiVersion.V1,
    ):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tf.estimator.tpu.RunConfig`")
        if params is not None and any(name in params for name in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if use_tpu and train_batch_size is None:
            raise ValueError("`train_batch_size` cannot be `None`")
        if model_fn is None:
            raise ValueError("model_fn must be provided to TPUEstimator.")
        # The model's own hook logs the speed.
        super().__init__(
            _giving_plain_specs(model_fn), model_dir, config.replace(log_step_count_steps=None), params, warm_start_from
        )
        on_tpu = {ModeKeys.TRAIN, ModeKeys.PREDICT} | ({ModeKeys.EVAL} if eval_on_tpu else set()) if use_tpu else set()
        self._model: Model = _BatchModel(
            self._model.function,
            self._params,
            self._config,
            self._model.make_step,
            {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size, ModeKeys.PREDICT: predict_batch_size},
            frozenset(on_tpu),
            logged_every(config.log_step_count_steps, config.tpu_config.iterations_per_loop),
        )

    @property
    def _exported_model(self) -> Model:
        return Model(self._model.function, {**self._params, "use_tpu": False}, self._config, self._model.make_step)


def export_estimator_savedmodel(
    estimator: Estimator,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """The path of the SavedModel of an estimator; 1.15 adds a graph for TPUs to it."""
    return estimator.export_saved_model(export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path)


@dataclass(frozen=True)
class _BatchModel(Model):
    """A model whose functions are told the batch sizes of the modes. RuntimeError for the modes `on_tpu`."""

    batch_sizes: Mapping[str, int | None]
    on_tpu: frozenset[str]
    logged_every: Mapping[str, Any] | None

    def input(self, input_fn: Callable[..., Any], mode: str) -> Input:
        if mode in self.on_tpu:
            raise RuntimeError(
                "Cannot find any TPU cores in the system: tfexp has none. A TPUEstimator with use_tpu=False runs on the CPU."
            )
        _check_takes_params(input_fn, "input_fn")
        return self._told(mode).input(input_fn, mode)

    def spec(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec = self._told(mode, use_tpu=False).spec(features, labels, mode)
        size, every = self.batch_sizes[mode], self.logged_every
        if mode == ModeKeys.TRAIN and size is not None and every is not None:
            spec = spec._replace(
                training_hooks=(*spec.training_hooks, _ExamplesPerSecond(size, every, self.config.model_dir))
            )
        return spec

    def _told(self, mode: str, **more: Any) -> Model:
        _check_takes_params(self.function, "model_fn")
        size = self.batch_sizes[mode]
        sizes = {} if size is None else {"batch_size": size}
        return Model(self.function, {**self.params, **sizes, **more}, self.config, self.make_step)


class _ExamplesPerSecond(StepCounterHook):
    """Logs and records `examples/sec` beside the steps."""

    def __init__(self, batch_size: int, every: Mapping[str, Any], output_dir: str | None):
        super().__init__(**every, output_dir=output_dir)
        self._batch_size = batch_size

    def _record(self, rate: float, step: int) -> None:
        super()._record(rate, step)
        examples = self._batch_size * rate
        if self._summary_writer is not None:
            self._summary_writer.add_summary(Summary(value=[Summary.Value(tag="examples/sec", simple_value=examples)]), step)
        _log.info("examples/sec: %g", examples)


def _giving_plain_specs(model_fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the EstimatorSpec of the TPUEstimatorSpec that it gives."""

    @functools.wraps(model_fn)
    def plain(*args: Any, **kwargs: Any) -> Any:
        spec = model_fn(*args, **kwargs)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    return plain


def _check_takes_params(function: Callable[..., Any], name: str) -> None:
    if "params" not in argument_names(function):
        raise ValueError(
            f"{name} ({function}) does not include params argument, required by TPUEstimator to pass batch size as "
            'params["batch_size"]'
        )

"""`tf.estimator.Estimator`: a model function that is trained, evaluated, asked and exported. Source: TF 1.15.

What it knows between two calls stands in its folder: checkpoints, summaries, exports.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator import evaluating, predicting, replicas, training
from tfexp.estimator.model import Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig, default_session_config
from tfexp.estimator.saved_models import export
from tfexp.estimator.spec import EstimatorSpec
from tfexp.estimator.warm_starting import WarmStartSettings, as_settings
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.train.checkpoint_utils import checkpoint_of, list_variables, load_variable
from tfexp.train.global_step import create_global_step, get_global_step
from tfexp.train.saving_hooks import CheckpointSaverListener
from tfexp.train.session_hooks import SessionRunHook
from tfexp.train.stopping_hooks import StopAtStepHook

_log = get_logger()

# Methods of 1.15's Estimator that a subclass cannot replace, whether there are such here or not.
_OF_ITS_OWN = [
    "_actual_eval",
    "_actual_train_model_distributed",
    "_add_meta_graph_for_mode",
    "_call_input_fn",
    "_call_model_fn",
    "_call_model_fn_eval",
    "_convert_eval_steps_to_hooks",
    "_convert_train_steps_to_hooks",
    "_create_global_step",
    "_evaluate_build_graph",
    "_evaluate_run",
    "_extract_batch_length",
    "_extract_keys",
    "_get_features_and_labels_from_input_fn",
    "_get_features_from_input_fn",
    "_get_iterator_from_input_fn",
    "_train_model",
    "_train_model_default",
    "_train_model_distributed",
    "_train_with_estimator_spec",
    "_validate_features_in_predict_input",
]


class Estimator:
    """A model in a folder.

    `model_fn(features, labels, mode, params, config)` takes what it wants of these (`features` at least) and returns an
    EstimatorSpec; `params` is a dict for it. `model_dir` may also be the config's, and is a temporary folder by default.
    `warm_start_from`: a checkpoint, folder or SavedModel whose variables the training begins with, or WarmStartSettings.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: WarmStartSettings | str | None = None,
    ):
        type(self)._assert_members_are_not_overridden(self)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._config = complete_config(config, model_dir)
        _log.info("Using config: %s", self._config)
        self._params = copy.deepcopy(params or {})
        self._model_fn = model_fn
        self._model = Model(model_fn, self._params, self._config, self._create_and_assert_global_step)
        self._warm_start = as_settings(warm_start_from)

    @staticmethod
    def _assert_members_are_not_overridden(estimator: Estimator) -> None:
        """ValueError for a class that itself has another method in the place of one of Estimator's.

        1.15 calls it so, and libraries with such subclasses put another one in its place.
        """
        cls, inherited = type(estimator), vars(Estimator)
        fixed = {name for name in inherited if not name.startswith("_")} - {"model_fn"} | {*_OF_ITS_OWN}
        overridden = sorted(name for name in fixed & set(vars(cls)) if vars(cls)[name] != inherited.get(name))
        if overridden:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {cls} does override {overridden}"
            )

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def model_dir(self) -> str:
        """The folder with checkpoints and summaries."""
        return self._config.model_dir or ""

    _model_dir = model_dir  # as subclasses of 1.15's call it

    @property
    def _session_config(self) -> Any:
        """The ConfigProto of the sessions, which libraries open some of their own with."""
        return self._config.session_config

    @property
    def config(self) -> RunConfig:
        """A copy of the settings."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Mapping[str, Any]:
        """A copy of the model function's parameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function with its parameters: `f(features, labels, mode, config)`."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            return dataclasses.replace(self._model, config=config).spec(features, labels, mode)

        return public_model_fn

    def eval_dir(self, name: str | None = None) -> str:
        """The folder with the summaries of the evaluation of that name."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint, None where there is none."""
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """The names in the newest checkpoint. ValueError where there is none."""
        return [name for name, _ in list_variables(self._required_checkpoint())]

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the newest checkpoint. ValueError where there is none."""
        return load_variable(self._required_checkpoint(), name)

    def _required_checkpoint(self) -> str:
        found = self.latest_checkpoint()
        if found is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return found

    # --- what it does ------------------------------------------------------------------------------------------------

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Go on training, from the newest checkpoint: `steps` more, or up to the global step `max_steps`, or until the input
        ends.

        `input_fn(mode, params, config)` takes what it wants of these and gives a `tf.data.Dataset`, or features and labels.
        `saving_listeners` are told of each checkpoint. ValueError for both of a pair, or numbers below 1.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        _check_positive(steps=steps, max_steps=max_steps)
        hooks, listeners = _hooks(hooks), _listeners(saving_listeners)
        if max_steps is not None and self._trained_steps() >= max_steps:
            _log.info("Skipping training since max_steps has already saved.")
            return self
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(num_steps=steps, last_step=max_steps))
        training.train(self._model, input_fn, hooks, listeners, self._warm_start)
        return self

    def _trained_steps(self) -> int:
        path = self.latest_checkpoint()
        return 0 if path is None else int(load_variable(path, GraphKeys.GLOBAL_STEP))

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics of a checkpoint (by default the newest), with the mean `loss` over batches and the `global_step`.

        Over `steps` batches, or until the input ends. Written into `eval_dir(name)` too. Without a checkpoint the model is
        evaluated as it is initialized.
        """
        _check_positive(steps=steps)
        path = self._checkpoint(checkpoint_path, "evaluate")
        with self._model.graph(scope=replicas.scope(self.config.eval_distribute)):
            evaluation = evaluating.build(self._model, input_fn, None if path else self._warm_start)
            return evaluating.run(evaluation, self._model, path, self.eval_dir(name), steps, _hooks(hooks))

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions of each example (or batch), with only `predict_keys` if they are given.

        Labels of the input are dropped. Close the iterator, or come to its end, to close its session.
        """
        path = self._checkpoint(checkpoint_path, "predict")
        begin = None if path else self._warm_start
        return predicting.predict(self._model, input_fn, path, predict_keys, _hooks(hooks), yield_single_examples, begin)

    def _checkpoint(self, path: str | None, what: str) -> str | None:
        path = path or self.latest_checkpoint()
        if path is None:
            _log.info("Could not find trained model in model_dir: %s, running initialization to %s.", self.model_dir, what)
        return path

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Write a checkpoint with the model's graph as a SavedModel, in a new folder below; its path.

        `serving_input_receiver_fn()` gives a ServingInputReceiver; `assets_extra` are files to copy, by their names below
        `assets.extra`. ValueError without a checkpoint, or without such a function.
        """
        _check_receiver(serving_input_receiver_fn)
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self.experimental_export_all_saved_models(export_dir_base, receivers, assets_extra, as_text, checkpoint_path)

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older form of `export_saved_model`, which keeps attributes that have their default values."""
        _check_receiver(serving_input_receiver_fn)
        receivers = {ModeKeys.PREDICT: serving_input_receiver_fn}
        path = self._exported_checkpoint(checkpoint_path)
        return export(self._exported_model, export_dir_base, receivers, path, assets_extra, as_text, strip_default_attrs)

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """One SavedModel with a graph for each mode that there is a receiver function for."""
        path = self._exported_checkpoint(checkpoint_path)
        receivers = {mode: function for mode, function in input_receiver_fn_map.items() if function is not None}
        return export(self._exported_model, export_dir_base, receivers, path, assets_extra, as_text)

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        """The new step of `graph`, the default one. AssertionError for one that is not known as the graph's, or no integer.

        Estimators of libraries call it where they make graphs of their own, and override it where the step is to be another.
        """
        step = self._create_global_step(graph)
        assert step is get_global_step() and step.dtype.is_integer
        return step

    def _create_global_step(self, graph: Graph) -> Any:
        """As `_create_and_assert_global_step`, which checks what it gives."""
        return create_global_step(graph)

    @property
    def _exported_model(self) -> Model:
        """The model as those see it who load what is exported."""
        return self._model

    def _exported_checkpoint(self, given: str | None) -> str:
        path = given or self.latest_checkpoint()
        if path is None and self._warm_start is not None:
            path = checkpoint_of(self._warm_start.ckpt_to_initialize_from)
        if path is None:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        return path


def _check_receiver(serving_input_receiver_fn: Any) -> None:
    if serving_input_receiver_fn is None:
        raise ValueError("An input_receiver_fn must be defined.")


def complete_config(config: RunConfig | None, model_dir: str | os.PathLike[str] | None) -> RunConfig:
    """The settings, with a folder and settings for sessions."""
    if config is None:
        _log.info("Using default config.")
        config = RunConfig()
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = config.replace(session_config=default_session_config())
    folder = None if model_dir is None else os.fspath(model_dir)
    if folder is not None and config.model_dir not in (None, folder):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"'{folder}', in `RunConfig`: '{config.model_dir}'"
        )
    folder = folder or config.model_dir
    if folder is None:
        folder = tempfile.mkdtemp()
        _log.warning("Using temporary folder as model directory: %s", folder)
    return config if config.model_dir == folder else config.replace(model_dir=folder)


def _check_positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {number}")


def _hooks(hooks: Sequence[SessionRunHook] | None) -> list[SessionRunHook]:
    hooks = list(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def _listeners(listeners: Sequence[CheckpointSaverListener] | None) -> list[CheckpointSaverListener]:
    listeners = list(listeners or ())
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return listeners

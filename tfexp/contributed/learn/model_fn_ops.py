"""What model functions of `tf.contrib.learn` are called for, and what they give. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfexp import estimator
from tfexp.contributed.learn.constants import PredictionKey, ProblemType
from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.estimator.export_outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_log = get_logger()
_CLASSIFICATION = (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION)


class ModeKeys(estimator.ModeKeys):
    """What a model function is called for."""

    INFER = estimator.ModeKeys.PREDICT


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Mapping[str, Any]
    output_alternatives: Mapping[Any, tuple[int, Mapping[str, Any]]] | None
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    mode: str


class ModelFnOps(_Fields):
    """What a model function may give.

    output_alternatives: what is exported, {name: (type of problem, {name: tensor})}; unless given, the predictions are.
    ValueError for an unknown mode, and where a loss, a training op or predictions are missing that the mode needs.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Any = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
            raise ValueError(f"Invalid mode {mode}.")
        if mode == ModeKeys.EVAL and predictions is None:
            raise ValueError("Missing predictions.")
        checked = estimator.EstimatorSpec(
            mode,
            predictions,
            None if loss is None else convert_to_tensor(loss),
            train_op,
            eval_metric_ops,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold,
        )
        return super().__new__(
            cls,
            predictions,
            checked.loss,
            train_op if train_op is None or isinstance(train_op, Operation) else convert_to_tensor(train_op).op,
            checked.eval_metric_ops,
            output_alternatives,
            list(checked.training_chief_hooks),
            list(checked.training_hooks),
            scaffold,
            mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> estimator.EstimatorSpec:
        """The same for `tf.estimator`, which has a metric `loss` of its own.

        The key is that of the alternative which is served by default, needed where there are several: KeyError without it.
        ValueError for an unknown type of problem.
        """
        named = dict(self.output_alternatives or {})
        if len(named) > 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in named:
            named[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = named[default_serving_output_alternative_key]
        return self._spec({name: _export_output(*alternative) for name, alternative in named.items()})

    def served(self, default: Any) -> estimator.EstimatorSpec:
        """As `estimator_spec`, with signatures by what a request sends; `default`: the key of the alternative to serve.

        ValueError where none has that key, and where the key of one of several is missing.
        """
        alternatives = dict(self.output_alternatives or {})
        if default is not None and default not in alternatives:
            raise ValueError(
                f"Requested default_output_alternative: {default}, but available output_alternatives are: "
                f"{sorted(alternatives, key=str)}"
            )
        if default is None and len(alternatives) > 1:
            raise ValueError(
                "Please specify a default_output_alternative. Available output_alternatives are: "
                f"{sorted(alternatives, key=str)}"
            )
        answers = {f"default_input_alternative:{name}": _Answer(*one) for name, one in alternatives.items()}
        if alternatives:
            chosen = next(iter(alternatives)) if default is None else default
            answers[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = _Answer(*alternatives[chosen])
        return self._spec(answers)

    def _spec(self, export_outputs: Mapping[Any, ExportOutput]) -> estimator.EstimatorSpec:
        return estimator.EstimatorSpec(
            self.mode,
            self.predictions,
            self.loss,
            self.train_op,
            {name: pair for name, pair in self.eval_metric_ops.items() if name != "loss"},
            export_outputs or None,
            self.training_chief_hooks,
            self.training_hooks,
            self.scaffold,
        )


class OpsOfHead(ModelFnOps):
    """Those of which an evaluation by `tf.contrib.learn` shows another loss than the one that is minimized."""

    shown_loss: Any = None

    def served(self, default: Any) -> estimator.EstimatorSpec:
        spec = super().served(default)
        return spec if self.mode != ModeKeys.EVAL or self.shown_loss is None else spec._replace(loss=self.shown_loss)


def _scores(outputs: Mapping[str, Any]) -> Any:
    return outputs.get(PredictionKey.SCORES, outputs.get(PredictionKey.PROBABILITIES))


def _words(outputs: Mapping[str, Any]) -> Any:
    """The classes, where they are strings: others are not served."""
    classes = outputs.get(PredictionKey.CLASSES)
    return classes if classes is not None and classes.dtype is dtypes.string else None


def _export_output(problem_type: int, outputs: Mapping[str, Any]) -> ExportOutput:
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(_scores(outputs))
    if problem_type in _CLASSIFICATION:
        if _words(outputs) is None:
            _log.warning("The classes are no strings: a model that is served will have no class ids.")
        return ClassificationOutput(_scores(outputs), _words(outputs))
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(outputs)
    raise ValueError(f"Unknown problem_type={problem_type}")


class _Answer(PredictOutput):
    """Classes or numbers to requests of serialized Examples, where the problem is of that type; all outputs to others."""

    def __init__(self, problem_type: int, outputs: Mapping[str, Any]):
        super().__init__(outputs)
        self._problem_type = problem_type

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        scores, words = _scores(self.outputs), _words(self.outputs)
        if [tensor.dtype for tensor in receiver_tensors.values()] == [dtypes.string]:
            if self._problem_type in _CLASSIFICATION and (scores is not None or words is not None):
                return ClassificationOutput(scores, words).as_signature_def(receiver_tensors)
            if self._problem_type == ProblemType.LINEAR_REGRESSION and len(self.outputs) == 1:
                [value] = self.outputs.values()
                return RegressionOutput(value).as_signature_def(receiver_tensors)
        return super().as_signature_def(receiver_tensors)

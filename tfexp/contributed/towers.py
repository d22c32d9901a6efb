"""Models whose batch is cut over several devices of one process, each of which computes its part with the same variables.

Source: `tf.contrib.estimator.{replicate_model_fn,TowerOptimizer}`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core.device import DeviceName
from tfexp.distribute.cross_device import summed
from tfexp.estimator.arguments import call_with_wanted
from tfexp.estimator.export_outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import control_dependencies, device, get_collection, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.clip import values_of
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.elementwise_division import div
from tfexp.ops.losses import Reduction
from tfexp.ops.sparse_split import sparse_split
from tfexp.ops.state import assign, assign_add
from tfexp.ops.variable_scope import variable_scope
from tfexp.runtime.device_list import list_local_devices
from tfexp.train.optimizer import GradientsAndVariables, Optimizer

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


class _Towers:
    """What the towers of a model have asked of their optimizers so far."""

    def __init__(self, count: int, reduction: str):
        self.count, self._reduction = count, reduction
        self.current = 0
        self.steps: list[list[GradientsAndVariables]] = [[] for _ in range(count)]  # of each tower
        self.first_scope: Any = None
        self.have_optimizer = False

    def scaled(self, loss: Any) -> Any:
        """A tower's part of the loss of all of them."""
        if loss is None or self.count == 1 or self._reduction == Reduction.SUM:
            return loss
        return div(loss, float(self.count), name="averaged_loss")

    def gathered(self) -> GradientsAndVariables:
        """The gradients of all towers for the last tower's latest step, summed for each variable."""
        number = len(self.steps[-1])
        self._check(all(len(steps) >= number for steps in self.steps))
        grads: dict[Any, list[Any]] = {}
        for steps in self.steps:
            for grad, variable in steps[number - 1]:
                if grad is not None:
                    grads.setdefault(variable, []).append(grad)
        with name_scope("gradient_aggregating"):
            return [(_summed(parts, variable.device), variable) for variable, parts in grads.items()]

    def check_steps(self) -> None:
        """ValueError unless all towers have asked for as many."""
        self._check(len({len(steps) for steps in self.steps}) == 1)

    @staticmethod
    def _check(same: bool) -> None:
        if not same:
            raise ValueError("Each invocation of model_fn was supposed to make the same optimizer calls.")


class _OfThread(threading.local):
    towers: _Towers | None = None


_of_thread = _OfThread()


class TowerOptimizer(OptimizerWrapper):
    """Takes the steps of an optimizer with the gradients of all towers of `replicate_model_fn`, summed, in the last tower.

    The other towers get a step that does nothing. All towers have to ask for the same steps in the same order. Without
    towers it is the given optimizer, or what the given function makes when it is first needed.
    """

    def __init__(self, optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]):
        super().__init__(optimizer_or_optimizer_fn, use_locking=False, name=type(self).__name__)

    def get_name(self) -> str:
        return self._opt.get_name()

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """Those of the tower's part of the loss."""
        towers = _of_thread.towers
        return self._opt.compute_gradients(loss if towers is None else towers.scaled(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """In the last tower the op that takes the step; in others one that does nothing. ValueError where steps differ."""
        towers = _of_thread.towers
        if towers is None or towers.count == 1:
            return self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        pairs = list(grads_and_vars)
        towers.steps[towers.current].append(pairs)
        towers.have_optimizer = True
        if towers.current < towers.count - 1:
            with control_dependencies([values_of(grad) for grad, _ in pairs if grad is not None]):
                return no_op(name="train_op_placeholder")
        # Slots are made where the first tower would make them, so that they have the names of a model on one device.
        with variable_scope(towers.first_scope), name_scope(""):
            return self._opt.apply_gradients(towers.gathered(), global_step=global_step, name=name)


def replicate_model_fn(
    model_fn: Callable[..., EstimatorSpec],
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """A model function that calls `model_fn` once for each device, with its part of features and labels.

    loss_reduction: with `SUM` losses and gradients of the towers are summed, else averaged; ValueError for `NONE`. devices:
    the GPUs of this process, or its CPU, unless given. Variables are on the CPU, or on the only GPU. Metrics add up what the
    towers count; predictions are put together again; the rest of the EstimatorSpec is one tower's.

    ValueError of the model function for a batch that cannot be cut evenly, or an optimizer that is no `TowerOptimizer`.
    """
    if loss_reduction == Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    places = list(devices or _local_devices("GPU") or _local_devices("CPU"))
    alone_on_gpu = len(places) == 1 and "GPU" in places[0].upper()
    common = places[0] if alone_on_gpu else "/CPU:0"

    def replicated_model_fn(features: Any, labels: Any, mode: str, params: Any = None, config: Any = None) -> EstimatorSpec:
        count = len(places)
        if count == 1:
            parts = [(features, labels)]
        else:
            with name_scope("split_inputs"), device(common):
                parts = list(zip(_cut(features, count), _cut(labels, count), strict=True))
        towers = _Towers(count, loss_reduction)
        specs = []
        with _building(towers):
            for number, (place, (own_features, own_labels)) in enumerate(zip(places, parts, strict=True)):
                towers.current = number
                given = {"features": own_features, "labels": own_labels, "mode": mode}
                with (
                    variable_scope("", reuse=number > 0) as scope,
                    name_scope(f"tower_{number}" if number else ""),
                    device(_device_function(place, common)),
                ):
                    if not number:
                        towers.first_scope = scope
                    spec = call_with_wanted(functools.partial(model_fn, **given), params=params, config=config)
                    if spec.train_op is not None and count > 1 and not towers.have_optimizer:
                        raise ValueError(
                            "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with multiple "
                            "`devices`."
                        )
                    specs.append(spec._replace(loss=towers.scaled(spec.loss)))
        towers.check_steps()
        return specs[0] if count == 1 else _MERGED[mode](specs, common)

    return replicated_model_fn


@contextlib.contextmanager
def _building(towers: _Towers) -> Iterator[None]:
    before, _of_thread.towers = _of_thread.towers, towers
    try:
        yield
    finally:
        _of_thread.towers = before


def _local_devices(kind: str) -> list[str]:
    return [one.name for one in list_local_devices() if one.device_type == kind]


def _device_function(place: str, common: str) -> Callable[[Any], str]:
    """Variables go to the common device, the rest to the tower's, as far as the model does not say."""

    def device_of(op: Any) -> str:
        own = common if op.type in _VARIABLES else place
        return str(DeviceName.parse(op.device or "").merged_over(DeviceName.parse(own)))

    return device_of


def _cut(batch: Any, count: int) -> list[Any]:
    """`count` parts of a tensor, or of a dict of tensors; None has parts None."""
    if batch is None:
        return [None] * count
    if isinstance(batch, Mapping):
        cut = {key: _cut(value, count) for key, value in batch.items()}
        return [{key: parts[number] for key, parts in cut.items()} for number in range(count)]
    if isinstance(batch, SparseTensor):
        return sparse_split(sp_input=batch, num_split=count, axis=0)
    tensor = convert_to_tensor(batch)
    size = tensor.shape[0].value
    if size is not None and size % count:
        raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}.")
    return split(tensor, count)


# --- one EstimatorSpec of several --------------------------------------------------------------------------------------


def _summed(parts: Sequence[Any], place: str, name: str | None = None) -> Any:
    with device(place):
        return summed(parts, functools.partial(add_n, name=name))


def _trained(specs: Sequence[EstimatorSpec], place: str) -> EstimatorSpec:
    return specs[-1]._replace(loss=_summed([spec.loss for spec in specs], place, "loss"))


def _evaluated(specs: Sequence[EstimatorSpec], place: str) -> EstimatorSpec:
    loss = _summed([spec.loss for spec in specs], place, "loss")
    with control_dependencies([update for spec in specs for _, update in spec.eval_metric_ops.values()]):
        update = _add_up_metric_variables(len(specs))
    metrics = {name: (value, update) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(loss=loss, eval_metric_ops=metrics)


def _add_up_metric_variables(count: int) -> Any:
    """Adds what the metrics of the other towers have counted to those of the first, and lets the others begin again."""
    variables = get_collection(GraphKeys.METRIC_VARIABLES)
    each, rest = divmod(len(variables), count)
    if rest:
        raise ValueError(
            f"Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls: {count} towers cannot have the same of "
            f"{len(variables)} metric variables."
        )
    begun_again = []
    for first, *others in (variables[number::each] for number in range(each)):
        with control_dependencies([assign_add(first, add_n(others))]):
            begun_again += [assign(other, zeros_like(other)) for other in others]
    return group(*begun_again)


def _predicted(specs: Sequence[EstimatorSpec], place: str) -> EstimatorSpec:
    with device(place):
        predictions = _joined_by_name([spec.predictions for spec in specs])
        given = [spec.export_outputs or {} for spec in specs]
        outputs = {name: _joined_output([own[name] for own in given]) for name in given[0]}
    return specs[0]._replace(predictions=predictions, export_outputs=outputs)


_MERGED = {ModeKeys.TRAIN: _trained, ModeKeys.EVAL: _evaluated, ModeKeys.PREDICT: _predicted}


def _joined_by_name(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: concat([part[name] for part in parts], axis=0, name=name) for name in parts[0]}


def _joined_output(parts: Sequence[Any]) -> ExportOutput:
    first = parts[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(_joined_by_name([part.outputs for part in parts]))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(concat([part.value for part in parts], axis=0))
    if isinstance(first, ClassificationOutput):
        scores = None if first.scores is None else concat([part.scores for part in parts], axis=0)
        classes = None if first.classes is None else concat([part.classes for part in parts], axis=0)
        return ClassificationOutput(scores, classes)
    raise ValueError(f"Outputs of towers can be put together for classification, regression and prediction, not {first!r}.")

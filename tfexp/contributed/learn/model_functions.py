"""Model functions of networks, of linear models, and of both together, under a head. Source: `tf.contrib.learn`, TF 1.15.

A model function is of (features, labels, mode, config); features that are one tensor are the feature "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp import estimator
from tfexp.contributed.layers import fully_connected
from tfexp.contributed.learn.heads.head import Head
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer
from tfexp.contributed.opt.clipping import clip_gradients_by_norm
from tfexp.contributed.optimize_loss import optimize_loss
from tfexp.contributed.shaping import dropout as without_some
from tfexp.estimator.canned.features import as_columns
from tfexp.estimator.canned.layer_summaries import summarize_layer
from tfexp.estimator.canned.linear import default_learning_rate
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.heads.labels import checked_weight_column
from tfexp.estimator.run_config import RunConfig
from tfexp.feature_column.dense import EmbeddingColumn
from tfexp.feature_column.model import input_layer, linear_model, variables_of
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import get_collection
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.ops.summary import histogram, scalar
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.global_step import get_global_step
from tfexp.train.optimizer import Optimizer

ModelFunction = Callable[[Any, Any, str, RunConfig], Any]
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "tanh": tanh, "sigmoid": sigmoid}
_DEEP_RATE = 0.05
_LINEAR_RATE = 0.2  # at most
_MIN_SLICE = 64 << 20  # variables are cut for parameter servers from this size on, in bytes


def network(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Any,
    optimizer: Any = None,
    activation_fn: Callable[[Any], Any] | str | None = None,
    dropout: float | None = None,
    gradient_clip_norm: float | None = None,
    input_layer_min_slice_size: int | None = None,
    embedding_lr_multipliers: Mapping[Any, float] | None = None,
) -> ModelFunction:
    """Dense layers of `hidden_units`. optimizer: Adagrad by default. dropout: the part of outputs to drop in training.

    activation_fn: a function, or one of the names `relu` (by default), `tanh` and `sigmoid`; training with another is a
    ValueError.
    embedding_lr_multipliers: by columns of embeddings, what the gradients of their tables are multiplied with. A model with
    such of other columns is a ValueError.
    """
    columns = as_columns(feature_columns)

    def summarize(value: Tensor, name: str) -> None:
        scalar(f"{name}_fraction_of_zero_values", zero_fraction(value))
        histogram(f"{name}_activation", value)

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> ModelFnOps:
        named = _named(features)
        cut = min_max_variable_partitioner(config.num_ps_replicas)
        with variable_scope("dnn", values=tuple(named.values()), partitioner=cut):
            cut_input, tables = _by_size(config, input_layer_min_slice_size), dict[Any, Any]()
            active = _activation(activation_fn)
            net = _hidden_layers(named, columns, hidden_units, active, dropout, mode, cut_input, summarize, tables)
            factors = _factors(embedding_lr_multipliers or {}, tables)
            logits = _output_layer(net, head.logits_dimension, summarize)

            def trained(loss: Any) -> Any:
                return _minimized(loss, optimizer or "Adagrad", _DEEP_RATE, gradient_clip_norm, "dnn", factors=factors)

            return head.create_model_fn_ops(named, mode, labels, trained, logits)

    return model_fn


def linear(
    head: Head,
    feature_columns: Any,
    optimizer: Any = None,
    gradient_clip_norm: float | None = None,
    weight_column_name: str | None = None,
    ascent_loss: str | None = None,
) -> ModelFunction:
    """Weighted features. optimizer: Ftrl by default; where `ascent_loss` says on which loss, dual coordinate ascent, too."""
    columns = as_columns(feature_columns)
    if isinstance(optimizer, SDCAOptimizer):
        as_core: Any = AsCoreHead(head, checked_weight_column(weight_column_name), ascent_loss)
        core: Any = estimator.LinearEstimator(as_core, columns, None, optimizer, partitioner=optimizer.partitioner)
        ascended: ModelFunction = core._model_fn
        return ascended

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> ModelFnOps:
        named = _named(features)
        with variable_scope("linear", values=tuple(named.values()), partitioner=_by_size(config, None)) as scope:
            logits = linear_model(named, columns, head.logits_dimension)
            variables = _trainable(scope)  # without the head's, which trains them itself

            def trained(loss: Any) -> Any:
                made = optimizer_of(optimizer or "Ftrl", default_learning_rate(columns, _LINEAR_RATE))
                if gradient_clip_norm is not None:
                    made = clip_gradients_by_norm(made, gradient_clip_norm)
                return made.minimize(loss, get_global_step(), var_list=variables)

            return head.create_model_fn_ops(named, mode, labels, trained, logits)

    return model_fn


def combined(
    head: Head,
    linear_feature_columns: Any,
    linear_optimizer: Any,
    dnn_feature_columns: Any,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[[Any], Any] | None,
    dnn_dropout: float | None,
    gradient_clip_norm: float | None,
    counts_once: bool,
    input_layer_partitioner: Any = None,
    input_layer_min_slice_size: int | None = None,
    embedding_lr_multipliers: Mapping[Any, float] | None = None,
) -> ModelFunction:
    """The sum of a network's and a linear model's logits, or those of the one that has columns.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. counts_once: the network's step is not
    counted beside the linear model's. embedding_lr_multipliers: as of `network`.
    ValueError without columns, and, of the model, for a network without layers.
    """
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    wide = as_columns(linear_feature_columns or [])
    deep = as_columns(dnn_feature_columns or [])

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> ModelFnOps:
        if deep and not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        named = _named(features)
        values = tuple(named.values())
        cut = input_layer_partitioner or _by_size(config, input_layer_min_slice_size)
        outputs: list[Tensor] = []
        tables: dict[Any, Any] = {}
        parts: list[tuple[str, Any, float, list[Any]]] = []
        if deep:
            own_cut = min_max_variable_partitioner(config.num_ps_replicas)
            with variable_scope("dnn", values=values, partitioner=own_cut) as scope:
                net = _hidden_layers(
                    named, deep, dnn_hidden_units or (), dnn_activation_fn, dnn_dropout, mode, cut, summarize_layer, tables
                )
                outputs.append(_output_layer(net, head.logits_dimension, summarize_layer))
            parts.append(("dnn", dnn_optimizer or "Adagrad", _DEEP_RATE, _trainable(scope)))
        if wide:
            with variable_scope("linear", values=values, partitioner=cut) as scope:
                outputs.append(linear_model(named, wide, head.logits_dimension))
                summarize_layer(outputs[-1], scope.name)
            rate = default_learning_rate(wide, _LINEAR_RATE)
            parts.append(("linear", linear_optimizer or "Ftrl", rate, _trainable(scope)))
        factors = _factors(embedding_lr_multipliers or {}, tables)
        logits = outputs[0] + outputs[1] if len(outputs) == 2 else outputs[0]

        def trained(loss: Any) -> Any:
            steps = []
            for number, (name, given, rate, variables) in enumerate(parts, 1):
                counts = not counts_once or number == len(parts)
                steps.append(_minimized(loss, given, rate, gradient_clip_norm, name, variables, counts, factors))
            return group(*steps)

        return head.create_model_fn_ops(named, mode, labels, trained, logits)

    return model_fn


class AsCoreHead:
    """What the models of `tf.estimator` ask of a head; for the ascent, which weighs examples itself, their weights' column.

    ascent_loss: the loss that dual coordinate ascent minimizes, None where it has none for the head.
    """

    def __init__(self, head: Head, weight_column: Any, ascent_loss: str | None):
        self._head, self._weight_column, self.logits_dimension = head, weight_column, head.logits_dimension
        self.ascent_loss = ascent_loss

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any, optimizer: Any = None, train_op_fn: Any = None
    ) -> ModelFnOps:
        return self._head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


def _named(features: Any) -> dict[str, Any]:
    return dict(features) if isinstance(features, Mapping) else {"": features}


def _by_size(config: RunConfig, min_slice_size: int | None) -> Any:
    return min_max_variable_partitioner(config.num_ps_replicas, min_slice_size=min_slice_size or _MIN_SLICE)


def _activation(given: Callable[[Any], Any] | str | None) -> Callable[[Any], Any] | None:
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise ValueError(f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {given}.")
    return _ACTIVATIONS[given]


def _hidden_layers(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    mode: str,
    input_partitioner: Any,
    summarize: Callable[[Tensor, str], None],
    tables: dict[Any, Any],
) -> Tensor:
    """What the last of them gives. tables: gets the variables of each column."""
    with variable_scope("input_from_feature_columns", values=tuple(features.values()), partitioner=input_partitioner):
        net = input_layer(features, columns, cols_to_vars=tables)
    for number, width in enumerate(hidden_units):
        with variable_scope(f"hiddenlayer_{number}", values=(net,)) as scope:
            net = fully_connected(net, width, activation_fn=activation_fn or relu, scope=scope)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = without_some(net, keep_prob=1.0 - dropout)
        summarize(net, scope.name)
    return net


def _output_layer(net: Tensor, width: int, summarize: Callable[[Tensor, str], None]) -> Tensor:
    with variable_scope("logits", values=(net,)) as scope:
        logits: Tensor = fully_connected(net, width, activation_fn=None, scope=scope)
    summarize(logits, scope.name)
    return logits


def _trainable(scope: Any) -> list[Any]:
    trainable = get_collection(GraphKeys.TRAINABLE_VARIABLES)
    return [variable for variable in variables_of(scope) if variable in trainable]


def _factors(multipliers: Mapping[Any, float], tables: Mapping[Any, Any]) -> dict[str, float]:
    """By the names of variables, from those by columns."""
    for column in multipliers:
        if not isinstance(column, EmbeddingColumn):
            raise ValueError(f"A multiplier of the learning rate is for an embedding column, not for {column}")
    return {one.op.name: factor for column, factor in multipliers.items() for one in tables.get(column, ())}


def _minimized(
    loss: Any,
    given: Any,
    rate: float,
    clip_norm: float | None,
    name: str,
    variables: Any = None,
    counts: bool = True,
    factors: Mapping[str, float] | None = None,
) -> Any:
    """A step of an optimizer, its name, or what makes one, in a scope of that name."""
    made = given() if callable(given) and not isinstance(given, Optimizer) else given
    return optimize_loss(
        loss,
        get_global_step(),
        rate,
        made,
        gradient_multipliers=factors or None,
        clip_gradients=clip_norm,
        variables=variables,
        name=name,
        summaries=[],
        increment_global_step=counts,
    )

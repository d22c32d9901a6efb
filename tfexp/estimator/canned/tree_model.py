"""The model function of boosted trees: what they say of examples, and a step of their training. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.canned.tree_features import TreeFeatures
from tfexp.estimator.canned.tree_growing import AccumulatingGrower, Grower, InMemoryGrower, TreeSettings
from tfexp.estimator.canned.tree_resources import Ensemble, Quantiles
from tfexp.estimator.heads.head import Head
from tfexp.estimator.heads.labels import checked_weight_column, row_weights
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.column import Features
from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.gradients import gradients as gradients_of
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import fill, zeros
from tfexp.ops.boosted_trees import predict, training_predict
from tfexp.ops.logical import logical_not
from tfexp.ops.summary import scalar
from tfexp.ops.variable_base import Variable
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_NO_NODE = -1

Closed = Callable[[Tensor, Any], tuple[Tensor, Tensor]]


def trees_spec(
    features: Any,
    labels: Any,
    mode: str,
    head: Head,
    columns: TreeFeatures,
    settings: TreeSettings,
    batches_per_layer: Any,
    config: RunConfig,
    closed_form: Closed | None = None,
    weight_column: Any = None,
    in_memory: bool = False,
) -> EstimatorSpec:
    """What boosted trees do in a mode. `closed_form(logits, labels)` gives gradients and hessians of the loss, if there is a
    shorter way to them than to differentiate it."""
    if in_memory and (config.num_worker_replicas > 1 or config.num_ps_replicas > 0 or not config.is_chief):
        raise ValueError("train_in_memory is supported only for non-distributed training.")
    made = Features(features)
    with name_scope("boosted_trees") as scope:
        ensemble = Ensemble(scope)
        quantiles = Quantiles(settings.quantile_sketch_epsilon, columns.floats) if columns.floats else None
        if mode != ModeKeys.TRAIN:
            logits = logits_of(ensemble, columns, quantiles, made, head.logits_dimension)
            return head.create_estimator_spec(features, mode, logits, labels)
        groups = columns.by_buckets(0 if quantiles is None else quantiles.buckets)
        training = _Training(columns, quantiles, settings, made, row_weights(features, checked_weight_column(weight_column)))
        own = ensemble if config.num_worker_replicas <= 1 else Ensemble(f"{scope}_local", is_local=True)
        with control_dependencies([no_op() if own is ensemble else own.become(ensemble)]):
            stamp, trees, finished, layers, nodes = own.states()
            rows: Any = shape(labels)
            cache = _Cache(rows[0], head.logits_dimension) if in_memory else None
            at = cache.now() if cache else (zeros([rows[0]], dtypes.int32), fill([rows[0]], _NO_NODE))
            change, tree_ids, node_ids = training_predict(
                own.handle, *at, training.buckets, logits_dimension=head.logits_dimension
            )
        logits = change if cache is None else cache.logits + change
        grower: Grower
        if in_memory:
            grower = InMemoryGrower(ensemble, quantiles, settings, groups)
        else:
            grower = AccumulatingGrower(ensemble, quantiles, settings, groups, stamp, batches_per_layer, config.is_chief)
        for name, value in (("num_trees", trees), ("num_finalized_trees", finished), ("num_attempted_layers", layers)):
            scalar(f"ensemble/{name}", value)

        def train_op_fn(loss: Tensor) -> Any:
            def differentiated(logits: Tensor, labels: Any) -> tuple[Any, Any]:
                slopes = gradients_of(loss, logits, name="Gradients")[0]
                return slopes, gradients_of(slopes, logits, name="Hessians")[0]

            def grown() -> Any:
                slopes, curves = (closed_form or differentiated)(logits, labels)
                kept = [] if cache is None else [training.once_centered(lambda: cache.keep(tree_ids, node_ids, logits))]
                return training.step(grower, node_ids, slopes, curves, nodes, kept)

            return training.once_bounded(grower, grown)

        spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)
        stop = _StopOnceGrown(finished, layers, settings.n_trees, settings.max_depth)
        return spec._replace(
            training_hooks=(*spec.training_hooks, stop),
            training_chief_hooks=(_Start(grower.start()), *spec.training_chief_hooks),
        )


def logits_of(
    ensemble: Ensemble, columns: TreeFeatures, quantiles: Quantiles | None, features: Features, dimension: int
) -> Tensor:
    """[batch, 1]: the sum over all trees."""
    buckets = columns.buckets(features, [] if quantiles is None else quantiles.boundaries)
    logits: Tensor = predict(ensemble.handle, buckets, logits_dimension=dimension)
    return logits


def _variable(value: Any, name: str) -> Any:
    return Variable(value, trainable=False, validate_shape=False, name=name, use_resource=True)


class _Cache:
    """Where each example of the only batch was in the trees, with its logits."""

    def __init__(self, rows: Tensor, dimension: int):
        self._trees = _variable(zeros([rows], dtypes.int32), "tree_ids_cache")
        self._nodes = _variable(fill([rows], _NO_NODE), "node_ids_cache")
        self._logits = _variable(zeros([rows, dimension]), "logits_cache")
        self._dimension = dimension

    def now(self) -> tuple[Tensor, Tensor]:
        return reshape(self._trees, [-1]), reshape(self._nodes, [-1])

    @property
    def logits(self) -> Tensor:
        return reshape(self._logits, [-1, self._dimension])

    def keep(self, trees: Tensor, nodes: Tensor, logits: Tensor) -> Any:
        return group(self._trees.assign(trees), self._nodes.assign(nodes), self._logits.assign(logits))


class _Training:
    """What a batch is used for depends on how far the training is: two variables of it say so."""

    def __init__(
        self, columns: TreeFeatures, quantiles: Quantiles | None, settings: TreeSettings, features: Features, weights: Any
    ):
        self._quantiles = quantiles
        self._weights = zeros([1]) + 1.0 if weights is None else reshape(weights, [-1])
        self._centers = settings.center_bias
        self._is_bounded = _variable(quantiles is None, "are_boundaries_ready")
        self._is_uncentered = _variable(settings.center_bias, "center_bias_needed")
        columns.prepare(features)
        self._numbers = columns.numbers(features)
        self.buckets = columns.buckets(features, [] if quantiles is None else quantiles.boundaries)

    def once_bounded(self, grower: Grower, grown: Callable[[], Any]) -> Any:
        """Learns boundaries first, if there are float features."""
        if self._quantiles is None:
            return grown()

        def learned() -> Any:
            return grower.learn_boundaries(self._numbers, self._weights, self._is_bounded)

        return cond(self._is_bounded.read_value(), grown, learned)

    def once_centered(self, keep: Callable[[], Any]) -> Any:
        return cond(logical_not(self._is_uncentered.read_value()), keep, no_op)

    def step(self, grower: Grower, node_ids: Tensor, slopes: Tensor, curves: Tensor, nodes: Tensor, kept: list[Any]) -> Any:
        def grown() -> Any:
            return grower.grow(grower.sums(node_ids, slopes, curves, self.buckets), nodes)

        if self._centers:

            def centered() -> Any:
                return grower.center(self._is_uncentered, slopes, curves)

            # What is kept goes by what the variable was.
            with control_dependencies(kept):
                update = cond(self._is_uncentered.read_value(), centered, grown)
        else:
            update = grown()
        with control_dependencies([update, *kept]):
            return get_or_create_global_step().assign_add(1).op


class _Start(SessionRunHook):
    """Runs an operation in a new session."""

    def __init__(self, start: Any):
        self._start = start

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._start)


class _StopOnceGrown(SessionRunHook):
    """Ends the training once there are enough trees, or layers cannot be grown any more."""

    def __init__(self, finished: Tensor, layers: Tensor, most_trees: int, max_depth: int):
        self._states = [finished, layers]
        self._trees, self._layers = most_trees, 2 * most_trees * max_depth

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._states)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        trees, layers = run_values.results  # as they were before the step
        if trees >= self._trees - 1 or layers > self._layers - 1:
            trees, layers = run_context.session.run(self._states)
            if trees >= self._trees or layers > self._layers:
                run_context.request_stop()

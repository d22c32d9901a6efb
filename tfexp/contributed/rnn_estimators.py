"""Recurrent models of feature columns. Source: `tf.contrib.estimator.{RNNEstimator,RNNClassifier}`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.opt.clipping import clip_gradients_by_norm
from tfexp.core import dtypes
from tfexp.estimator.canned.dnn import LEARNING_RATE, input_partitioner
from tfexp.estimator.canned.features import check_features
from tfexp.estimator.canned.heads import classifier_head
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.head import Head
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.model import input_layer
from tfexp.feature_column.sequence_model import concatenate_context_input, sequence_input_layer
from tfexp.graph.tensor import Tensor
from tfexp.layers.core import dense
from tfexp.layers.rnn_cell import BasicRNNCell, GRUCell, RNNCell
from tfexp.layers.rnn_dynamic import dynamic_rnn
from tfexp.layers.rnn_lstm import BasicLSTMCell
from tfexp.layers.rnn_wrappers import MultiRNNCell
from tfexp.ops.array_gather import gather
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.initializers import GlorotUniform
from tfexp.ops.losses import Reduction
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.ops.summary import histogram
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.global_step import get_global_step
from tfexp.train.optimizer import Optimizer

_CELLS = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}
_UNTOLD: Any = object()
# Of the gradients of an optimizer that the program gives by its name.
_NORM = 5.0


class RNNEstimator(Estimator):
    """A recurrent model with any `tf.estimator.Head`, whose logits come from the last step of each sequence.

    sequence_feature_columns: columns of sequences, made dense; context_feature_columns: dense columns, for every step.
    num_units: the widths of the layers, of cells of one `cell_type`: `basic_rnn` (by default), `lstm`, `gru`, or a class; or
    `rnn_cell_fn(mode)` gives the cell: ValueError for both. A sequence without steps has the logits of an output of zeros.
    optimizer: one, a function that makes one, or a name (Adagrad, Adam, Ftrl, RMSProp, SGD), whose gradients are clipped to
    the norm 5. return_sequences: ValueError for True, which no head of `tf.estimator` and `tf.contrib.estimator` can take.
    """

    def __init__(
        self,
        head: Head,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _UNTOLD,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        return_sequences: bool = False,
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        cell_of = _cell_function(rnn_cell_fn, num_units, cell_type)
        if return_sequences:
            raise ValueError("Provided head must be a sequential head when `return_sequences` is set to True.")
        steps, contexts = tuple(sequence_feature_columns or ()), tuple(context_feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features, type(self).__name__)
            trained = optimizer
            if not isinstance(optimizer, Optimizer):
                trained = clip_gradients_by_norm(optimizer_of(optimizer, LEARNING_RATE), _NORM)
            cut = min_max_variable_partitioner(config.num_ps_replicas)
            with variable_scope("rnn", values=tuple(features.values()), partitioner=cut):
                inputs, lengths = _inputs(features, steps, contexts, input_partitioner(input_layer_partitioner, config))
                logits = _logits(inputs, lengths, cell_of(mode), head.logits_dimension)
                return head.create_estimator_spec(
                    features, mode, logits, labels, train_op_fn=lambda loss: trained.minimize(loss, get_global_step())
                )

        super().__init__(model_fn, model_dir, config)


class RNNClassifier(RNNEstimator):
    """A recurrent model for `n_classes` classes, by numbers or by the words of `label_vocabulary`.

    `weight_column` is a feature with the weights of examples. The rest is as of RNNEstimator.
    """

    def __init__(
        self,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _UNTOLD,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
    ):
        super().__init__(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            sequence_feature_columns,
            context_feature_columns,
            num_units,
            cell_type,
            rnn_cell_fn,
            model_dir=model_dir,
            optimizer=optimizer,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
        )


def _cell_function(given: Callable[[str], Any] | None, num_units: Any, cell_type: Any) -> Callable[[str], Any]:
    """From the mode to the cell."""
    if given:
        if num_units or cell_type is not _UNTOLD:
            raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
        return given

    def cell_of(mode: str) -> Any:
        kind = "basic_rnn" if cell_type is _UNTOLD else cell_type
        made = _CELLS.get(kind, kind) if isinstance(kind, str) else kind
        if not (isinstance(made, type) and issubclass(made, RNNCell)):
            raise ValueError(f"Supported cell types are {list(_CELLS)}; got {kind}")
        cells = [made(num_units=width) for width in num_units]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return cell_of


def _inputs(
    features: Mapping[str, Any], steps: Sequence[Any], contexts: Sequence[Any], partitioner: Any
) -> tuple[Tensor, Tensor]:
    """(float32 [batch, time, width], int64 [batch]): what the cell is given, and for how many steps."""
    with variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=partitioner):
        inputs, lengths = sequence_input_layer(features, steps)
        histogram("sequence_length", lengths)
        if contexts:
            inputs = concatenate_context_input(input_layer(features, contexts), inputs)
    return inputs, lengths


def _logits(inputs: Tensor, lengths: Tensor, cell: Any, width: int) -> Tensor:
    """[batch, width], of each sequence's last step."""
    outputs, _ = dynamic_rnn(cell, inputs, lengths, dtype=dtypes.float32)
    # What is beyond a sequence's length is zero, as its first step is if it has none.
    last = gather(outputs, maximum(lengths - 1, 0), axis=1, batch_dims=1)
    with variable_scope("logits", values=(last,)):
        logits: Tensor = dense(last, width, activation=None, kernel_initializer=GlorotUniform())
    return logits

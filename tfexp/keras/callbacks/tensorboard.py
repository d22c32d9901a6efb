"""`tf.keras.callbacks.TensorBoard`: metrics, the graph, histograms and embeddings as event files. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2

from tfexp.core import log, nest
from tfexp.graph.gradients import gradients
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import backend
from tfexp.keras.callbacks.callback import Callback, Logs
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_order import transpose
from tfexp.ops.summary import histogram, merge
from tfexp.ops.summary_media import image
from tfexp.ops.variable_base import Variable
from tfexp.train.saver import Saver
from tfexp.train.summary_writer import FileWriter

_USUAL_PROFILE_BATCH = 2


class TensorBoard(Callback):
    """Writes into `log_dir` what `tensorboard --logdir` shows.

    Metrics as `epoch_…`, at the number of samples seen if `update_freq` is such a number (or 'batch': each batch; these as
    `batch_…`), else at the epoch's. The graph, if `write_graph`. Each `histogram_freq` epochs, as validation goes on: the
    layers' weights and outputs, their gradients (`write_grads`), weights as images (`write_images`). Each `embeddings_freq`
    epochs: what the layers `embeddings_layer_names` (by default, the Embedding layers) give for `embeddings_data`, for the
    projector, with `embeddings_metadata` (a file name, or one by layer). Histograms need validation data: ValueError.
    profile_batch: no step is profiled; the `run_metadata` of `compile` tells when each node ran.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: str | int = "epoch",
        profile_batch: int = _USUAL_PROFILE_BATCH,
    ):
        super().__init__()
        self.log_dir = os.fspath(log_dir)
        if profile_batch not in (0, _USUAL_PROFILE_BATCH):
            log.warn("`profile_batch` changes nothing: compile the model with `run_metadata` to see when each node ran.")
        if histogram_freq and executing_eagerly():
            log.warn("Weight and gradient histograms not supported for eager execution, setting `histogram_freq` to `0`.")
            histogram_freq = 0
        if embeddings_freq and executing_eagerly():
            log.warn("Embeddings will be ignored in eager execution: they need a graph.")
            embeddings_freq = 0
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq: str | int = 1 if update_freq == "batch" else update_freq
        self.merged: Any = None
        self.writer: FileWriter | None = None
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0
        self._batches_seen = 0
        self._validation_batches_seen = 0
        self._embeddings: _Embeddings | None = None

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        graph = None
        if self.write_graph and not executing_eagerly():
            model._make_train_function()  # so that what it adds is drawn, too
            graph = backend.get_session().graph
        elif self.write_graph:
            graph = backend.get_graph()
        if self.histogram_freq and self.merged is None:
            self.merged = _summaries(model, self.write_grads, self.write_images)
        self.writer = FileWriter(self.log_dir, graph)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._embeddings = _Embeddings(model, self.embeddings_layer_names, self.embeddings_metadata, self.log_dir)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= int(self.update_freq):
            self._write({f"batch_{name}": logs[name] for name in logs if name not in _COUNTS}, self._batches_seen)
            self._samples_seen_at_last_write = self._samples_seen
        self._batches_seen += 1

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Epochs whose validation is written down have the test function compute the summaries besides."""
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self.model._watch_tests(self.merged, self._keep)

    def _keep(self, summary: Any) -> None:
        assert self.writer is not None
        self.writer.add_summary(summary, self._validation_batches_seen)
        self._validation_batches_seen += 1

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write({f"epoch_{name}": logs[name] for name in logs if name not in _COUNTS}, step)
        if self.histogram_freq:
            self.model._watch_tests(self.merged, None)
        if self._embeddings is not None and self._embeddings.layers and epoch % self.embeddings_freq == 0:
            self._embeddings.save(self.embeddings_data, self.batch_size, epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        assert self.writer is not None
        self.writer.close()

    def _write(self, values: Mapping[str, Any], step: int) -> None:
        """A summary each, as TensorFlow writes them."""
        assert self.writer is not None
        for name, value in values.items():
            number = value.item() if isinstance(value, (np.ndarray, np.generic)) else value
            summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=name, simple_value=number)])
            self.writer.add_event(event_pb2.Event(step=step, summary=summary))
        self.writer.flush()


_COUNTS = {"batch", "size", "num_steps"}


def _summaries(model: Any, write_grads: bool, write_images: bool) -> Any:
    """Summaries of all layers' weights, gradients and outputs, as one tensor."""
    graph = model.outputs[0].graph
    made: list[Any] = []
    with graph.as_default():
        for layer in model.layers:
            for weight in layer.weights:
                name = weight.name.replace(":", "_")
                made.append(histogram(name, weight))
                if write_images:
                    made.append(image(name, _as_images(weight)))
            if write_grads:
                for weight in layer.trainable_weights:
                    made += _of_gradient(weight, model.total_loss)
            if hasattr(layer, "output"):
                outputs = nest.flatten(layer.output)
                many = len(outputs) > 1
                made += [histogram(f"{layer.name}_out{f'_{i}' if many else ''}", one) for i, one in enumerate(outputs)]
        return merge(made)


def _of_gradient(weight: Any, loss: Any) -> list[Any]:
    found = gradients(loss, weight)[0]
    if found is None:
        return []
    return [histogram(f"{weight.name.replace(':', '_')}_grad", getattr(found, "values", found))]


def _as_images(weight: Any) -> Any:
    """Weights as grey images: those of a dense layer lying, a bias as a line, the kernels of a convolution one each."""
    tensor = squeeze(weight)
    rank = tensor.shape.ndims
    if rank == 1:
        return tensor[None, :, None, None]
    if rank == 2:
        rows, columns = tensor.shape.as_list()
        lying = transpose(tensor) if int(rows or 0) > int(columns or 0) else tensor
        return lying[None, :, :, None]
    if rank == 3:
        return expand_dims(transpose(tensor, [2, 0, 1]), -1)
    return tensor[None, None, None, None] if rank == 0 else tensor[:, :, :, :1]


class _Embeddings:
    """Keeps what layers give for some inputs as variables of a checkpoint, which TensorBoard's projector reads."""

    def __init__(self, model: Any, names: Any, metadata: Any, log_dir: str):
        self._model, self._log_dir = model, log_dir
        wanted = names or [layer.name for layer in model.layers if type(layer).__name__ == "Embedding"]
        self.layers = [layer for layer in model.layers if layer.name in set(wanted)]
        self._files: Callable[[str], Any] = metadata.get if isinstance(metadata, Mapping) else lambda name: metadata
        self._saver: Any = None
        self._variables: dict[str, Any] = {}
        lines = []
        for layer in self.layers:
            lines.append(f'embeddings {{\n  tensor_name: "{layer.name}_embedding"\n')
            file = self._files(layer.name)
            lines.append(f'  metadata_path: "{file}"\n}}\n' if file else "}\n")
        os.makedirs(log_dir, exist_ok=True)
        with open(os.path.join(log_dir, "projector_config.pbtxt"), "w") as config:
            config.writelines(lines)

    def save(self, data: Any, batch_size: int, epoch: int) -> None:
        asked = backend.function(list(self._model.inputs), [layer.output for layer in self.layers])
        arrays = data if isinstance(data, (list, tuple)) else [data]
        count = len(arrays[0])
        parts = [asked([array[at : at + batch_size] for array in arrays]) for at in range(0, count, batch_size)]
        values = [np.concatenate(one).reshape(count, -1) for one in zip(*parts, strict=True)]
        graph = self._model.outputs[0].graph
        with graph.as_default():
            if self._saver is None:
                for layer, value in zip(self.layers, values, strict=True):
                    name = f"{layer.name}_embedding"
                    self._variables[name] = Variable(np.zeros_like(value), trainable=False, name=name, collections=[])
                    backend.track_variable(self._variables[name])
                self._saver = Saver(self._variables)
            backend.batch_set_value(list(zip(self._variables.values(), values, strict=True)))
            self._saver.save(backend.get_session(), os.path.join(self._log_dir, "keras_embedding.ckpt"), epoch)

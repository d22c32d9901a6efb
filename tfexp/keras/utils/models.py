"""Things done to whole models: where tensors come from, kernels turned round, a batch split over GPUs. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.graph.scopes import device, name_scope
from tfexp.keras.backend import batch_set_value, get_value
from tfexp.ops.array import shape
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as slice_of
from tfexp.runtime.gpus import real_gpus


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> Any:
    """The input tensors that `tensor` is computed from, each once; what came from no layer, as it is.

    layer, node_index: of which call's inputs, where that is known. Source: `tf.keras.utils.get_source_inputs`.
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer.inbound_nodes:
        return [tensor]
    node = layer.inbound_nodes[node_index]
    found: list[Any] = []
    sources = node.sources()
    for candidate in nest.flatten(node.input_tensors) if not sources else _sources_of(sources):
        if all(candidate is not other for other in found):
            found.append(candidate)
    return found


def _sources_of(sources: Sequence[Any]) -> list[Any]:
    return [x for history, tensor in sources for x in get_source_inputs(tensor, history.layer, history.node_index)]


_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose")


def convert_all_kernels_in_model(model: Any) -> None:
    """Turn the kernels of convolutions round along their spatial axes, as Theano has them. Twice changes nothing."""
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in _CONVOLUTIONS]
    batch_set_value([(kernel, convert_kernel(get_value(kernel))) for kernel in kernels])


def convert_kernel(kernel: Any) -> np.ndarray:
    """A kernel [..., channels, filters] of one to three spatial axes, backwards along these. ValueError for another rank."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError(f"Invalid kernel shape: {kernel.shape}")
    return np.copy(np.flip(kernel, axis=tuple(range(kernel.ndim - 2))))


def multi_gpu_model(model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False) -> Any:
    """A model that computes each batch in `gpus` parts (a number, or a list of GPUs' numbers), one on each GPU.

    cpu_merge: the parts are put together on the CPU. cpu_relocation: the weights are made anew, on the CPU.
    ValueError for fewer than two GPUs, and for more than there are. Source: `tf.keras.utils.multi_gpu_model`.
    """
    numbers = list(gpus) if isinstance(gpus, (list, tuple)) else list(range(gpus))
    if len(numbers) <= 1:
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus={gpus}`"
        )
    wanted = ["/cpu:0", *(f"/gpu:{number}" for number in numbers)]
    available = ["/cpu:0", *(f"/gpu:{number}" for number in range(real_gpus(None)))]
    if any(name not in available for name in wanted):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: {wanted}. "
            f"However this machine only has: {available}. Try reducing `gpus`."
        )
    return split_over(model, wanted[1:], "/cpu:0" if cpu_merge else wanted[1], cpu_relocation)


def split_over(model: Any, devices: Sequence[str], merge_device: str, relocate: bool = False) -> Any:
    """A model with the weights of `model` that computes a part of each batch on each device."""
    from tfexp.keras.engine.cloning import clone_model
    from tfexp.keras.engine.model import Model
    from tfexp.keras.layers import Lambda, concatenate

    if relocate:
        with device("/cpu:0"):
            model = clone_model(model)
    parts: list[list[Any]] = []
    for number, name in enumerate(devices):
        with device(name), name_scope(f"replica_{number}"):
            inputs = []
            for tensor in model.inputs:
                arguments = {"number": number, "count": len(devices)}
                static = tuple(tensor.get_shape().as_list()[1:])
                inputs.append(Lambda(part_of_batch, output_shape=static, arguments=arguments)(tensor))
            outputs = model(inputs if len(inputs) > 1 else inputs[0])
            parts.append(nest.flatten(outputs))
    with device(merge_device):
        names = model.output_names
        merged = [concatenate(list(outputs), axis=0, name=name) for name, outputs in zip(names, zip(*parts), strict=True)]
    return Model(model.inputs, merged)


def part_of_batch(data: Any, number: int, count: int) -> Any:
    """Rows of part `number` of `count`; the last part has those that are left over."""
    sizes: Any = shape(data)
    step = sizes[:1] // count
    size = sizes[:1] - step * number if number == count - 1 else step
    begin = concat([step * number, sizes[1:] * 0], axis=0)
    return slice_of(data, begin, concat([size, sizes[1:]], axis=0))

"""Data sets on another device. Source: `tf.data.experimental.copy_to_device`, `prefetch_to_device`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList

from tfexp.core import dtypes
from tfexp.data.dataset import Dataset
from tfexp.data.structure import spec_of
from tfexp.graph.convert import constant
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import device as on_device
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.anonymous_resources import anonymous_iterator_v3
from tfexp.ops.array_identity import identity
from tfexp.ops.calls import build_function
from tfexp.ops.dataset_generator import generator_dataset
from tfexp.ops.dataset_wrap import unwrap_dataset_variant, wrap_dataset_variant
from tfexp.ops.iterator import iterator_get_next, make_iterator

Transformation = Callable[[Dataset], Dataset]
Call = tuple[NameAttrList, list[Tensor]]  # the attribute of a node that calls a function, what that captured


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """The elements on another device, of which up to `buffer_size` are there before they are asked for."""
    return lambda dataset: _copied(dataset, device, "/cpu:0").prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The elements, computed on the source device, on the target device."""
    return lambda dataset: _copied(dataset, target_device, source_device)


def _copied(dataset: Dataset, target: str, source: str) -> Dataset:
    place = constant(source)
    wrapped = wrap_dataset_variant(dataset._variant_tensor)
    spec = spec_of(dataset._element)

    def init() -> list[Tensor]:
        _use(place)
        iterator = anonymous_iterator_v3(**spec)
        begun = make_iterator(unwrap_dataset_variant(_use(wrapped)), iterator)
        with get_default_graph().control_dependencies([begun]):
            return [identity(iterator)]

    def give(iterator: Tensor) -> list[Tensor]:
        _use(place)
        return list(iterator_get_next(iterator, **spec))

    def finalize(iterator: Tensor) -> list[Tensor]:
        _use(place)
        return [constant(0, dtype=dtypes.int64)]

    begin = _function("_remote_init_func", init, [])
    each = _function("_remote_next_func", give, [dtypes.resource])
    each[0].attr["experimental_ints_on_device"].CopyFrom(AttrValue(b=True))
    end = _function("_remote_finalize_func", finalize, [dtypes.resource])
    return _of_functions(dataset, target, begin, each, end, dataset)


def generated(
    like: Dataset, device: str, inputs: Sequence[Tensor], give: Callable[[Sequence[Tensor]], Sequence[Tensor]]
) -> Dataset:
    """A data set on `device` whose elements, which are such as those of `like`, `give(inputs)` gives up to its end."""

    def nothing(*state: Tensor) -> list[Tensor]:
        return [constant(0, dtype=dtypes.int64)]

    begin = _function("_init", nothing, [])
    each = _function("_next", lambda state: list(give([_use(tensor) for tensor in inputs])), [dtypes.int64])
    end = _function("_finalize", nothing, [dtypes.int64])
    return _of_functions(like, device, begin, each, end)


def _of_functions(like: Dataset, device: str, begin: Call, each: Call, end: Call, *sources: Dataset) -> Dataset:
    with on_device(device):
        variant = generator_dataset(
            begin[1],
            each[1],
            end[1],
            init_func=begin[0],
            next_func=each[0],
            finalize_func=end[0],
            **spec_of(like._element),
        )
    return Dataset(variant, like._element, *sources)


def _use(tensor: Tensor) -> Tensor:
    """A tensor of the graph around a function, captured by it."""
    graph = get_default_graph()
    assert isinstance(graph, FunctionGraph)
    return graph.capture(tensor)


def _function(label: str, body: Callable[..., list[Tensor]], arguments: Sequence[Any]) -> Call:
    named: list[tuple[Any, Any, str]] = [(dtype, [], f"args_{i}") for i, dtype in enumerate(arguments)]
    function, captured = build_function(label, body, named)
    return NameAttrList(name=function.name), captured

"""`tensorflow.python.data.ops.dataset_ops`: the classes that data sets of one's own derive from, and maps. Source: TF 1.15.

What derives from them says what its elements are (`element_spec`) and gives the variant of a node of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfexp.data.dataset import Dataset, mapped
from tfexp.data.functions import DatasetFunction
from tfexp.data.optional import Optional
from tfexp.data.specs import component_structure, spec_structure
from tfexp.data.structure import Structured, components_of, spec_of
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor


class _OfSpec(Dataset):
    """A data set whose class says what its elements are; that is asked for before there is a variant, too."""

    @property
    def element_spec(self) -> Any:
        raise NotImplementedError("Dataset.element_spec")

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return spec_of(component_structure(self.element_spec))


class DatasetSource(_OfSpec):
    """A data set that is made of no other."""

    def __init__(self, variant_tensor: Tensor):
        super().__init__(variant_tensor, component_structure(self.element_spec))


class UnaryDataset(_OfSpec):
    """A data set that is made of one other."""

    def __init__(self, input_dataset: Dataset, variant_tensor: Tensor):
        self._input_dataset = input_dataset
        super().__init__(variant_tensor, component_structure(self.element_spec), input_dataset)


class UnaryUnchangedStructureDataset(UnaryDataset):
    """A data set whose elements are as those of the one that it is made of."""

    @property
    def element_spec(self) -> Any:
        return self._input_dataset.element_spec


class _OptionalImpl(Optional):
    """The Optional that a variant tensor holds, of a value of that structure. `data.ops.optional_ops` has it."""

    def __init__(self, variant_tensor: Tensor, value_structure: Any):
        super().__init__(variant_tensor, component_structure(value_structure))


class _VariantDataset(Dataset):
    """The data set that a variant tensor holds, with elements of that structure."""

    def __init__(self, dataset_variant: Tensor, structure: Any):
        super().__init__(dataset_variant, component_structure(structure))


class _RestructuredDataset(Dataset):
    """The elements of `dataset`, of which this structure of as many components is known. Nothing is checked."""

    def __init__(self, dataset: Dataset, structure: Any):
        super().__init__(dataset._variant_tensor, component_structure(structure), dataset)


def MapDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    use_legacy_function: bool = False,
) -> Dataset:
    """`map_func` of each element."""
    return mapped(input_dataset, map_func, keeps=preserve_cardinality, inter_op=use_inter_op_parallelism)


def ParallelMapDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    num_parallel_calls: Any,
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    use_legacy_function: bool = False,
) -> Dataset:
    """`map_func` of each element, of several at once."""
    return input_dataset.map(map_func, num_parallel_calls)


@dataclass(frozen=True)
class _TracedFunction:
    """A function as attributes of nodes take it; it is in the library of the graph in which it was traced."""

    name: str
    captured_inputs: list[Tensor]

    def add_to_graph(self, graph: Graph) -> None:
        """It is there already. ValueError for a graph in which it was not traced."""
        if self.name not in graph._functions:
            raise ValueError(f"{self.name} was traced in another graph, whose nodes alone can call it")


class StructuredFunctionWrapper(Structured):
    """`func` as a function of the elements of a data set, or of values of that structure, for nodes of one's own.

    `function`: what attributes of the kind `func` take, with `captured_inputs`; `output_structure`, `output_types`,
    `output_shapes` and `output_classes`: what it gives. ValueError where none, several or only
    some of the last three say what it is given.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        transformation_name: str,
        dataset: Dataset | None = None,
        input_classes: Any = None,
        input_shapes: Any = None,
        input_types: Any = None,
        input_structure: Any = None,
        add_to_graph: bool = True,
        use_legacy_function: bool = False,
        defun_kwargs: Any = None,
    ):
        legacy = [part is not None for part in (input_classes, input_shapes, input_types)]
        if [dataset is not None, input_structure is not None, any(legacy)].count(True) != 1 or any(legacy) != all(legacy):
            raise ValueError(
                "Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, and `input_types` must be "
                "specified."
            )
        if dataset is not None:
            element = dataset._element
        elif input_structure is not None:
            element = component_structure(input_structure)
        else:
            element = components_of(input_types, input_shapes, input_classes)
        traced = DatasetFunction(func, transformation_name, element)
        self.function = _TracedFunction(traced.named.name, traced.captured)
        self._element = traced.result

    @property
    def output_structure(self) -> Any:
        return spec_structure(self._element)

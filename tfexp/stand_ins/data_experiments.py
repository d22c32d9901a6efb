"""Private data sets of `tensorflow.python.data.experimental.ops`: divided, chosen, mapped in a node. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import DATASET, Dataset
from tfexp.data.functions import DatasetFunction
from tfexp.data.interleaving import map_and_batch
from tfexp.data.mixing import directed, scanned
from tfexp.data.structure import Component, map_leaves, spec_of
from tfexp.data.transformations import Transformation, dense_to_sparse_batch
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_alternatives import choose_fastest_branch_dataset, choose_fastest_dataset
from tfexp.ops.dataset_divide import auto_shard_dataset, rebatch_dataset
from tfexp.ops.map_defun import map_defun as map_defun_op

# --- distribute --------------------------------------------------------------------------------------------------------


def _AutoShardDataset(input_dataset: Dataset, num_workers: Any, index: Any) -> Dataset:
    """Every `num_workers`-th file that the data set reads, or every such element of one that reads none."""
    numbers = _int64(num_workers, "num_workers"), _int64(index, "index")
    variant = auto_shard_dataset(input_dataset._variant_tensor, *numbers, **input_dataset._flat_structure)
    return Dataset(variant, input_dataset._element, input_dataset)


_AutoShardDatasetV1 = _AutoShardDataset


def _RebatchDataset(input_dataset: Dataset, num_replicas: int, use_fallback: bool = True) -> Dataset:
    """Each batch in `num_replicas` parts. ValueError for scalars and what has an unknown rank."""

    def part(component: Component) -> Component:
        if not len(component.shape):
            raise ValueError("Input shape should have at least one dimension. Perhaps your input dataset is not batched?")
        size = component.shape[0].value
        return component.slice().batch(size // num_replicas if size and size % num_replicas == 0 else None)

    element = map_leaves(part, input_dataset._element)
    parts = _int64(num_replicas, "num_replicas")
    variant = rebatch_dataset(input_dataset._variant_tensor, parts, use_fallback=use_fallback, **spec_of(element))
    return Dataset(variant, element, input_dataset)


# --- optimization ------------------------------------------------------------------------------------------------------


def _ChooseFastestDataset(datasets: Sequence[Dataset], num_experiments: int = 10) -> Dataset:
    """The elements that all of `datasets` have. InvalidArgumentError where they differ in types or number."""
    datasets = list(datasets)
    element, types = datasets[0]._element, datasets[0]._flat_types
    for number, dataset in enumerate(datasets):
        if dataset._flat_types != types:
            found, expected = (", ".join(dtype.name for dtype in one) for one in (dataset._flat_types, types))
            raise InvalidArgumentError(
                None,
                None,
                f"All inputs to ChooseFastestDataset must have the same output types. Input {number} has output types: "
                f"{found}. Expected: {expected}.",
            )
        element = map_leaves(lambda a, b: a.most_specific(b), element, dataset._element)
    variants = [dataset._variant_tensor for dataset in datasets]
    variant = choose_fastest_dataset(variants, num_experiments=num_experiments, **spec_of(element))
    return Dataset(variant, element, *datasets)


def _ChooseFastestBranchDataset(
    input_dataset: Dataset,
    functions: Sequence[Callable[[Dataset], Dataset]],
    ratio_numerator: Any = 1,
    ratio_denominator: Any = 1,
    num_elements_per_branch: int | None = None,
) -> Dataset:
    """What any of `functions` makes of the data set, `ratio_denominator` elements of each `ratio_numerator`.

    ValueError for no functions, or functions of which one makes other elements.
    """
    whole = Component(dtypes.variant, TensorShape([]), input_dataset._element, DATASET)
    branches = [DatasetFunction(function, "tf.data.ChooseFastestBranch", whole) for function in functions]
    if not branches:
        raise ValueError("ChooseFastestBranch wants at least one function")
    for branch in branches:
        if spec_of(branch.result.inner)["output_types"] != spec_of(branches[0].result.inner)["output_types"]:
            raise ValueError("ChooseFastestBranch functions must have the same output types")
    element = branches[0].result.inner
    variant = choose_fastest_branch_dataset(
        input_dataset._variant_tensor,
        _int64(ratio_numerator, "ratio_numerator"),
        _int64(ratio_denominator, "ratio_denominator"),
        [tensor for branch in branches for tensor in branch.captured],
        num_elements_per_branch=num_elements_per_branch or 1,
        branches=[branch.named for branch in branches],
        other_arguments_lengths=[len(branch.captured) for branch in branches],
        **spec_of(element),
    )
    return Dataset(variant, element, input_dataset)


def _AssertNextDataset(input_dataset: Dataset, transformations: Any) -> Dataset:
    """The elements; that these transformations come next is not looked at, because nothing is rewritten here."""
    names = convert_to_tensor(transformations, dtype=dtypes.string, name="transformations")
    variant = get_op("AssertNextDataset")(input_dataset._variant_tensor, names, **input_dataset._flat_structure)
    return Dataset(variant, input_dataset._element, input_dataset)


def assert_next(transformations: Any) -> Transformation:
    """See `_AssertNextDataset`."""
    return lambda dataset: _AssertNextDataset(dataset, transformations)


def model() -> Transformation:
    """The elements, by a node that decides how many threads compute them; results do not depend on it."""

    def apply(dataset: Dataset) -> Dataset:
        variant = get_op("ModelDataset")(dataset._variant_tensor, **dataset._flat_structure)
        return Dataset(variant, dataset._element, dataset)

    return apply


# --- transformations under the names of their classes ------------------------------------------------------------------


def _DirectedInterleaveDataset(selector_input: Dataset, data_inputs: Sequence[Dataset]) -> Dataset:
    """Each element from that of `data_inputs` which an element of `selector_input` says."""
    return directed(list(data_inputs), selector_input)


def _MapAndBatchDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_calls: Any,
    drop_remainder: Any,
    use_legacy_function: bool = False,
) -> Dataset:
    """See `tf.data.experimental.map_and_batch`."""
    mapping = map_and_batch(map_func, batch_size, None, drop_remainder, num_parallel_calls)
    return mapping(input_dataset)


def _DenseToSparseBatchDataset(input_dataset: Dataset, batch_size: Any, row_shape: Any) -> Dataset:
    """See `tf.data.experimental.dense_to_sparse_batch`."""
    return dense_to_sparse_batch(batch_size, row_shape)(input_dataset)


def _ScanDataset(input_dataset: Dataset, initial_state: Any, scan_func: Callable[..., Any]) -> Dataset:
    """See `tf.data.experimental.scan`."""
    return scanned(input_dataset, initial_state, scan_func)


# --- map_defun ---------------------------------------------------------------------------------------------------------


def map_defun(
    fn: Any, elems: list[Any], output_dtypes: Sequence[Any], output_shapes: Sequence[Any], max_intra_op_parallelism: int = 1
) -> list[Tensor]:
    """`fn`, a `tf.function` with an input signature, of each slice of `elems`: its results, one above the other.

    ValueError unless `elems` is a list.
    """
    if not isinstance(elems, list):
        raise ValueError("`elems` must be a list of tensors.")
    if not isinstance(output_dtypes, list):
        raise ValueError("`output_dtypes` must be a list of `tf.DType` objects.")
    if not isinstance(output_shapes, list):
        raise ValueError("`output_shapes` must be a list of `tf.TensorShape` objects.")
    traced = fn.get_concrete_function()
    results: list[Tensor] = map_defun_op(
        [convert_to_tensor(elem, name="elem") for elem in elems],
        traced.captured_inputs,
        output_types=output_dtypes,
        output_shapes=[TensorShape(shape) for shape in output_shapes],
        f=traced,
        max_intra_op_parallelism=max_intra_op_parallelism,
    )
    return results


def _int64(value: Any, name: str) -> Tensor:
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)

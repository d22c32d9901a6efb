"""`tensorflow.python.data.kernel_tests.test_base`: assertions about what data sets produce. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, errors
from tfexp.core.shape import as_shape
from tfexp.data import iterator as iterators
from tfexp.data.dataset import Dataset
from tfexp.data.structure import flatten
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue
from tfexp.ops.array_fill import zeros
from tfexp.ragged_tensors.tensor import RaggedTensor
from tfexp.ragged_tensors.value import RaggedTensorValue
from tfexp.runtime.testing import TestCase
from tfexp.stand_ins.test_combinations import combine


def default_test_combinations() -> list[Any]:
    """What most tests of data sets run in: both modes, in both versions."""
    return combine(tf_api_version=[1, 2], mode=["eager", "graph"])


class DatasetTestBase(TestCase):
    """A test case that takes data sets apart, in graphs and eagerly."""

    # --- elements ------------------------------------------------------------------------------------------------

    def getNext(
        self, dataset: Any, requires_initialization: bool = False, shared_name: str | None = None
    ) -> Callable[[], Any]:
        """A function that gives the next element, as a tensor of the graph or as what it is eagerly."""
        if executing_eagerly():
            return iter(dataset).get_next
        if requires_initialization:
            initializable = iterators.make_initializable_iterator(dataset, shared_name)
            self.evaluate(initializable.initializer)
            element = initializable.get_next()
        else:
            element = iterators.make_one_shot_iterator(dataset).get_next()
        return lambda: element

    def getDatasetOutput(self, dataset: Any, requires_initialization: bool = False) -> list[Any]:
        """All elements."""
        get_next, found = self.getNext(dataset, requires_initialization), []
        while True:
            try:
                found.append(self.evaluate(get_next()))
            except errors.OutOfRangeError:
                return found

    def assertValuesEqual(self, expected: Any, actual: Any) -> None:
        """One component: dense, sparse or ragged."""
        if isinstance(expected, (SparseTensorValue, SparseTensor)):
            for field in SparseTensorValue._fields:
                self.assertAllEqual(getattr(expected, field), getattr(actual, field))
        elif isinstance(expected, (RaggedTensor, RaggedTensorValue)):
            lists = [
                one.to_list() if isinstance(one, RaggedTensorValue) else self.evaluate(one).to_list()
                for one in (expected, actual)
            ]
            self.assertEqual(*lists)
        else:
            self.assertAllEqual(expected, actual)

    def _compareOutputToExpected(self, result_values: Any, expected_values: Any, assert_items_equal: bool) -> None:
        if assert_items_equal:
            self.assertCountEqual(result_values, expected_values)
            return
        self.assertEqual(len(result_values), len(expected_values))
        for result, expected in zip(result_values, expected_values, strict=True):
            found, wanted = flatten(result), flatten(expected)
            self.assertEqual(len(found), len(wanted))
            for one, other in zip(wanted, found, strict=True):
                self.assertValuesEqual(one, other)

    def assertDatasetProduces(
        self,
        dataset: Any,
        expected_output: Any = None,
        expected_shapes: Any = None,
        expected_error: tuple[Any, str] | None = None,
        requires_initialization: bool = False,
        num_test_iterations: int = 1,
        assert_items_equal: bool = False,
        expected_error_iter: int = 1,
    ) -> None:
        """The elements, in this order (or any: `assert_items_equal`); or (error class, text) at so many elements."""
        if expected_error:
            self.assertIsNone(expected_output, "either elements or an error")
            with self.assertRaisesWithPredicateMatch(expected_error[0], expected_error[1]):
                get_next = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(get_next())
            return
        if expected_shapes:
            self.assertEqual(expected_shapes, dataset.output_shapes)
        self.assertGreater(num_test_iterations, 0)
        assert expected_output is not None
        for _ in range(num_test_iterations):
            get_next = self.getNext(dataset, requires_initialization)
            found = [self.evaluate(get_next()) for _ in range(len(expected_output))]
            self._compareOutputToExpected(found, expected_output, assert_items_equal)
            for _ in range(2):  # and it stays at its end
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(get_next())

    # --- two data sets -------------------------------------------------------------------------------------------

    def assertDatasetsEqual(self, dataset1: Any, dataset2: Any) -> None:
        """Both produce the same elements, of the same types, shapes and structure."""
        for aspect in ("output_types", "output_shapes", "output_classes"):
            self.assertEqual(getattr(dataset1, aspect), getattr(dataset2, aspect))
        self.assertDatasetProduces(dataset2, self.getDatasetOutput(dataset1))

    def assertDatasetsRaiseSameError(
        self, dataset1: Any, dataset2: Any, exception_class: Any, replacements: list[tuple[str, str]] | None = None
    ) -> None:
        """Both end with that error, in the same words but for `replacements`: node names differ."""
        texts = []
        for dataset in (dataset1, dataset2):
            get_next = self.getNext(dataset)
            with self.assertRaises(exception_class) as caught:
                self.evaluate(get_next())
            texts.append(str(caught.exception).partition("\n")[0])
        for old, new in replacements or []:
            texts[0] = re.sub(old, new, texts[0])
        self.assertEqual(*texts)

    def checkDeterminism(self, dataset_fn: Callable[..., Any], expect_determinism: bool, expected_elements: Any) -> None:
        """`dataset_fn(delay_ms)`: whether elements keep their order although the first of them takes its time."""
        if expect_determinism:
            self.assertDatasetProduces(dataset_fn(100), expected_elements)
        else:
            self.assertCountEqual(self.getDatasetOutput(dataset_fn(100)), expected_elements)

    def assert_op_cancelled(self, op: Any) -> None:
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    # --- data sets of a structure --------------------------------------------------------------------------------

    def structuredDataset(self, structure: Any, shape: Any = None, dtype: Any = dtypes.int64) -> Any:
        """A data set of zeros in that nested structure, of which None is a leaf."""
        if structure is None:
            return Dataset.from_tensors(zeros(_dims(shape), dtype=dtype))
        return Dataset.zip(tuple(self.structuredDataset(part, shape, dtype) for part in structure))

    def structuredElement(self, element_structure: Any, shape: Any = None, dtype: Any = dtypes.int64) -> Any:
        """A tensor of zeros in that nested structure, of which None is a leaf."""
        if element_structure is None:
            return zeros(_dims(shape), dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)


def _dims(shape: Any) -> list[int]:
    return [] if shape is None else [int(size or 1) for size in as_shape(shape).as_list()]


class FilterTestBase(DatasetTestBase):
    """`filter_test_base.FilterTestBase`: what filters have in common, by whatever function they are applied."""

    def apply_filter(self, input_dataset: Any, predicate: Callable[..., Any]) -> Any:
        raise NotImplementedError

    def testFilterKeepsWhatIsTrue(self) -> None:
        kept = self.apply_filter(Dataset.range(7), lambda x: x % 3 > 0)
        self.assertDatasetProduces(kept, [1, 2, 4, 5])

    def testFilterOfDicts(self) -> None:
        source = Dataset.range(5).map(lambda x: {"double": x * 2, "square": x * x})
        kept = self.apply_filter(source, lambda element: element["square"] > element["double"])
        self.assertDatasetProduces(kept, [{"double": 6, "square": 9}, {"double": 8, "square": 16}])

    def testFilterWantsABoolean(self) -> None:
        with self.assertRaises(ValueError):
            self.apply_filter(Dataset.range(3), lambda x: x)

    def testFilterOfPairs(self) -> None:
        pairs = Dataset.zip((Dataset.from_tensor_slices([True, False]).repeat(), Dataset.range(4)))
        self.assertDatasetProduces(self.apply_filter(pairs, lambda keep, _: keep), [(True, 0), (True, 2)])


FilterTestBase.__test__ = False  # its tests are those of what derives from it

"""`tensorflow.python.data.kernel_tests.test_base`: assertions about what data sets produce. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import errors
from tfexp.data import iterator as iterators
from tfexp.data.structure import flatten
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.runtime.testing import TestCase


class DatasetTestBase(TestCase):
    """A test case that takes data sets apart, in graphs and eagerly."""

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
            except (errors.OutOfRangeError, StopIteration):
                return found

    def assertValuesEqual(self, expected: Any, actual: Any) -> None:
        if isinstance(expected, SparseTensorValue):
            for one, other in zip(expected, actual, strict=True):
                self.assertAllEqual(one, other)
        else:
            self.assertAllEqual(expected, actual)

    def _compare_all(self, get_next: Callable[[], Any], expected: list[Any], assert_items_equal: bool) -> None:
        if assert_items_equal:
            self.assertCountEqual([self.evaluate(get_next()) for _ in expected], expected)
        else:
            for wanted in expected:
                leaves, found = flatten(wanted), flatten(self.evaluate(get_next()))
                self.assertEqual(len(leaves), len(found))
                for one, other in zip(leaves, found, strict=True):
                    self.assertValuesEqual(one, other)
        for _ in range(2):  # and it stays at its end
            with self.assertRaises((errors.OutOfRangeError, StopIteration)):
                self.evaluate(get_next())

    def assertDatasetProduces(
        self,
        dataset: Any,
        expected_output: list[Any] | None = None,
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
            self._compare_all(self.getNext(dataset, requires_initialization), expected_output, assert_items_equal)

    def assertDatasetsEqual(self, dataset1: Any, dataset2: Any) -> None:
        """Both produce the same elements, of the same types, shapes and structure."""
        for aspect in ("output_types", "output_shapes", "output_classes"):
            self.assertEqual(getattr(dataset1, aspect), getattr(dataset2, aspect))
        self.assertDatasetProduces(dataset2, self.getDatasetOutput(dataset1))

    def assertDatasetsRaiseSameError(
        self, dataset1: Any, dataset2: Any, exception_class: Any, replacements: list[tuple[str, str]] | None = None
    ) -> None:
        """Both end with that error, in the same words but for `replacements` in the first one's."""
        texts = []
        for dataset in (dataset1, dataset2):
            get_next = self.getNext(dataset)
            with self.assertRaises(exception_class) as caught:
                self.evaluate(get_next())
            texts.append(str(caught.exception))
        for old, new in replacements or []:
            texts[0] = texts[0].replace(old, new)
        self.assertEqual(*texts)

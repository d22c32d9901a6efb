"""What the tests of ragged tensors derive from: `ops.ragged.ragged_test_util`. Source: TF 1.14."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.ragged_tensors.tensor import RaggedTensor
from tfexp.ragged_tensors.value import RaggedTensorValue
from tfexp.runtime.testing import TestCase


class RaggedTensorTestCase(TestCase):
    """Compares ragged tensors with nested lists."""

    def eval_to_list(self, tensor: Any) -> Any:
        """The value of a tensor of any kind as nested lists."""
        value = self.evaluate(tensor) if not isinstance(tensor, (RaggedTensorValue, np.ndarray, list)) else tensor
        if isinstance(value, RaggedTensorValue):
            return value.to_list()
        return np.asarray(value).tolist() if not isinstance(value, list) else value

    def assertRaggedEqual(self, a: Any, b: Any) -> None:
        self.assertEqual(self._listed(a), self._listed(b))

    def assertRaggedAlmostEqual(self, a: Any, b: Any, places: int = 7) -> None:
        self._almost(self._listed(a), self._listed(b), places)

    def _listed(self, value: Any) -> Any:
        return value if isinstance(value, list) else self.eval_to_list(value)

    def _almost(self, a: Any, b: Any, places: int) -> None:
        self.assertEqual(isinstance(a, list), isinstance(b, list))
        if not isinstance(a, list):
            self.assertAlmostEqual(a, b, places=places)
            return
        self.assertEqual(len(a), len(b))
        for one, other in zip(a, b, strict=True):
            self._almost(one, other, places)

    def assertRaggedRank(self, tensor: RaggedTensor, ragged_rank: int) -> None:
        self.assertEqual(tensor.ragged_rank, ragged_rank)

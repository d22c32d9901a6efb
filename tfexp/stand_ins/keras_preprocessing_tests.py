"""`tensorflow.python.keras.layers.preprocessing.preprocessing_test_utils`: what a combiner has to do. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.runtime.testing import TestCase
from tfexp.stand_ins.keras_preprocessing_layers import Combiner


class PreprocessingLayerTest(TestCase):
    """Assertions about a `Combiner` and at least four rows of data."""

    def assertAllCloseOrEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The same values in the same structure: numbers almost, anything else exactly."""
        if isinstance(a, Mapping):
            assert a.keys() == b.keys(), msg
            a, b = list(a.values()), [b[key] for key in a]
        if isinstance(a, (list, tuple)):
            assert len(a) == len(b), msg
            for one, other in zip(a, b, strict=True):
                self.assertAllCloseOrEqual(one, other, msg)
        elif np.issubdtype(np.asarray(a).dtype, np.number):
            self.assertAllClose(a, b, msg=msg)
        else:
            self.assertAllEqual(a, b, msg=msg)

    def assert_extracted_output_equal(self, combiner: Combiner, acc1: Any, acc2: Any, msg: str | None = None) -> None:
        self.assertAllCloseOrEqual(combiner.extract(acc1), combiner.extract(acc2), msg)

    def validate_accumulator_computation(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """However data are cut, and in whatever order the parts are merged, the result is the same."""
        if len(data) < 4:
            raise AssertionError("Data must have at least 4 elements.")
        parts = np.array(data[:1]), np.array(data[1:2]), np.array(data[2:])
        first, second, rest = (combiner.compute(part) for part in parts)
        ways = {
            "whole": combiner.compute(data),
            "in parts": combiner.merge([first, second, rest]),
            "in another order": combiner.merge([second, rest, first]),
            "merged twice": combiner.merge([second, combiner.merge([rest, first])]),
            "one upon the other": combiner.compute(parts[0], combiner.compute(parts[1], rest)),
            "upon another and merged": combiner.merge([first, combiner.compute(parts[1], rest)]),
        }
        for way, found in ways.items():
            self.assertAllCloseOrEqual(expected, found, f"Data computed {way} should give the same.")

    def validate_accumulator_extract(self, combiner: Combiner, data: Any, expected: Any) -> None:
        self.assertAllCloseOrEqual(expected, combiner.extract(combiner.compute(data)))

    def validate_accumulator_extract_and_restore(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """An accumulator that is extracted and restored is the same."""
        before = combiner.compute(data)
        after = combiner.restore(combiner.extract(before))
        self.assert_extracted_output_equal(combiner, before, after)
        self.assertAllCloseOrEqual(expected, combiner.extract(after))

    def validate_accumulator_serialize_and_deserialize(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """An accumulator that is serialized and deserialized is the same."""
        before = combiner.compute(data)
        self.assertAllCloseOrEqual(before, combiner.deserialize(combiner.serialize(before)))

    def validate_accumulator_uniqueness(self, combiner: Combiner, data: Any) -> None:
        """Each call makes an accumulator of its own."""
        first, second = combiner.compute(data), combiner.compute(data)
        assert first is not second
        self.assertAllCloseOrEqual(first, second)

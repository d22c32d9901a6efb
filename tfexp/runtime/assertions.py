"""What tests assert of arrays, structures of them, protos, names and errors: `tf.test.TestCase`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from absl.testing import absltest
from google.protobuf import text_format
from google.protobuf.message import Message

from tfexp.core import errors, nest
from tfexp.core.device import canonical_name
from tfexp.core.dtypes import as_dtype
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.graph import PRODUCER_VERSION
from tfexp.graph.tensor import Tensor


class Assertions(absltest.TestCase):
    """The assertions. What they are given may be tensors, or hold some: those count by their values."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors."""
        raise NotImplementedError(f"{type(self).__name__} does not say how tensors get their values")

    def _evaluated(self, value: Any) -> Any:
        if isinstance(value, (Tensor, IndexedSlices, nest.Composite)) or hasattr(value, "_as_graph_element"):
            return self.evaluate(value)
        return value

    def _GetNdArray(self, a: Any) -> np.ndarray:
        value = self._evaluated(a)
        return value if isinstance(value, np.ndarray) else np.array(value)

    def _GetPyList(self, a: Any) -> Any:
        """The value as lists of lists of numbers or strings; rows may have different lengths."""
        value = self._evaluated(a)
        if hasattr(value, "to_list"):
            return value.to_list()
        if isinstance(value, (list, tuple)):
            return [self._GetPyList(element) for element in value]
        return np.array(value).tolist()

    # --- near each other ---------------------------------------------------------------------------------------------

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Structures of numbers, arrays or tensors whose leaves differ by at most `atol + rtol * |b|`."""
        if _is_ragged(a) or _is_ragged(b):
            a, b = self._GetPyList(a), self._GetPyList(b)
        self._assert_close(a, b, rtol, atol, "", msg or "")

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a, b = (self._evaluated(value._asdict() if hasattr(value, "_asdict") else value) for value in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
        if isinstance(a, Mapping):
            keys = f"mismatched keys: a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}. {msg}"
            self.assertCountEqual(a, b, keys)
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
        elif _has_parts(a) or _has_parts(b):
            lengths = _length(a), _length(b)
            items = f"Mismatched length: a{path} has {lengths[0]} items, but b{path} has {lengths[1]} items. {msg}"
            self.assertEqual(*lengths, items)
            for i, (one, other) in enumerate(zip(a, b, strict=True)):
                self._assert_close(one, other, rtol, atol, f"{path}[{i}]", msg)
        else:
            where = f"Mismatched value: a{path} is different from b{path}. {msg}"
            try:
                self._assert_arrays_close(self._GetNdArray(a), self._GetNdArray(b), rtol, atol, where)
            except TypeError as error:
                kinds = f"a{path} has {type(a)}, but b{path} has {type(b)}. {msg}"
                raise TypeError(f"{error}: Error: {kinds}") from error

    def _assert_arrays_close(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, msg: str) -> None:
        contents = f" with contents {b}" if b.size < 500 else ""
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}.")
        a, b = (x.astype(np.float32) if x.dtype.name == "bfloat16" else x for x in (a, b))
        # What has no numbers is refused here, in the words of NumPy's.
        both_nan = np.isnan(a) & np.isnan(b)
        close = np.isclose(a, b, rtol, atol) | both_nan
        if close.all():
            return
        far = _at(~close, a=a, b=b)
        lines = [msg, *_where(~close), f"not close lhs = {far['a']}", f"not close rhs = {far['b']}"]
        lines.append(f"not close dif = {np.abs(np.subtract(far['a'], far['b'], dtype=np.result_type(a, b, 1.0)))}")
        lines.append(f"not close tol = {atol + rtol * np.abs(far['b'])}")
        lines.append(f"dtype = {a.dtype}, shape = {a.shape}")
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerances of the coarser of the two types."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        names = {a.dtype.name, b.dtype.name}
        for kinds, kind_rtol, kind_atol in (
            ({"float32", "complex64"}, float_rtol, float_atol),
            ({"float16"}, half_rtol, half_atol),
            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol),
        ):
            if names & kinds:
                rtol, atol = max(rtol, kind_rtol), max(atol, kind_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        suffix = f" ({msg})" if msg else ""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1:f} != {f2:f} +/- {err:f}{suffix}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    def _NDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float) -> bool:
        return bool(np.linalg.norm(self._GetNdArray(ndarray1) - self._GetNdArray(ndarray2)) < err)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg)

    # --- equal, in order, within ---------------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays or tensors of one shape with equal elements; NaN is NaN."""
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(self._GetPyList(a), self._GetPyList(b), msg)
            return
        one, other = self._GetNdArray(a), self._GetNdArray(b)
        contents = f" Contents: {other}." if other.size < 500 else ""
        self.assertEqual(
            one.shape, other.shape, f"Shape mismatch: expected {one.shape}, got {other.shape}.{contents} {msg or ''}"
        )
        unequal = np.logical_not(one == other)  # shapes that are not known are equal, but nobody knows if they differ
        if not unequal.any():
            return
        found = _at(unequal, a=one, b=other)
        lines = [msg or "", *_where(unequal, "equal"), f"not equal lhs = {found['a']}", f"not equal rhs = {found['b']}"]
        np.testing.assert_array_equal(one, other, err_msg="\n".join(lines))

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        self.assertGreater(self._GetNdArray(a).min().item(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        self.assertGreaterEqual(self._GetNdArray(a).min().item(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        self.assertLess(self._GetNdArray(a).max().item(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        self.assertLessEqual(self._GetNdArray(a).max().item(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Numbers between the bounds, which belong to the range unless it is open there; NaN is in none."""
        values = self._GetNdArray(target)
        if values.dtype.kind not in "iuf" and values.dtype.name != "bfloat16":
            kind = f"it has type: {values.dtype}"
            raise AssertionError(f"The value of {target} does not have an ordered numeric type, instead {kind}")
        if (nan := np.isnan(values)).any():
            head = f"{nan.sum()} of the {values.size} element(s) are NaN. Subscripts(s) and value(s) of the NaN element(s):"
            raise AssertionError("\n".join([head, *self._format_subscripts(np.nonzero(nan), values)]))
        low = values > lower_bound if open_lower_bound else values >= lower_bound
        high = values < upper_bound if open_upper_bound else values <= upper_bound
        outside = ~(low & high)
        if outside.any():
            bounds = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
            head = f"{outside.sum()} of the {values.size} element(s) are outside the range {bounds}. "
            head += "Subscript(s) and value(s) of the offending elements:"
            raise AssertionError("\n".join([head, *self._format_subscripts(np.nonzero(outside), values)]))

    def _format_subscripts(self, subscripts: Any, value: np.ndarray, limit: int = 10, indent: int = 2) -> list[str]:
        """A line for each place, given by its index along each axis, and the element there; no more than `limit`."""
        places = np.stack(subscripts, axis=1)
        lines = [f"{' ' * indent}{place} : {value[tuple(place)]}" for place in places[:limit]]
        return lines + [" " * indent + "..."] * (len(places) > limit)

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        values = self._GetNdArray(target)
        if bad := [value for value in np.unique(values).tolist() if value not in expected_set]:
            raise AssertionError(f"{len(bad)} unique element(s) are not in the set {expected_set}: {bad}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """A tensor, an array or a list of that type (a DType or what NumPy takes for one)."""
        dtype = target.dtype if hasattr(target, "dtype") else self._GetNdArray(target).dtype
        self.assertEqual(as_dtype(dtype).base_dtype, as_dtype(expected_dtype).base_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    # --- errors, protos, names -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises that exception, and its text matches the pattern, or the predicate holds for it."""
        matches: Callable[[Any], bool]
        if callable(expected_err_re_or_predicate):
            matches = expected_err_re_or_predicate
        else:
            pattern = re.compile(expected_err_re_or_predicate)

            def matches(error: Any) -> bool:
                text = error.message if isinstance(error, errors.OpError) else str(error)
                operation = getattr(error, "op", None)
                return (
                    pattern.search(f"{text}\nCaused by op {operation.name!r}" if operation is not None else text) is not None
                )

        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Message, msg: str | None = None) -> None:
        """Protos of one type with equal fields; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(expected, type(message)())
        if type(expected) is not type(message):
            self.fail(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
        self.assertEqual(text_format.MessageToString(expected), text_format.MessageToString(message), msg)

    def assertProtoEqualsVersion(
        self, expected: str, actual: Any, producer: int = PRODUCER_VERSION, min_consumer: int = 0, msg: str | None = None
    ) -> None:
        """GraphDefs with equal fields, the expected one being text without versions."""
        self.assertProtoEquals(f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n{expected}", actual, msg)

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: Any = None) -> None:
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}" + (f" : {msg!r}" if msg else ""))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        one, other = canonical_name(device1), canonical_name(device2)
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg}")

    assertItemsEqual = absltest.TestCase.assertCountEqual


def _is_ragged(value: Any) -> bool:
    """A ragged tensor, or the value of one."""
    return hasattr(value, "nested_row_splits")


def _has_parts(value: Any) -> bool:
    """A list that is compared element by element: it holds tensors, mappings, or arrays of several shapes."""
    if not isinstance(value, (list, tuple)):
        return False
    if any(isinstance(leaf, (Tensor, np.ndarray)) or hasattr(leaf, "_as_graph_element") for leaf in nest.flatten(value)):
        return True
    try:
        return np.array(value).dtype == object
    except ValueError:
        return True


def _length(value: Any) -> int | None:
    """How many elements there are to compare one by one; None for a number."""
    return len(value) if isinstance(value, (list, tuple)) or np.ndim(value) else None


def _where(wrong: np.ndarray, what: str = "close") -> list[str]:
    """The line that says which elements are wrong; a single number needs none."""
    return [f"not {what} where = {np.nonzero(wrong)}"] if wrong.ndim else []


def _at(wrong: np.ndarray, **arrays: np.ndarray) -> dict[str, Any]:
    """The elements of each array that are wrong; a single number as it is."""
    return {name: array[wrong] if wrong.ndim else array[()] for name, array in arrays.items()}

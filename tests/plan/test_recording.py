"""What is recorded of kernels, and that the loop written from it computes what NumPy does, to the bit.

Here the loops run as the Python that they are; `tests/runtime/test_compiled_loops.py` has them compiled.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops import harness
from tests.ops.harness import build_constant
from tfexp.core.op import flatten_args, get_op
from tfexp.plan.compiled_loops import run_kernel
from tfexp.plan.loop_source import write_loop
from tfexp.plan.recording import OPERATIONS, Recorder, UnrecordableError, can_record

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 3e38, -1e-38]


def run_as_python(text: str, *arguments: Any) -> bool:
    names: dict[str, Any] = {"np": np}
    exec(text, names)
    with np.errstate(all="ignore"):
        return bool(names["loop"](*arguments))


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of some values that are not like others."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = np.array(SPECIAL, kind)
    elif kind.kind == "b":
        values = np.array([False, True])
    else:
        info = np.iinfo(kind)
        values = np.array([info.min, info.max, 0, 1, 7, info.max // 2 + 3], kind)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def operations_of(dtype: str) -> list[Any]:
    kind = np.dtype(dtype).kind
    return [getattr(np, name) for name, (_, kinds) in OPERATIONS.items() if kind in kinds]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_each_operation_computes_what_numpy_does(dtype: str) -> None:
    x, y = operands(dtype)
    for ufunc in operations_of(dtype):
        recorder = Recorder(x.shape)
        given = [recorder.argument(x.shape, x.dtype), recorder.argument(y.shape, y.dtype)]
        source = write_loop(recorder.finish([(-1, ufunc(*given[: ufunc.nin]))]))
        with np.errstate(all="ignore"):
            wanted = ufunc(*(x, y)[: ufunc.nin])
        result = np.empty_like(wanted)
        assert run_as_python(source.text, x, y, result, *source.extents)
        np.testing.assert_array_equal(result, wanted, ufunc.__name__)


BROADCASTS = {
    "alike": [(3, 5, 7), (3, 5, 7)],
    "a row": [(3, 5, 7), (7,)],
    "a column": [(3, 5, 7), (3, 5, 1)],
    "a channel": [(3, 5, 7), (5, 1)],
    "a number": [(3, 5, 7), ()],
    "one element": [(3, 5, 7), (1, 1)],
    "an outer product": [(5, 1), (7,)],
    "crossed": [(3, 1, 7), (5, 1)],
    "dimensions of one": [(1, 5, 1, 7), (7,)],
}


@pytest.mark.parametrize("shapes", BROADCASTS.values(), ids=BROADCASTS)
def test_arguments_are_broadcast(shapes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(5)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    wanted = np.subtract(*arrays)
    recorder = Recorder(wanted.shape)
    difference = np.subtract(*[recorder.argument(a.shape, a.dtype) for a in arrays])
    source = write_loop(recorder.finish([(-1, difference)]))
    result = np.empty_like(wanted)
    assert run_as_python(source.text, *arrays, result, *source.extents)
    np.testing.assert_array_equal(result, wanted)
    wrong = [np.zeros(np.array(shape) + 1, np.float32) for shape in shapes]
    if any(a.ndim for a in wrong):
        assert not run_as_python(source.text, *wrong, result, *source.extents), "arrays of other sizes are refused"


def test_the_text_is_the_same_for_other_extents() -> None:
    def text(dims: tuple[int, ...]) -> str:
        recorder = Recorder(dims)
        x = recorder.argument(dims, np.dtype(np.float32))
        return write_loop(recorder.finish([(-1, x * recorder.argument(dims[-1:], np.dtype(np.float32)))])).text

    assert text((3, 5, 7)) == text((11, 13)) != text((11,))


def test_types_follow_numpy() -> None:
    recorder = Recorder((5,))
    x = recorder.argument((5,), np.dtype(np.float32))
    n = recorder.argument((5,), np.dtype(np.int32))
    assert (x * 0.5).dtype == np.float32 and (x * np.float64(0.5)).dtype == np.float64
    assert (x + n).dtype == np.float64 and (n > 0).dtype == np.bool_ and (x * (n > 0)).dtype == np.float32
    assert np.where(x > 0, x, 0.0).dtype == np.float32


UNRECORDABLE = {
    "parts": lambda x: x[1:],
    "values": lambda x: bool(x[0] > 0),
    "a sum": np.add.reduce,
    "another shape": lambda x: x.reshape(1, 5),
    "what loops compute otherwise": np.exp,
    "a function of whole arrays": np.sort,
    "floats as integers": lambda x: x.astype(np.int32),
    "numbers of another type": lambda x: x.astype(np.complex64),
    "an array from elsewhere": lambda x: x * np.arange(5, dtype=np.float32),
    "an input that is written to": lambda x: np.add(x, 1.0, out=x),
    "memory that holds nothing yet": lambda x: np.empty_like(x) + 1.0,
    "an attribute": lambda x: x.traced,
    "an array of NumPy's": np.asarray,
}


@pytest.mark.parametrize("kernel", UNRECORDABLE.values(), ids=UNRECORDABLE)
def test_what_is_not_element_by_element_is_refused(kernel: Any) -> None:
    recorder = Recorder((5,))
    x = recorder.argument((5,), np.dtype(np.float32))
    with pytest.raises(UnrecordableError):
        recorder.finish([(-1, kernel(x))])


# --- the kernels of all ops --------------------------------------------------------------------------------------------


def _rows() -> dict[str, list[harness.OpCase]]:
    """The rows of all families whose op says what it does to arrays, by op."""
    for file in sorted(pathlib.Path(harness.__file__).parent.glob("test_*.py")):
        if "op_tests(" in file.read_text():
            importlib.import_module(f"tests.ops.{file.stem}")
    rows: dict[str, list[harness.OpCase]] = {}
    for case in harness.CASES:
        if "XLA" in get_op(case.op).kernels:
            rows.setdefault(case.op, []).append(case)
    return rows


ROWS = _rows()
# Ops of this kind are what loops are for: that they can be recorded is part of what they promise.
RECORDED = {"AddN", "AddV2", "BiasAdd", "Cast", "LeakyRelu", "Mul", "RealDiv", "Relu", "ReluGrad", "SelectV2", "SigmoidGrad"}


@pytest.mark.parametrize("op", sorted(ROWS))
def test_the_loop_of_a_kernel_computes_the_same_bits(op: str) -> None:
    recorded = 0
    for case in ROWS[op]:
        for dtype in case.dtypes:
            arrays = case.arrays(dtype)
            flat = flatten_args(arrays)
            if not all(can_record(np.asarray(a).dtype) for a in flat):
                continue
            with tf.Graph().as_default():
                outputs = build_constant(get_op(op), arrays, case.attrs)
                attrs = outputs[0].op._attrs
            if len(outputs) != 1 or (outputs[0].shape.num_elements() or 0) < 2:  # no loop is made of these
                continue
            with np.errstate(all="ignore"):
                wanted = get_op(op).kernels["CPU"].compute(None, *arrays, **attrs)
            recorder = Recorder(np.shape(wanted))
            try:
                given = [recorder.argument(np.shape(a), np.asarray(a).dtype) for a in flat]
                recording = recorder.finish([(-1, run_kernel(get_op(op), attrs, given, [None] * len(flat)))])
            except UnrecordableError:
                continue
            recorded += 1
            result = np.empty_like(wanted)
            source = write_loop(recording)
            assert run_as_python(source.text, *flat, result, *source.extents)
            np.testing.assert_array_equal(result, wanted, f"{case.id} {dtype}")
    assert recorded or op not in RECORDED

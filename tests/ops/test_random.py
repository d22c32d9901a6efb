"""Random ops against what TensorFlow drew (tests/golden/random), their shapes, their errors."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfexp as tf
from tests.golden.random_cases import LARGE, RUNS, VALUES, Case, cases, checksum, kept
from tfexp.core.op import get_op

CASES = {case.key: case for case in cases()}

# Units in the last place that an inexact value may be off, by dtype. Half and bfloat16 are rounded from float.
NORMAL_ULPS = {"float16": 1, "bfloat16": 1, "float32": 4, "float64": 4}
GAMMA_ULPS = {"float16": 1, "float32": 1, "float64": 16}


class NodeInSession:
    """What the runtime gives to the kernel of one node in one session."""

    def __init__(self) -> None:
        self.node_state: dict[str, Any] = {}


def compute(op: str, ctx: Any, inputs: list[Any], **attrs: Any) -> Any:
    return get_op(op).kernels["CPU"].compute(ctx, *inputs, **attrs)


def run_case(case: Case) -> list[Any]:
    ctx = NodeInSession()
    attrs: dict[str, Any] = {name: tf.as_dtype(value) for name, value in case.attrs.items()}
    if case.op == "RandomGamma":
        attrs["T"] = tf.as_dtype(case.inputs["alpha"].dtype)
    if case.op == "RandomUniformInt":
        attrs["Tout"] = tf.as_dtype(case.inputs["minval"].dtype)
    if case.op == "StatelessRandomUniformInt":
        attrs["dtype"] = tf.as_dtype(case.inputs["minval"].dtype)
    if case.seeds:
        attrs["seed"], attrs["seed2"] = case.seeds
    return [compute(case.op, ctx, list(case.inputs.values()), **attrs) for _ in range(RUNS)]


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, Any]]:
    with np.load(VALUES) as stored:
        index = json.loads(str(stored["index"]))
        return {key: {**entry, "values": stored[str(entry["array"])]} for key, entry in index.items()}


def ulps(x: Any, y: Any, dtype: str) -> int:
    """The largest number of steps of the dtype between corresponding elements; NaN equals NaN."""
    real = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    signed = np.dtype(f"int{8 * np.dtype(real).itemsize}")

    def ordered(values: Any) -> Any:
        bits = values.astype(real).view(signed).astype(np.int64)
        return np.where(bits < 0, np.iinfo(signed).min - bits, bits)

    same = (x == y) | (np.isnan(x) & np.isnan(y))
    distance = np.where(same, 0, np.abs(ordered(x) - ordered(y)))
    return int(distance.max(initial=0))


def test_the_recording_has_every_case(recorded: Any) -> None:
    assert list(recorded) == list(CASES)


@pytest.mark.parametrize("key", CASES)
def test_draws_are_tensorflows(key: str, recorded: Any) -> None:
    case, expected = CASES[key], recorded[key]
    results = run_case(case)
    for number, result in enumerate(results):
        assert (str(result.dtype), list(np.shape(result))) == (expected["dtype"], expected["shape"])
        if case.exact:
            np.testing.assert_array_equal(kept(result), expected["values"][number])
            assert checksum(result) == expected["checksums"][number]
        else:
            allowed = GAMMA_ULPS if case.op == "RandomGamma" else NORMAL_ULPS
            found = ulps(kept(result), expected["values"][number], expected["dtype"])
            assert found <= allowed[expected["dtype"]], f"run {number}: {found} ulp"


def test_runs_of_a_node_and_of_several_nodes_differ_only_by_their_place_in_the_stream() -> None:
    args = {"seed": 5, "seed2": 7, "dtype": tf.float32}
    shape = np.array([13], np.int32)
    first, second = NodeInSession(), NodeInSession()
    draws = [compute("RandomUniform", first, [shape], **args) for _ in range(2)]
    assert not np.array_equal(*draws)
    np.testing.assert_array_equal(compute("RandomUniform", second, [shape], **args), draws[0])


def test_zero_seeds_are_not_reproducible() -> None:
    args = {"seed": 0, "seed2": 0, "dtype": tf.float32}
    shape = np.array([13], np.int32)
    draws = [compute("RandomUniform", NodeInSession(), [shape], **args) for _ in range(2)]
    assert not np.array_equal(*draws)


@pytest.mark.parametrize("op", ["RandomStandardNormal", "TruncatedNormal"])
def test_normals_have_their_moments(op: str) -> None:
    dtype = tf.float64
    values = compute(op, NodeInSession(), [np.array([LARGE], np.int32)], seed=1, seed2=2, dtype=dtype)
    # Truncation at two leaves a variance of 1 - 4 phi(2) / (2 Phi(2) - 1).
    variance = 1.0 if op == "RandomStandardNormal" else 0.77374
    assert abs(values.mean()) < 0.01
    assert values.var() == pytest.approx(variance, rel=0.02)
    assert op == "RandomStandardNormal" or np.abs(values).max() < 2


def test_shuffling_keeps_rows_whole() -> None:
    value = np.array([[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]], object)
    result = compute("RandomShuffle", NodeInSession(), [value], seed=1, seed2=5)
    assert sorted(map(tuple, result)) == sorted(map(tuple, value))


def _shape(*dims: int) -> Any:
    return np.array(dims, np.int32)


FLOAT = {"dtype": tf.float32}
INT = {"Tout": tf.int32}
CATEGORY = {"output_dtype": tf.int64}
ONE, THREE = np.array(1, np.int32), np.array(3, np.int32)
LOGITS = np.zeros((2, 3), np.float32)

RUN_ERRORS = [
    ("RandomUniform", [_shape(-1, 2)], FLOAT, "Dimension -1 must be >= 0"),
    ("RandomUniform", [THREE], FLOAT, r"shape must be a vector of {int32,int64}, got shape \[\]"),
    ("RandomUniform", [_shape(3)[None]], FLOAT, r"shape must be a vector of {int32,int64}, got shape \[1,1\]"),
    ("RandomUniform", [_shape(*[2**20] * 4)], FLOAT, r"would have more than 2\*\*63 - 1 elements"),
    ("RandomStandardNormal", [_shape(-5)], FLOAT, "Dimension -5 must be >= 0"),
    ("TruncatedNormal", [_shape(-5)], FLOAT, "Dimension -5 must be >= 0"),
    ("RandomUniformInt", [_shape(2), THREE, THREE], INT, "Need minval < maxval, got 3 >= 3"),
    ("RandomUniformInt", [_shape(2), _shape(1), THREE], INT, r"minval must be 0-D, got shape \[1\]"),
    ("RandomUniformInt", [_shape(2), ONE, _shape(1, 2)], INT, r"maxval must be 0-D, got shape \[2\]"),
    ("Multinomial", [LOGITS[0], ONE], CATEGORY, r"logits should be a matrix, got shape \[3\]"),
    ("Multinomial", [LOGITS, _shape(1)], CATEGORY, r"num_samples should be a scalar, got shape \[1\]"),
    ("Multinomial", [LOGITS, -ONE], CATEGORY, "num_samples should be nonnegative, got -1"),
    ("Multinomial", [LOGITS[:, :0], ONE], CATEGORY, "num_classes should be positive, got 0"),
    ("RandomGamma", [_shape(-1), LOGITS], {"T": tf.float32}, "Dimension -1 must be >= 0"),
    ("RandomPoissonV2", [THREE, LOGITS], FLOAT, "shape must be a vector"),
]


@pytest.mark.parametrize(("op", "inputs", "attrs", "message"), RUN_ERRORS)
def test_kernels_refuse(op: str, inputs: list[Any], attrs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute(op, NodeInSession(), inputs, seed=1, seed2=2, **attrs)


def test_an_empty_tensor_needs_no_range() -> None:
    assert compute("RandomUniformInt", NodeInSession(), [_shape(0), THREE, THREE], seed=1, seed2=2, **INT).shape == (0,)


def test_sessions_and_nodes_have_streams_of_their_own() -> None:
    with tf.Graph().as_default() as graph:
        one, other = (tf.random_normal([5], seed=3) for _ in range(2))
        sessions = [tf.Session(graph=graph) for _ in range(2)]
        drawn = [[session.run([one, other]) for _ in range(2)] for session in sessions]
        for session in sessions:
            session.close()
    np.testing.assert_array_equal(drawn[0], drawn[1])
    (first, second), (again, _) = drawn[0]
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, again)


def test_a_random_value_is_drawn_once_per_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_uniform([3])
        twice = session.run([x, tf.identity(x), x + 0.0])
    np.testing.assert_array_equal(twice[0], twice[1])
    np.testing.assert_array_equal(twice[0], twice[2])


def test_two_equal_nodes_are_not_merged() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        a, b = session.run([tf.random_uniform([7]), tf.random_uniform([7])])
        unseeded = session.run([tf.random_uniform([7], seed=None) for _ in range(2)])
    assert not np.array_equal(a, b)
    assert not np.array_equal(*unseeded)


def test_a_run_error_names_the_node() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        empty = tf.random_uniform([2], 3, 3, tf.int32, name="nothing")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Need minval < maxval, got 3 >= 3[\s\S]*nothing"):
            session.run(empty)


def test_a_crop_larger_than_its_value_is_refused_when_it_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        crop = tf.random_crop(tf.zeros([2, 3]), [3, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Need value.shape >= size, got"):
            session.run(crop)


# What TensorFlow 1.15 draws, first and in a second run: of normals, of uniform numbers, and of the tail.


def test_rates_without_numbers() -> None:
    values = tf.Session().run(tf.random.poisson([np.inf, -1.0, np.nan], [2]))
    np.testing.assert_array_equal(values, [[np.nan, 0, np.nan]] * 2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_first_version_of_poisson_draws_the_same_numbers(dtype: str) -> None:
    inputs = [np.int32([5]), np.array([2.0, 30.0], dtype)]
    attrs = {"seed": 5, "seed2": 6, "dtype": tf.as_dtype(dtype)}
    first, second = (compute(op, NodeInSession(), inputs, **attrs) for op in ("RandomPoisson", "RandomPoissonV2"))
    assert first.dtype == dtype
    np.testing.assert_array_equal(first, second)

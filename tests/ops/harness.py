"""One table row per op: what it computes, the shape it promises, its gradients, and how it refuses bad input.

How to add rows, in `tests/ops/test_<family>.py`:

    from tests.ops.harness import Error, OpCase, op_tests

    CASES = [
        OpCase("Mul", [(2, 3), (3,)], np.multiply, dtypes=["float32", "int32", "complex64"],
               errors=[Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5")]),
        OpCase("Concat…", [[(2, 3), (5, 3)], np.int32(0)], lambda xs, axis: np.concatenate(xs, axis)),
    ]
    test_rows = op_tests(CASES)

`inputs` are given in the op's order. Each is a shape (distinct primes, please: values of the row's dtype are drawn, the
same in every run), an array or NumPy scalar (taken as it is, in every dtype), `Like(values)` (given values, of the row's
dtype), or a list of these for an `N * T` argument.
`reference(*arrays)` is written with NumPy (or plain Python) independently of the kernel, and returns one array, or a
sequence for an op of several outputs; give an array instead of a function for recorded ("golden") values.

What `op_tests` makes of a row:
- values: for each dtype, the node runs in a Session; values, dtype and shape equal the reference's; inputs are unharmed.
- shapes: the inferred static shape is that of the result; with some and with all dimensions unknown, and with unknown
  rank, inference succeeds and promises nothing that the result does not keep.
- bound: what the op's bind rule gives the planner computes the same, with and without `out=`, and over an input where the
  Call says that it may.
- gradients: first and second order agree with central differences in float64, for the floating inputs that are given by a
  shape. `gradient=()` says that gradients stop: `tf.gradients` gives None, or raises LookupError where there is no rule.
  `second=False` where the second derivative is none (0 everywhere, or not defined by TensorFlow).
- eager: where ops run at once, values and first gradients are the same.
- errors: each `Error` is raised, when the node is made (ValueError, TypeError) or when it runs (tf.errors).

An op whose test is elsewhere is named, with the reason, in `exemptions.py`. `test_completeness.py` asks for every op.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.evaluation import Step, evaluate, needed, run
from tfexp.core import dtypes as tf_dtypes
from tfexp.core import errors
from tfexp.core.kernel import BindRequest
from tfexp.core.op import Op, flatten_args, get_gradient, get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.gradients import gradients
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager import eager_mode

CASES: list[OpCase] = []

# Relative and absolute tolerance by dtype; integers and bools are compared exactly.
_TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}
_STEP = 1e-6  # of the central differences


@dataclass(frozen=True)
class Like:
    """An input of given values that has the dtype of the drawn ones."""

    value: Any


@dataclass(frozen=True)
class Error:
    """`inputs` (as in OpCase; dtype float32 unless the row says otherwise) make the op raise `exception` with `text` in it.

    An exception of `core.errors` is expected when the node runs, fed with arrays of undeclared shapes; any other when the
    node is made, of constants if `constants`, else of placeholders of these shapes.
    """

    inputs: Sequence[Any]
    exception: type[Exception]
    text: str
    attrs: dict[str, Any] = field(default_factory=dict)
    dtype: str | None = None
    constants: bool = False


@dataclass(frozen=True)
class OpCase:
    """A row of the table; see the module's docstring."""

    op: str
    inputs: Sequence[Any]
    reference: Any
    attrs: dict[str, Any] = field(default_factory=dict)
    dtypes: Sequence[str] = ("float32",)
    low: float = -2.0
    high: float = 2.0
    gradient: Sequence[int] | None = None  # flat input numbers; None: every floating input that is given by a shape
    second: bool = True
    refuses: type[Exception] | None = None  # what asking for a gradient raises, where there is a rule that says so
    numeric: bool = True  # False where rounding hides what a small step changes: the gradient is then tested by hand
    tolerance: float | None = None
    gradient_tolerance: float = 1e-5
    errors: Sequence[Error] = ()
    label: str = ""
    static_shape: Any = None  # where inference cannot know what the result's shape is: what it does know
    known_shapes: Sequence[int] = ()  # flat input numbers whose shapes the op has to know when it is made
    drawn_dtypes: dict[int, str] = field(default_factory=dict)  # flat input number -> dtype, for shapes of another type
    same_as_kernel: bool = True  # whether the bound callable must agree with the kernel to the last bit

    @property
    def id(self) -> str:
        return f"{self.op}-{self.label}" if self.label else self.op

    @property
    def definition(self) -> Op:
        return get_op(self.op)

    def arrays(self, dtype: str, inputs: Sequence[Any] | None = None) -> list[Any]:
        """The inputs as arrays, lists kept as lists."""
        seed = zlib.crc32(f"{self.op}{self.label}{dtype}".encode())
        random = np.random.default_rng(seed)
        counter = iter(range(1000))

        def make(spec: Any) -> Any:
            if isinstance(spec, list):
                return [make(one) for one in spec]
            number = next(counter)
            if isinstance(spec, Like):
                return np.asarray(spec.value, tf_dtypes.as_dtype(dtype).as_numpy_dtype)
            if isinstance(spec, tuple):
                return draw(random, spec, self.drawn_dtypes.get(number, dtype), self.low, self.high)
            return np.asarray(spec)

        return [make(spec) for spec in (self.inputs if inputs is None else inputs)]

    def expected(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        if not callable(self.reference):
            result = self.reference
        else:
            with np.errstate(all="ignore"):
                result = self.reference(*arrays)
        return list(map(np.asarray, result)) if isinstance(result, (list, tuple)) else [np.asarray(result)]


def draw(random: np.random.Generator, shape: tuple[int, ...], dtype: str, low: float, high: float) -> np.ndarray:
    """Random values of a TensorFlow dtype, between `low` and `high`."""
    kind = tf_dtypes.as_dtype(dtype)
    if kind.is_bool:
        return random.random(shape) < 0.5
    if kind.name == "string":
        return np.vectorize(lambda v: f"s{v}".encode(), otypes=[object])(random.integers(0, 9, shape))
    if kind.is_integer or kind.is_quantized:
        lowest = max(int(np.floor(low)), int(kind.min))
        return random.integers(lowest, max(int(np.ceil(high)), lowest + 1), shape, endpoint=True).astype(kind.as_numpy_dtype)
    values = random.uniform(low, high, shape)
    if kind.is_complex:
        return (values + 1j * random.uniform(low, high, shape)).astype(kind.as_numpy_dtype)
    return np.asarray(values).astype(kind.as_numpy_dtype)


# --- building and running one node ----------------------------------------------------------------------------------


def build(
    op: Op, arrays: Sequence[Any], shape_of: Callable[[np.ndarray], Any], attrs: dict[str, Any], known: Sequence[int] = ()
) -> tuple[Any, Any]:
    """A node of `op` on placeholders, of which those of the numbers `known` have the arrays' shapes.

    Returns (its outputs, {placeholder: array}).
    """
    feeds: dict[Tensor, np.ndarray] = {}

    def place(value: Any) -> Any:
        if isinstance(value, list):
            return [place(one) for one in value]
        shape = value.shape if len(feeds) in known else shape_of(value)
        tensor = tf.placeholder(tf_dtypes.as_dtype(value.dtype), shape, name="input")
        feeds[tensor] = value
        return tensor

    inputs = [place(value) for value in arrays]
    result = op(*inputs, **attrs)
    return outputs_of(result), feeds


def build_constant(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> list[Tensor]:
    """A node of `op` on constants."""

    def constant(value: Any) -> Any:
        return [constant(one) for one in value] if isinstance(value, list) else tf.constant(value)

    return outputs_of(op(*[constant(value) for value in arrays], **attrs))


def outputs_of(result: Any) -> list[Tensor]:
    if isinstance(result, Operation):
        return []
    return [result] if isinstance(result, Tensor) else flatten_args(result)


def assert_close(actual: Any, expected: np.ndarray, tolerance: float | None, what: str) -> None:
    actual = np.asarray(actual, object) if isinstance(actual, bytes) else np.asarray(actual)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
    if actual.dtype.kind in "biuO":
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    limit = _TOLERANCE[actual.dtype.name] if tolerance is None else tolerance
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=limit, atol=limit, err_msg=what)


# --- what is checked of a row -----------------------------------------------------------------------------------------


def check_values(case: OpCase) -> None:
    for dtype in case.dtypes:
        arrays = case.arrays(dtype)
        before = [np.array(a, copy=True) for a in flatten_args(arrays)]
        expected = case.expected(arrays)
        with tf.Graph().as_default(), tf.Session() as session:
            outputs, feeds = build(case.definition, arrays, np.shape, case.attrs)
            # Twice: the first run of a signature and the later ones may go different ways.
            for run in ("first", "second"):
                results = session.run(outputs, feeds)
                for output, actual, wanted in zip(outputs, results, expected, strict=True):
                    what = f"{case.id} {dtype} {output.name}, {run} run"
                    assert_close(actual, wanted, case.tolerance, what)
                    numpy_dtype = np.dtype(output.dtype.as_numpy_dtype)
                    if numpy_dtype.kind != "O":
                        assert np.asarray(actual).dtype == numpy_dtype, what
        for array, copy in zip(flatten_args(arrays), before, strict=True):
            np.testing.assert_array_equal(array, copy, err_msg=f"{case.id}: the kernel changed an input")


def check_shapes(case: OpCase) -> None:
    arrays = case.arrays(case.dtypes[0])
    wanted = [w.shape for w in case.expected(arrays)]
    with tf.Graph().as_default():
        outputs, _ = build(case.definition, arrays, np.shape, case.attrs)
        inferred = [output.shape for output in outputs]
        if case.static_shape is not None:
            assert [s.known_dims for s in inferred] == [TensorShape(s).known_dims for s in case.static_shape], case.id
        elif all(isinstance(spec, (tuple, list)) for spec in case.inputs):
            assert [s.known_dims for s in inferred] == wanted, f"{case.id}: inferred {inferred}, result {wanted}"
        for constant in build_constant(case.definition, arrays, case.attrs):
            assert constant.shape.is_compatible_with(wanted[constant.value_index]), f"{case.id} of constants"
    for name, forget in (("first dimension", _forget_first), ("dimensions", _forget_all), ("rank", _forget_rank)):
        with tf.Graph().as_default():
            outputs, _ = build(case.definition, arrays, forget, case.attrs, case.known_shapes)
            for output, shape in zip(outputs, wanted, strict=True):
                assert output.shape.is_compatible_with(shape), f"{case.id}, unknown {name}: {output.shape} for {shape}"


def _forget_first(array: np.ndarray) -> Any:
    return (None, *array.shape[1:]) if array.ndim else ()


def _forget_all(array: np.ndarray) -> Any:
    return [None] * array.ndim


def _forget_rank(array: np.ndarray) -> Any:
    return None


def check_bound(case: OpCase) -> None:
    """The bind rule's callable against the kernel."""
    for dtype in case.dtypes:
        arrays = case.arrays(dtype)
        with tf.Graph().as_default():
            outputs, feeds = build(case.definition, arrays, np.shape, case.attrs)
            node = outputs[0].op
            flat = [feeds[t] for t in node.inputs]
            expected = evaluate(outputs, feeds)
        for known in (True, False):
            call = case.definition.bind_rule(_request(node, flat, expected, known))  # type: ignore[misc]
            if call is not None and len(expected) == 1:
                _check_call(case, call, flat, expected[0], f"{case.id} {dtype}, constants {'' if known else 'not '}known")


def _request(node: Operation, flat: list[np.ndarray], results: list[np.ndarray], known: bool) -> BindRequest:
    return BindRequest(
        node.type,
        node.name,
        dict(node.attrs),
        tuple(t.dtype.base_dtype for t in node.inputs),
        tuple(TensorShape(a.shape) for a in flat),
        tuple(a if known and a.size <= 8 else None for a in flat),
        tuple(t.dtype.base_dtype for t in node.outputs),
        tuple(TensorShape(r.shape) for r in results),
    )


def _check_call(case: OpCase, call: Any, flat: list[np.ndarray], expected: np.ndarray, what: str) -> None:
    tolerance = case.tolerance

    def run(*arrays: np.ndarray, **kwargs: Any) -> Any:
        scratch = [np.empty(shape, dtype) for shape, dtype in call.scratch]
        with np.errstate(all="ignore"):
            return call.function(*arrays, *scratch, **kwargs)

    result = np.asarray(run(*[a.copy() for a in flat]))
    assert_close(result, expected, tolerance, what)
    assert result.dtype == expected.dtype, what
    if not call.out:
        return
    out = np.empty_like(expected)
    assert run(*[a.copy() for a in flat], out=out) is out, f"{what}: with out=, the Call returns it"
    assert_close(out, expected, tolerance, f"{what}, out=")
    if call.elementwise:
        for i, array in enumerate(flat):
            if array.shape == expected.shape and array.dtype == expected.dtype:
                inputs = [a.copy() for a in flat]
                run(*inputs, out=inputs[i])
                assert_close(inputs[i], expected, tolerance, f"{what}, written over input {i}")


def check_gradients(case: OpCase) -> None:
    if not case.numeric or not any(tf_dtypes.as_dtype(d).is_floating for d in case.dtypes):
        return
    arrays = case.arrays(case.dtypes[0] if case.gradient == () else "float64")
    with tf.Graph().as_default():
        outputs, feeds = build(case.definition, arrays, np.shape, case.attrs)
        placeholders = list(feeds)
        wanted = _differentiable(case, placeholders)
        ys = [y for y in outputs if y.dtype.is_floating]
        if not wanted or not ys:
            if case.gradient is not None or not ys:
                _check_no_gradient(case, ys, placeholders)
            return
        random = np.random.default_rng(zlib.crc32(case.id.encode()))
        shapes = [v.shape for v in evaluate(ys, feeds)]
        weights = [tf.constant(random.uniform(0.5, 1.5, s)) for s in shapes]
        xs = [placeholders[i] for i in wanted]
        first = [tf.convert_to_tensor(g) for g in gradients(ys, xs, weights)]
        _compare(case, ys, weights, xs, first, feeds, "gradient")
        if not case.second:
            return
        seconds = [tf.constant(random.uniform(0.5, 1.5, feeds[x].shape)) for x in xs]
        again = gradients(first, xs, seconds)
        _compare(case, first, seconds, xs, again, feeds, "second-order gradient")


def _differentiable(case: OpCase, placeholders: list[Tensor]) -> list[int]:
    if case.gradient is not None:
        return list(case.gradient)
    specs = [one for spec in case.inputs for one in (spec if isinstance(spec, list) else [spec])]
    return [i for i, p in enumerate(placeholders) if p.dtype.is_floating and isinstance(specs[i], tuple)]


def _check_no_gradient(case: OpCase, ys: list[Tensor], placeholders: list[Tensor]) -> None:
    floating = [p for p in placeholders if p.dtype.is_floating]
    if not ys or not floating:
        return
    refused = case.refuses
    try:
        get_gradient(case.op)
    except LookupError:
        refused = LookupError
    if refused is not None:
        with pytest.raises(refused):
            gradients(ys, floating)
        return
    assert gradients(ys, floating) == [None] * len(floating), f"{case.id}: expected no gradient"


def _weighted_sum(ys: list[Tensor], weights: list[Tensor], feeds: Any, x: Tensor) -> Callable[[np.ndarray], float]:
    """The sum of `ys` times `weights` as a function of what `x` is fed: only what follows from it is computed anew."""
    known = dict(feeds)
    following = {x}
    steps = []
    for op in needed([*ys, *weights], feeds):
        step = Step(op)
        run([step], known)
        if not following.isdisjoint(step.inputs):
            following.update(step.outputs)
            steps.append(step)

    def loss(fed: np.ndarray) -> float:
        values = {**known, x: fed}
        run(steps, values)
        return float(sum(np.sum(values[y] * known[w]) for y, w in zip(ys, weights, strict=True)))

    return loss


def _compare(
    case: OpCase, ys: list[Tensor], weights: list[Tensor], xs: list[Tensor], grads: Any, feeds: Any, what: str
) -> None:
    for x, grad in zip(xs, grads, strict=True):
        loss = _weighted_sum(ys, weights, feeds, x)
        numeric = np.zeros(feeds[x].shape)
        for index in np.ndindex(numeric.shape):
            values = []
            for step in (_STEP, -_STEP):
                moved = feeds[x].copy()
                moved[index] += step
                values.append(loss(moved))
            numeric[index] = (values[0] - values[1]) / (2 * _STEP)
        if grad is None:
            actual = np.zeros_like(numeric)
        else:
            actual = evaluate([tf.convert_to_tensor(grad)], feeds)[0]
        limit = case.gradient_tolerance
        np.testing.assert_allclose(
            actual, numeric, rtol=limit, atol=limit * 10, err_msg=f"{case.id}: {what} with respect to input {x.name}"
        )


def check_eager(case: OpCase) -> None:
    """Where ops run at once: the same gradients, and the same values, the first time and the second (another way there)."""
    arrays = case.arrays(case.dtypes[-1])
    expected = case.expected(arrays)
    with eager_mode():
        for time in ("first", "second")[: 1 if case.definition.is_stateful else 2]:
            outputs = build_constant(case.definition, arrays, case.attrs)
            for number, (output, wanted) in enumerate(zip(outputs, expected, strict=True)):
                assert_close(output.numpy(), wanted, case.tolerance, f"{case.id} output {number}, eager, {time} time")  # type: ignore[attr-defined]
    if not case.numeric or case.gradient == () or not any(tf_dtypes.as_dtype(d).is_floating for d in case.dtypes):
        return
    arrays = case.arrays("float64")
    with tf.Graph().as_default():
        outputs, feeds = build(case.definition, arrays, np.shape, case.attrs)
        wanted_inputs = _differentiable(case, list(feeds))
        ys = [i for i, y in enumerate(outputs) if y.dtype.is_floating]
        if not wanted_inputs or not ys:
            return
        xs = [list(feeds)[i] for i in wanted_inputs]
        grads = [tf.convert_to_tensor(g) for g in gradients([outputs[i] for i in ys], xs)]
        of_graph = evaluate(grads, feeds)
    with eager_mode(), tf.GradientTape() as tape:
        inputs = [[tf.constant(one) for one in a] if isinstance(a, list) else tf.constant(a) for a in arrays]
        flat = flatten_args(inputs)
        tape.watch([flat[i] for i in wanted_inputs])
        results = outputs_of(case.definition(*inputs, **case.attrs))
        for_inputs = tape.gradient([results[i] for i in ys], [flat[i] for i in wanted_inputs])
        for number, grad, expected_grad in zip(wanted_inputs, for_inputs, of_graph, strict=True):
            actual = tf.convert_to_tensor(grad).numpy()  # type: ignore[attr-defined]
            assert_close(actual, expected_grad, 1e-9, f"{case.id}: eager gradient with respect to input {number}")


def check_errors(case: OpCase) -> None:
    for error in case.errors:
        arrays = case.arrays(error.dtype or case.dtypes[0], error.inputs)
        attrs = {**case.attrs, **error.attrs}
        with tf.Graph().as_default():
            if issubclass(error.exception, errors.OpError):
                outputs, feeds = build(case.definition, arrays, _forget_rank, attrs, case.known_shapes)
                with tf.Session() as session, pytest.raises(error.exception) as caught:
                    session.run(outputs, feeds)
            elif error.constants:
                with pytest.raises(error.exception) as caught:
                    build_constant(case.definition, arrays, attrs)
            else:
                with pytest.raises(error.exception) as caught:
                    build(case.definition, arrays, np.shape, attrs)
        assert error.text in str(caught.value), f"{case.id}: {error.text!r} is not in {str(caught.value)!r}"


def _checks(case: OpCase) -> Iterator[Callable[[OpCase], None]]:
    yield check_values
    yield check_shapes
    if case.definition.bind_rule is not None:
        yield check_bound
    yield check_gradients
    yield check_eager
    if case.errors:
        yield check_errors


def op_tests(cases: Sequence[OpCase]) -> Callable[..., None]:
    """The test function for a table; assign it to a name that starts with `test_`."""
    CASES.extend(cases)
    parameters = [
        pytest.param(case, check, id=f"{case.id}-{check.__name__.removeprefix('check_')}")
        for case in cases
        for check in _checks(case)
    ]

    @pytest.mark.parametrize(("case", "check"), parameters)
    def test(case: OpCase, check: Callable[[OpCase], None]) -> None:
        check(case)

    return test

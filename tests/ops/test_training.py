"""Update ops beyond their values (those: tests/train/test_trajectories.py): blocks, binding, shapes, errors, threads."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden.training_cases import UPDATES, Update, drawn
from tfexp.core import errors
from tfexp.core.kernel import BindRequest, Call, Ref
from tfexp.core.op import Op, all_ops, get_gradient, get_op
from tfexp.core.shape import TensorShape
from tfexp.ops import update as machinery

DENSE = [update for update in UPDATES if "Apply" in update.kinds]
OTHER_ATTRS = {"T": tf.float32, "use_locking": False}


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def ref(name: str, value: np.ndarray) -> Ref:
    made = Ref(name, tf.as_dtype(value.dtype), TensorShape(value.shape))
    made.assign(value)
    return made


def inputs_of(op: Op, update: Update, shape: tuple[int, ...], seed: int = 0) -> list[Any]:
    """Inputs in the op's order, made anew."""
    made: list[Any] = []
    for i, arg in enumerate(op.inputs):
        if arg.name in update.refs:
            low = update.refs[arg.name]
            made.append(ref(arg.name, drawn(seed + i, *shape, low=low, high=low + 1.5)))
        elif arg.name == update.gradient:
            made.append(drawn(seed + 90, *shape))
        else:
            dtype = np.int64 if arg.name == "global_step" else np.float32
            made.append(np.array(update.scalars[arg.name], dtype))
    return made


def attrs_of(op: Op, update: Update) -> dict[str, Any]:
    defaults = {name: attr.default for name, attr in op.attrs.items() if attr.has_default}
    return {**defaults, **OTHER_ATTRS, **update.attrs}


def bound(op: Op, update: Update, inputs: list[Any]) -> Call | None:
    shapes = tuple(TensorShape(v.value.shape if isinstance(v, Ref) else np.shape(v)) for v in inputs)
    types = tuple(v.dtype if isinstance(v, Ref) else tf.as_dtype(v.dtype) for v in inputs)
    nothing = (None,) * len(inputs)
    assert op.bind_rule is not None
    return op.bind_rule(BindRequest(op.name, "node", attrs_of(op, update), types, shapes, nothing, types[:1], shapes[:1]))


def call(function: Call, inputs: list[Any]) -> Any:
    return function.function(*inputs, *[np.full(shape, np.nan, dtype) for shape, dtype in function.scratch])


def values(inputs: list[Any]) -> list[np.ndarray]:
    return [v.value.copy() for v in inputs if isinstance(v, Ref)]


def dense_op(update: Update) -> Op:
    return get_op(f"Apply{update.op}")


by_update = pytest.mark.parametrize("update", DENSE, ids=lambda u: u.key)


@by_update
@pytest.mark.parametrize("shape", [(), (7,), (5, 3), (11, 13)])
def test_kernel_bound_call_and_blocks_agree(monkeypatch: pytest.MonkeyPatch, update: Update, shape: tuple[int, ...]) -> None:
    """To the bit: whole, in blocks of 17 elements with a rest, and as the planner binds it."""
    op = dense_op(update)
    results = []
    for block, by_plan in ((1 << 16, False), (17, False), (1 << 16, True), (17, True)):
        monkeypatch.setattr(machinery, "BLOCK", block)
        inputs = inputs_of(op, update, shape)
        before = [np.copy(v) for v in inputs if not isinstance(v, Ref)]
        buffers = [v.value for v in inputs if isinstance(v, Ref)]
        if by_plan:
            function = bound(op, update, inputs)
            assert function is not None
            result = call(function, inputs)
        else:
            result = op.kernels["CPU"].compute(None, *inputs, **attrs_of(op, update))
        assert result is inputs[0]
        assert all(v.value is buffer for v, buffer in zip(inputs, buffers, strict=False)), "updates are in place"
        for now, then in zip((v for v in inputs if not isinstance(v, Ref)), before, strict=True):
            np.testing.assert_array_equal(now, then)
        results.append(values(inputs))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(results[0][0], values(inputs_of(op, update, shape))[0])


@by_update
def test_a_bound_call_keeps_nothing_between_threads(update: Update) -> None:
    op = dense_op(update)
    shape = (211, 331)  # two blocks
    function = bound(op, update, inputs_of(op, update, shape))
    assert function is not None
    alone, together = ([inputs_of(op, update, shape, seed) for seed in range(3)] for _ in range(2))
    for inputs in alone:
        call(function, inputs)
    workers = [threading.Thread(target=call, args=[function, inputs]) for inputs in together]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for a, b in zip(alone, together, strict=True):
        for x, y in zip(values(a), values(b), strict=True):
            np.testing.assert_array_equal(x, y)


class Interrupted(np.ndarray):
    """An array that has been read, but not yet written to, when `meanwhile` is called."""

    meanwhile: Callable[[], None]

    def __array_finalize__(self, made_from: Any) -> None:
        if made_from is not None:
            self.meanwhile = getattr(made_from, "meanwhile", lambda: None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        result = getattr(ufunc, method)(*map(np.asarray, inputs), **options)
        self.meanwhile()
        if not out:
            return result
        np.asarray(out[0])[...] = result
        return out[0]


APPLYING = [
    ("ApplyAdam", False), ("ApplyAdam", True), ("ResourceApplyMomentum", False), ("ResourceApplyMomentum", True),
    ("SparseApplyAdagrad", False), ("ResourceSparseApplyAdagrad", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "by_plan"), APPLYING)
def test_steps_that_apply_at_once_lose_nothing(name: str, by_plan: bool) -> None:
    """With `use_locking`, which handles need not say."""
    op, update = get_op(name), next(one for one in UPDATES if name.endswith(f"Apply{one.op}"))
    update = dataclasses.replace(update, attrs={**update.attrs, "use_locking": not op.on_variables})

    def made() -> list[Any]:
        inputs = inputs_of(op, dataclasses.replace(update, scalars={**update.scalars, "indices": 0.0}), (5, 3))
        return [np.arange(5) if arg.name == "indices" else one for arg, one in zip(op.inputs, inputs, strict=True)]

    inputs, wanted = made(), made()

    def apply(to: list[Any]) -> None:
        if by_plan:
            function = bound(op, update, to)
            assert function is not None
            call(function, to)
        else:
            op.kernels["CPU"].compute(None, *to, **attrs_of(op, update))

    def meanwhile() -> None:
        if other.ident is None:
            other.start()
            other.join(0.05)  # it would be done, did it not wait

    other = threading.Thread(target=apply, args=[inputs])
    inputs[0].value = inputs[0].value.view(Interrupted)
    inputs[0].value.meanwhile = meanwhile
    apply(inputs)
    assert other.ident is not None
    other.join(60)
    for _ in range(2):
        apply(wanted)
    for actual, one in zip(values(inputs), values(wanted), strict=True):
        np.testing.assert_array_equal(actual, one)


@by_update
def test_no_binding_without_known_shapes_or_for_other_types(update: Update) -> None:
    op = dense_op(update)
    inputs = inputs_of(op, update, (2, 3))
    halves = [ref(v.name, v.value.astype(np.float16)) if isinstance(v, Ref) else v.astype(np.float16) for v in inputs]
    assert bound(op, update, halves) is None
    op.kernels["CPU"].compute(None, *halves, **{**attrs_of(op, update), "T": tf.float16})
    shapes = [TensorShape(v.value.shape if isinstance(v, Ref) else np.shape(v)) for v in inputs]
    types = tuple(v.dtype if isinstance(v, Ref) else tf.as_dtype(v.dtype) for v in inputs)
    for position in (0, op.inputs.index(next(a for a in op.inputs if a.name == update.gradient)), len(inputs) - 1):
        partly = [TensorShape(None) if i == position else shape for i, shape in enumerate(shapes)]
        assert op.bind_rule is not None
        request = BindRequest(
            op.name, "n", attrs_of(op, update), types, tuple(partly), (None,) * len(inputs), types[:1], tuple(partly[:1])
        )
        assert op.bind_rule(request) is None


@by_update
def test_a_variable_that_changed_its_shape_is_refused(update: Update) -> None:
    op = dense_op(update)
    function = bound(op, update, inputs_of(op, update, (2, 3)))
    assert function is not None
    inputs = inputs_of(op, update, (2, 3))
    inputs[0].value = np.zeros((3, 2), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match=r"do not have the same shape\[3,2\] \[2,3\]"):
        call(function, inputs)
    with pytest.raises(errors.InvalidArgumentError, match="do not have the same shape"):
        op.kernels["CPU"].compute(None, *inputs, **attrs_of(op, update))


def test_no_update_op_has_a_gradient() -> None:
    ops = [op for name, op in all_ops().items() if name.startswith(("Apply", "SparseApply"))]
    assert len(ops) >= len({u.op for u in UPDATES})
    for op in ops:
        with pytest.raises(LookupError):
            get_gradient(op.name)
        assert any(f"{kind}{u.op}" == op.name for u in UPDATES for kind in u.kinds), f"no case for {op.name}"


# --- shapes at construction --------------------------------------------------------------------------------------------


def variable(*shape: int) -> Any:
    return tf.Variable(tf.zeros(shape))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: get_op("ApplyAdagrad")(variable(2), variable(3), 0.1, [1.0, 2.0]), "must be equal, but are 2 and 3"),
        (lambda: get_op("ApplyAdagrad")(variable(2), variable(2), [0.1], [1.0, 2.0]), "Shape must be rank 0 but is rank 1"),
        (lambda: get_op("ApplyAdagrad")(variable(2), variable(2), 0.1, [1.0, 2.0, 3.0]), "but are 2 and 3"),
        (
            lambda: get_op("SparseApplyAdagrad")(variable(3, 2), variable(3, 2), 0.1, [[1.0, 1.0]], [0, 1]),
            "Dimensions must be equal, but are 2 and 1",
        ),
        (
            lambda: get_op("SparseApplyAdagrad")(variable(3, 2), variable(3, 2), 0.1, [[1.0, 1.0]], [[0]]),
            "Shape must be rank 1 but is rank 2",
        ),
        (
            lambda: get_op("SparseApplyAdagrad")(variable(3, 2), variable(3, 2), 0.1, [[1.0, 1.0, 1.0]], [0]),
            r"Dimension 1 in both shapes must be equal, but are 2 and 3\. Shapes are \[3,2\] and \[\?,3\]\.",
        ),
        (
            lambda: get_op("SparseApplyAdagrad")(variable(3), variable(3), 0.1, 1.0, [0]),
            "Argument grad must not be a scalar",
        ),
    ],
)
def test_shapes_that_cannot_work(build: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build()


def test_inferred_shapes() -> None:
    unknown = tf.placeholder(tf.float32)
    v = tf.Variable(unknown, validate_shape=False)
    assert get_op("ApplyGradientDescent")(v, 0.1, tf.zeros([2, 3])).get_shape() == [2, 3]
    assert get_op("ApplyGradientDescent")(variable(2, 3), 0.1, unknown).get_shape() == [2, 3]
    indices = tf.placeholder(tf.int64)
    assert get_op("SparseApplyAdagrad")(v, variable(5, 3), 0.1, unknown, indices).get_shape() == [5, 3]


# --- errors of a run ---------------------------------------------------------------------------------------------------


def run(build: Any, fed: Any, initialize: bool = True) -> None:
    x = tf.placeholder(tf.as_dtype(np.asarray(fed).dtype))
    node = build(x)
    with tf.Session() as session:
        if initialize:
            session.run(tf.global_variables_initializer())
        session.run(node, {x: fed})


def f32(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def sparse(grad: Any, indices: Any) -> Any:
    return get_op("SparseApplyAdagrad")(variable(3, 2), variable(3, 2), 0.1, grad, indices)


@pytest.mark.parametrize(
    ("build", "fed", "text"),
    [
        (lambda x: get_op("ApplyGradientDescent")(variable(2), 0.1, x), f32(3), r"var and delta .*shape\[2\] \[3\]"),
        (lambda x: get_op("ApplyAdagrad")(variable(2), variable(2), 0.1, x), f32(3), r"var and grad .*shape\[2\] \[3\]"),
        (lambda x: get_op("ApplyGradientDescent")(variable(2), x, f32(2)), f32(3), r"alpha is not a scalar: \[3\]"),
        (lambda x: get_op("ApplyMomentum")(variable(2), variable(2), 0.1, f32(2), x), f32(1), r"momentum is not a scalar"),
        (lambda x: sparse(f32(2, 2), x), np.array([0, 3]), "Index 3 at offset 1 in indices is out of range"),
        (lambda x: sparse(f32(2, 2), x), np.array([0, -1], np.int32), "Index -1 at offset 1 in indices is out of range"),
        (lambda x: sparse(f32(2, 2), x), np.array([0, 1, 2]), "grad must be the same size as indices"),
        (lambda x: sparse(f32(2, 2), x), np.array([[0], [1]]), "indices must be one-dimensional"),
        (lambda x: sparse(x, [0, 1]), f32(2, 1), "var and grad must match in dimension 1"),
        (lambda x: sparse(x, [0, 1]), f32(2), "var and grad must have the same rank"),
    ],
)
def test_values_that_cannot_work(build: Any, fed: Any, text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=text):
        run(build, fed)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: get_op("ApplyAdagrad")(variable(2), variable(2), 0.1, x),
        lambda x: get_op("SparseApplyAdagrad")(variable(3, 2), variable(3, 2), 0.1, [[1.0, 1.0]], tf.cast(x[:1], tf.int32)),
    ],
)
def test_uninitialized_variables(build: Any) -> None:
    with pytest.raises(errors.FailedPreconditionError, match="Attempting to use uninitialized value Variable"):
        run(build, f32(2), initialize=False)


def test_rows_that_repeat_among_many() -> None:
    """The two ways of finding repeated rows: few indices, and thousands of them."""
    for size in (1500, 150):
        v = tf.Variable(tf.zeros([size, 1]))
        accum = tf.Variable(tf.ones([size, 1]))
        indices = np.arange(size)
        indices[-1] = 3
        step = get_op("SparseApplyMomentum")(v, accum, 1.0, np.ones([size, 1], np.float32), indices, 0.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step.op)
            expected = np.full([size, 1], -1.0)
            expected[3], expected[-1] = -2.0, 0.0
            np.testing.assert_array_equal(session.run(v), expected)


@pytest.mark.parametrize(("beta1_power", "beta2_power"), [(1.0, 0.5), (0.5, 1.5), (1.0, 1.0)])
def test_adam_s_rate_may_be_no_number(beta1_power: float, beta2_power: float) -> None:
    """As in TensorFlow: the step goes through, and the variable shows what happened."""
    update = next(u for u in DENSE if u.op == "Adam" and not u.attrs)
    op = dense_op(update)
    inputs = inputs_of(op, update, (3,))
    names = [arg.name for arg in op.inputs]
    inputs[names.index("beta1_power")] = np.array(beta1_power, np.float32)
    inputs[names.index("beta2_power")] = np.array(beta2_power, np.float32)
    with np.errstate(all="ignore"):
        op.kernels["CPU"].compute(None, *inputs, **attrs_of(op, update))
    assert not np.isfinite(values(inputs)[0]).any()
    assert np.isfinite(values(inputs)[1]).all()

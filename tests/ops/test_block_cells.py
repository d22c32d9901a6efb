"""Cells as one op each, against their definition in NumPy. TensorFlow's numbers: golden/programs/block_cells.py."""

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import get_op

TIME, BATCH, INPUTS, UNITS = 5, 3, 2, 7
STATE, PEEPHOLE = (BATCH, UNITS), (UNITS,)
LSTM = [STATE, STATE, (INPUTS + UNITS, 4 * UNITS), PEEPHOLE, PEEPHOLE, PEEPHOLE, (4 * UNITS,)]
GRU = [(BATCH, INPUTS), STATE, (INPUTS + UNITS, 2 * UNITS), (INPUTS + UNITS, UNITS), (2 * UNITS,), (UNITS,)]
HALVES = ("float32", "float16")
ATTRS = {"forget_bias": 0.5, "cell_clip": 0.25, "use_peephole": True}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, c, h, w, wci, wcf, wco, b, order="icfo", forget_bias=1.0, clip=3.0):
    gates = np.split((np.concatenate([x, h], 1) @ w + b).astype(np.float64), 4, 1)
    i, g, f, o = (gates[order.index(gate)] for gate in "icfo")
    i, f, g = sigmoid(i + wci * c), sigmoid(f + forget_bias + wcf * c), np.tanh(g)
    new = f * c + i * g
    new = np.clip(new, -clip, clip) if clip > 0 else new
    o = sigmoid(o + wco * new)
    return i, new, f, o, g, np.tanh(new), o * np.tanh(new)


def cell(**options):
    def reference(x, c, h, w, wci, wcf, wco, b):
        x, c, h, w, b = (a.astype(np.float64) for a in (x, c, h, w, b))
        peepholes = (wci, wcf, wco) if options.pop("peepholes", True) else (0, 0, 0)
        return [a.astype(wci.dtype) for a in lstm_step(x, c, h, w, *peepholes, b, **options)]

    return reference


def without_peepholes(x, c, h, w, wci, wcf, wco, b):
    zero = np.zeros_like(wci)
    return cell()(x, c, h, w, zero, zero, zero, b)


def sequence(length, **options):
    def reference(_, x, c, h, w, wci, wcf, wco, b):
        outputs = np.zeros((7, len(x), *c.shape))
        for time in range(length):
            outputs[:, time] = lstm_step(x[time].astype(np.float64), c, h, w, wci, wcf, wco, b, **options)
            c, h = outputs[1, time], outputs[6, time]
        return [a.astype(x.dtype) for a in outputs]

    return reference


def gru(x, h, w_ru, w_c, b_ru, b_c):
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate([x, h * r], 1) @ w_c + b_c)
    return r, u, c, (1 - u) * c + u * h


def numeric(function, arrays, which, weights):
    """The gradients of the weighed sum of what a function of arrays gives, by central differences in float64."""
    arrays = [np.asarray(a, np.float64) for a in arrays]
    grads = []
    for number in which:
        grad = np.zeros_like(arrays[number])
        for place in np.ndindex(grad.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arrays]
                moved[number][place] += step
                ends.append(sum(np.sum(w * y) for w, y in zip(weights, function(*moved))))
            grad[place] = (ends[0] - ends[1]) / 2e-6
        grads.append(grad)
    return grads


RANDOM = np.random.RandomState(3)


def drawn(*shapes):
    return [RANDOM.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


CELL = drawn((BATCH, INPUTS), *LSTM)
STEP = [np.float32(a) for a in lstm_step(*CELL, clip=-1)]
GRADS = drawn(STATE, STATE)


def cell_gradient(*inputs):
    weights = [0, GRADS[0], 0, 0, 0, 0, GRADS[1]]
    free = lambda *arrays: lstm_step(*arrays, clip=-1)  # noqa: E731
    memory, bias, *peepholes = numeric(free, CELL, [1, 7, 4, 5, 6], weights)
    # The gates' gradients are known by their sums over the batch, the biases'; example by example, one at a time.
    rows = []
    for n in range(BATCH):
        one = [a[n : n + 1] if i < 3 else a for i, a in enumerate(CELL)]
        rows += numeric(free, one, [7], [w if np.isscalar(w) else w[n : n + 1] for w in weights])
    np.testing.assert_allclose(np.sum(rows, 0), bias, atol=1e-6)
    return [np.float32(a) for a in (memory, np.stack(rows), *peepholes)]


SEQUENCE = drawn((TIME, BATCH, INPUTS), *LSTM)
SEQUENCE_GRADS = drawn((TIME, *STATE), (TIME, *STATE))


def sequence_row(op, order, forget_bias):
    options = {"order": order, "forget_bias": forget_bias, "clip": -1}

    def run(*arrays):
        return sequence(4, **options)(None, *arrays)

    steps = [np.float32(a) for a in run(*SEQUENCE)]
    weights = [0, SEQUENCE_GRADS[0], 0, 0, 0, 0, SEQUENCE_GRADS[1]]

    def reference(*inputs):
        return [np.float32(a) for a in numeric(run, SEQUENCE, range(8), weights)]

    given = [np.int64(4), *SEQUENCE, *steps, *SEQUENCE_GRADS]
    short = [*given[:-1], given[-1][:2]]
    return OpCase(
        op,
        given,
        reference,
        attrs={"use_peephole": True},
        gradient=(),
        tolerance=1e-4,
        numeric=False,
        errors=[
            Error(
                short,
                InvalidArgumentError,
                "h_grad must have the shape [5, 3, 7], but has [2, 3, 7]",
                {"use_peephole": True},
            )
        ],
    )


GRU_GIVEN = drawn(*GRU)
GRU_STATES = [np.float32(a) for a in gru(*GRU_GIVEN)]
D_H = drawn(STATE)[0]


def gru_gradient(*inputs):
    x, h = numeric(gru, GRU_GIVEN, [0, 1], [0, 0, 0, D_H])
    candidate, gates = [], []
    for n in range(BATCH):
        one = [a[n : n + 1] if i < 2 else a for i, a in enumerate(GRU_GIVEN)]
        b_c, b_ru = numeric(gru, one, [5, 4], [0, 0, 0, D_H[n : n + 1]])
        candidate.append(b_c)
        gates.append(b_ru)
    return [np.float32(a) for a in (x, h, np.stack(candidate), np.stack(gates))]


def wrong(inputs, place, shape):
    return [shape if i == place else given for i, given in enumerate(inputs)]


X2, X3 = [(BATCH, INPUTS), *LSTM], [np.int64(TIME), (TIME, BATCH, INPUTS), *LSTM]
CASES = [
    OpCase(
        "LSTMBlockCell",
        X2,
        without_peepholes,
        dtypes=HALVES,
        numeric=False,
        errors=[
            Error(wrong(X2, 0, (3,)), ValueError, "Shape must be rank 2 but is rank 1"),
            Error(wrong(X2, 0, (3, 2, 1)), InvalidArgumentError, "x must be rank 2 but is rank 3"),
            Error(wrong(X2, 1, (3, 8)), InvalidArgumentError, "h_prev.dims(1) != cell_size: 7 vs. 8"),
            Error(wrong(X2, 2, (4, 7)), InvalidArgumentError, "h_prev.dims(0) != batch_size: 4 vs. 3"),
            Error(wrong(X2, 3, (13, 28)), InvalidArgumentError, "w.dim_size(0) != input_size + cell_size: 13 vs. 9"),
            Error(wrong(X2, 3, (9, 29)), InvalidArgumentError, "w.dim_size(1) != cell_size * 4: 29 vs. 28"),
            Error(wrong(X2, 7, (3,)), InvalidArgumentError, "b.dim_size(0) != cell_size * 4: 3 vs. 28"),
            Error(wrong(X2, 4, (2,)), InvalidArgumentError, "wci.dim_size(0) != cell_size: 2 vs. 7", ATTRS),
        ],
    ),
    OpCase("LSTMBlockCell", X2, cell(forget_bias=0.5, clip=0.25), attrs=ATTRS, numeric=False, label="peepholes"),
    OpCase(
        "LSTMBlockCellGrad",
        [*CELL, *STEP[:6], *GRADS],
        cell_gradient,
        attrs={"use_peephole": True},
        gradient=(),
        tolerance=1e-4,
        numeric=False,
        errors=[
            Error(
                [*CELL, *STEP[:6], GRADS[0], GRADS[1][:2]],
                InvalidArgumentError,
                "h_grad must have the shape of cs_prev, [3, 7], but has [2, 7]",
                {"use_peephole": True},
            )
        ],
    ),
    OpCase(
        "BlockLSTM",
        X3,
        sequence(TIME, forget_bias=0.5, clip=0.25),
        attrs=ATTRS,
        dtypes=HALVES,
        numeric=False,
        errors=[
            Error(wrong(X3, 1, (3, 2)), ValueError, "Shape must be rank 3 but is rank 2", ATTRS),
            Error(wrong(X3, 8, (27,)), ValueError, "Dimension size must be evenly divisible by 4 but is 27", ATTRS),
            Error(wrong(X3, 3, (4, 7)), InvalidArgumentError, "h_prev.dims(0) != batch_size: 4 vs. 3", ATTRS),
            Error(wrong(X3, 0, np.int64(6)), InvalidArgumentError, "seq_len_max must be within [0, 5]", ATTRS),
        ],
    ),
    OpCase(
        "BlockLSTM",
        wrong(X3, 0, np.int64(3)),
        sequence(3, forget_bias=0.5, clip=0.25),
        attrs=ATTRS,
        numeric=False,
        label="part",
    ),
    OpCase(
        "BlockLSTMV2",
        X3,
        sequence(TIME, order="ifco", forget_bias=0.0, clip=-1),
        attrs={"use_peephole": True},
        dtypes=HALVES,
        numeric=False,
    ),
    sequence_row("BlockLSTMGrad", "icfo", 1.0),
    sequence_row("BlockLSTMGradV2", "ifco", 0.0),
    OpCase(
        "GRUBlockCell",
        GRU,
        gru,
        numeric=False,
        errors=[
            Error(wrong(GRU, 0, (3,)), ValueError, "Shape must be rank 2 but is rank 1"),
            Error(wrong(GRU, 1, (4, 7)), InvalidArgumentError, "h_prev.dims(0) != batch_size: 4 vs. 3"),
            Error(wrong(GRU, 2, (9, 7)), InvalidArgumentError, "w_ru.dim_size(1) != cell_size * 2: 7 vs. 14"),
            Error(wrong(GRU, 3, (5, 7)), InvalidArgumentError, "w_c.dim_size(0) != input_size + cell_size: 5 vs. 9"),
            Error(wrong(GRU, 5, (3,)), InvalidArgumentError, "b_c.dim_size(0) != cell_size: 3 vs. 7"),
        ],
    ),
    OpCase(
        "GRUBlockCellGrad",
        [*GRU_GIVEN, *GRU_STATES[:3], D_H],
        gru_gradient,
        gradient=(),
        tolerance=1e-4,
        numeric=False,
        errors=[Error([*GRU_GIVEN, *GRU_STATES[:3], D_H[:2]], InvalidArgumentError, "d_h.dims(0) != batch_size: 2 vs. 3")],
    ),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize(
    ("op", "given", "formula"),
    [
        ("LSTMBlockCell", CELL, lambda x, c, h, w, wci, wcf, wco, b: lstm_step(x, c, h, w, 0, 0, 0, b)[-1:]),
        ("GRUBlockCell", GRU_GIVEN, lambda *arrays: gru(*arrays)[-1:]),
    ],
)
def test_gradients_of_a_step_are_those_of_its_formula(op, given, formula):
    with tf.Graph().as_default(), tf.Session() as session:
        placed = [tf.constant(a) for a in given]
        found = session.run(tf.gradients(get_op(op)(*placed).h, placed, D_H))
    for grad, wanted in zip(found, numeric(formula, given, range(len(given)), [D_H])):
        np.testing.assert_allclose(grad, wanted, rtol=1e-3, atol=1e-5)


def test_gradients_need_depths():
    with tf.Graph().as_default():
        placed = [tf.placeholder(tf.float32, [None] * len(np.shape(a))) for a in CELL]
        with pytest.raises(ValueError, match="the gradient needs to know the depths of x and h_prev"):
            tf.gradients(get_op("LSTMBlockCell")(*placed).h, placed)

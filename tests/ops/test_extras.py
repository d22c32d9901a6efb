"""Rows of searches, coordinates, fingerprints, prints and of what passes constants on."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, NotFoundError


def searched(side):
    return lambda rows, wanted: np.stack([np.searchsorted(r, w, side) for r, w in zip(rows, wanted)]).astype(np.int32)


ROWS = np.sort(np.random.default_rng(3).integers(0, 9, (3, 11)))
WANTED = np.random.default_rng(5).integers(-1, 11, (3, 7))
TEXTS = np.array([[b"a", b"c", b"d"]], object)
SEARCH_ERRORS = [
    Error([(3, 5), (2, 7)], InvalidArgumentError, "Leading dim_size of both tensors must match."),
    Error([(5,), (2, 7)], ValueError, "Shape must be rank 2 but is rank 1"),
]
CASES = [
    OpCase(op, [rows, wanted], searched(side), errors=SEARCH_ERRORS, label=label)
    for op, side in (("LowerBound", "left"), ("UpperBound", "right"))
    for label, rows, wanted in (
        ("integers", ROWS, WANTED),
        ("floats", ROWS / 2, WANTED / 2),
        ("one row", ROWS[:1], WANTED[:1]),
        ("texts", TEXTS, np.array([[b"b", b"c", b"z", b""]], object)),
        ("empty rows", ROWS[:, :0], WANTED),
    )
]
CASES += [
    OpCase(
        "UnravelIndex",
        [np.int32([22, 41, 37]), np.int32([7, 6])],
        np.int32([[3, 6, 6], [4, 5, 1]]),
        errors=[
            Error([np.int32([22, 42]), np.int32([7, 6])], InvalidArgumentError, "index is out of bound as with dims"),
            Error([np.int32([-1]), np.int32([7, 6])], InvalidArgumentError, "index is out of bound as with dims"),
            Error(
                [np.int32([1]), np.int32([7, 0])],
                InvalidArgumentError,
                "Input dims cannot contain a dim of zero, but dims contains zero at index 1",
            ),
            Error([np.int32([[1, 2]]), np.int32([7, 6])], InvalidArgumentError, "The indices can only be scalar or vector"),
            Error([np.int32([1]), np.int32(7)], ValueError, "Shape must be rank 1 but is rank 0"),
        ],
    ),
    OpCase("UnravelIndex", [np.int64(22), np.int64([7, 6])], np.int64([3, 4]), label="scalar"),
    OpCase(
        "Fingerprint",
        [np.array([b"hello", b""], object), np.array(b"farmhash64", object)],
        np.uint8([[232, 12, 56, 49, 169, 229, 139, 180], [79, 64, 144, 47, 59, 106, 225, 154]]),
        static_shape=[[2, None]],
        errors=[
            Error([(), np.array(b"farmhash64", object)], ValueError, "Shape must be at least rank 1 but is rank 0"),
            Error([(2,), np.array(b"x", object)], ValueError, "Unsupported method: x", constants=True),
            Error([(2,), np.array(b"x", object)], InvalidArgumentError, "Unsupported fingerprint method: x"),
        ],
    ),
    OpCase(
        "Fingerprint",
        [np.int32([[1, 2], [3, 4]]), np.array(b"farmhash64", object)],
        np.uint8([[76, 18, 253, 133, 168, 204, 240, 10], [254, 162, 60, 240, 103, 244, 53, 255]]),
        static_shape=[[2, None]],
        label="numbers",
    ),
    OpCase("GuaranteeConst", [(2, 3)], lambda x: x, dtypes=["float32", "int32", "string"], gradient=()),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize("rows", [1, 2])
def test_nothing_is_less_than_nan_nor_more(rows: int) -> None:
    """NumPy's own search, which serves a single row without one, has NaN behind all numbers."""
    with tf.Graph().as_default(), tf.Session() as session:
        row, wanted = tf.constant([[1.0, 2.0, 3.0]] * rows), tf.constant([[np.nan, 1.0, 2.5]] * rows)
        before, behind = session.run([tf.searchsorted(row, wanted, side) for side in ("left", "right")])
    np.testing.assert_array_equal(before, [[0, 0, 2]] * rows)
    np.testing.assert_array_equal(behind, [[3, 1, 2]] * rows)


def test_searchsorted_refuses_other_sides() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"must be either 'right' or 'left'"):
        tf.searchsorted([1, 2], [1], side="middle")


def test_the_time_of_a_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        now = tf.timestamp()
        first, second = session.run(now), session.run(now)
    assert 1.6e9 < first < second


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        (lambda: ["loss", tf.constant(0.25), tf.constant([1, 2, 3])], "loss 0.25 [1 2 3]\n"),
        (lambda: [{"k": tf.constant([[1, 2], [3, 4]]), "j": "s"}], "{'j': 's', 'k': [[1 2]\n [3 4]]}\n"),
        (lambda: ["{}", tf.constant(list(range(20)))], "{} [0 1 2 ... 17 18 19]\n"),
        (lambda: [tf.constant("alone")], "alone\n"),
        (lambda: [(tf.constant("a"), 1.5, None)], '("a", 1.5, None)\n'),
        (lambda: [], "\n"),
    ],
)
def test_print(inputs, text, capsys, tmp_path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        streams = [None, sys.stdout, f"file://{tmp_path}/out"]
        session.run([tf.print(*inputs(), **({} if s is None else {"output_stream": s})) for s in streams])
    printed = capsys.readouterr()
    assert (printed.out, printed.err, (tmp_path / "out").read_text()) == (text, text, text)


def test_print_refuses() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print("x", output_stream="nowhere")
        with pytest.raises(ValueError, match=r"Unrecognized keyword arguments for tf.print"):
            tf.print("x", other=1)
        with pytest.raises(NotFoundError):
            session.run(tf.print("x", output_stream="file:///no/such/folder/file"))


def test_print_is_run_where_it_is_a_dependency(capsys) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        with tf.control_dependencies([tf.print("x is", x)]):
            y = tf.identity(x)
        session.run(y, {x: 2})
    assert capsys.readouterr().err == "x is 2\n"


def test_weights_of_unigrams_from_a_file(tmp_path) -> None:
    (tmp_path / "words.csv").write_text("a,1\nb,2.5\nc,3\n")
    true = np.array([[1, 2], [0, 1]])
    with tf.Graph().as_default(), tf.Session() as session:
        sample = tf.nn.fixed_unigram_candidate_sampler
        made = sample(true, 2, 4, False, 4, vocab_file=str(tmp_path / "words.csv"), seed=3, num_reserved_ids=1)
        sampled, expected, _ = session.run(made)
        np.testing.assert_allclose(expected, [[4 / 6.5, 10 / 6.5], [0, 4 / 6.5]], rtol=1e-6)
        assert set(sampled.tolist()) <= {1, 2, 3}
        for problem, more in (
            ("range is 4 must be equal to weights size  3", {"unigrams": [1.0, 2.0, 3.0]}),
            ("Must provide either vocab_file or unigrams.", {}),
            ("Must only provide one", {"unigrams": [1.0], "vocab_file": "x"}),
        ):
            with pytest.raises(InvalidArgumentError, match=problem):
                session.run(sample(true, 2, 4, False, 4, seed=3, **more))
        with pytest.raises(NotFoundError):
            session.run(sample(true, 2, 4, False, 4, vocab_file=str(tmp_path / "none"), seed=3))


def test_average_losses() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        losses, weights = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, 2.0])
        assert session.run(tf.nn.compute_average_loss(losses)) == 2
        assert session.run(tf.nn.compute_average_loss(losses, weights, 4)) == 1.75
        assert session.run(tf.nn.scale_regularization_loss([1.0, 2.0])) == 3
        assert tf.nn.scale_regularization_loss(tf.constant([1, 2])).dtype == tf.float64
        with pytest.raises(ValueError, match="at least rank 1"):
            tf.nn.compute_average_loss(1.0)
        with pytest.raises(TypeError, match="must be an integer"):
            tf.nn.compute_average_loss(losses, global_batch_size=1.5)


def test_similarity_at_several_scales() -> None:
    random = np.random.RandomState(0)
    a = random.uniform(0, 1, (2, 192, 176, 3)).astype(np.float32)
    b = np.clip(a + random.normal(0, 0.1, a.shape), 0, 1).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        both = session.run(tf.image.ssim_multiscale(a, b, 1.0))
        one = session.run(tf.image.ssim_multiscale(a[0, :63, :35], a[0, :63, :35], 1.0, (0.5, 0.5), filter_size=5))
    np.testing.assert_allclose(both, [0.95415395, 0.95616966], rtol=1e-5)
    np.testing.assert_allclose(one, 1, rtol=1e-6)


def test_a_fact() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.user_ops.my_fact()) == b"0! == 1"


def test_a_variables_handle_is_no_constant() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(1.0, use_resource=True)
        handle = tf.guarantee_const(variable.handle)
        session.run(variable.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be a resource variable handle"):
            session.run(handle)

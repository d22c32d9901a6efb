"""GenerateVocabRemapping and LoadAndRemapMatrix: the answers are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def vocabulary(tmp_path):
    """Paths of files of words."""

    def write(words):
        path = tmp_path / f"{words or 'none'}.txt"
        path.write_text("".join(f"{word}\n" for word in words))
        return str(path)

    return write


def remapped(vocabulary, new="cxadb", old="abcd", offset=0, count=5, old_size=-1):
    with tf.Graph().as_default(), tf.Session() as session:
        files = {"new_vocab_file": vocabulary(new), "old_vocab_file": vocabulary(old)}
        made = tf.raw_ops.GenerateVocabRemapping(
            **files, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=old_size
        )
        assert made.remapping.shape == [count]
        remapping, present = session.run(made)
        return remapping.tolist(), present


def test_new_words_find_their_old_places(vocabulary):
    assert remapped(vocabulary) == ([2, -1, 0, 3, 1], 4)
    assert remapped(vocabulary, offset=1, count=2) == ([-1, 0], 1)
    assert remapped(vocabulary, old_size=2) == ([-1, -1, 0, -1, 1], 2)
    assert remapped(vocabulary, count=0) == ([], 0)
    assert remapped(vocabulary, new="aba", count=3) == ([0, 1, 0], 3)


def test_vocabularies_that_do_not_fit_are_refused(vocabulary):
    with pytest.raises(InvalidArgumentError, match="has 5 lines: lookup table size must be larger than last new vocab"):
        remapped(vocabulary, count=6)
    with pytest.raises(InvalidArgumentError, match="expected 9 but got 4"):
        remapped(vocabulary, old_size=9)
    with pytest.raises(FailedPreconditionError, match=r"abac\.txt has the line 'a' more than once"):
        remapped(vocabulary, old="abac")


@pytest.fixture
def checkpoint(tmp_path):
    path = str(tmp_path / "model.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=MATRIX)
        tf.get_variable("whole", initializer=np.arange(3))
        tf.get_variable("vector", initializer=np.float32([1, 2]))
        tf.get_variable(
            "parts",
            [4, 3],
            initializer=lambda shape, dtype, partition_info: tf.constant(MATRIX)[
                partition_info.var_offset[0] : partition_info.var_offset[0] + shape[0]
            ],
            partitioner=tf.fixed_size_partitioner(2),
        )
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, path)


def loaded(checkpoint, name="w", rows=(2, 0, -1), columns=(1, -1), values=(0.5, 1.5, 2.5, 3.5), count=None):
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.raw_ops.LoadAndRemapMatrix(
            ckpt_path=checkpoint,
            old_tensor_name=name,
            row_remapping=np.int64(rows),
            col_remapping=np.int64(columns),
            initializing_values=np.float32(values),
            num_rows=3,
            num_cols=count or len(columns),
        )
        return session.run(made).tolist()


def test_known_rows_and_columns_are_taken_and_others_filled(checkpoint):
    filled = [[7, 0.5], [1, 1.5], [2.5, 3.5]]
    assert loaded(checkpoint) == filled
    assert loaded(checkpoint, "parts") == filled
    assert loaded(checkpoint, columns=(), values=(1, 2, 3), count=3) == [[6, 7, 8], [0, 1, 2], [1, 2, 3]]
    assert loaded(checkpoint, rows=(-1, -1, -1), values=range(6)) == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": [1]}, InvalidArgumentError, "initializing_values contained 1 elements, but 4 values are missing."),
        ({"rows": (2, 2, -1)}, UnimplementedError, "old ID 2 is mapped to both new ID 0 and 1, which is not supported."),
        ({"rows": (9, 0, -1)}, InvalidArgumentError, "row_remapping: old ID 9 is out of bounds: the old matrix has 4"),
        ({"columns": (9, -1)}, InvalidArgumentError, "col_remapping: old ID 9 is out of bounds: the old matrix has 3"),
        ({"rows": (2, 0)}, InvalidArgumentError, "Size of row_remapping is 2 instead of being equal to num_rows=3"),
        ({"count": 3}, InvalidArgumentError, "its size is 2 instead of being equal to num_cols=3"),
        ({"columns": (), "count": 2}, InvalidArgumentError, "the size of its 2nd dimension is 3 instead of being equal to"),
        ({"name": "whole"}, InvalidArgumentError, "Tensor whole has invalid type int64 instead of expected type float"),
        ({"name": "vector"}, InvalidArgumentError, "Tensor vector has shape [2] of invalid rank 1 instead of rank 2"),
        ({"name": "nothing"}, NotFoundError, "nothing"),
    ],
)
def test_what_does_not_fit_the_checkpoint_is_refused(checkpoint, arguments, error, message):
    with pytest.raises(error) as caught:
        loaded(checkpoint, **arguments)
    assert message in caught.value.message

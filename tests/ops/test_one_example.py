"""One Example is parsed as it is among many, whatever its bytes are."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import dtypes
from tfexp.core.errors import OpError
from tfexp.core.shape import TensorShape
from tfexp.ops.parse_example import parse_examples

SPARSE = [(b"tags", dtypes.string), (b"w", dtypes.float32), (b"n", dtypes.int64)]
DENSE = [(b"id", dtypes.int64), (b"pair", dtypes.float32), (b"names", dtypes.string), (b"rows", dtypes.float32)]
RAGGED = [(b"n", dtypes.int64, dtypes.int32)]
DEFAULTS = [np.zeros(0, np.int64), np.array([1, 2], np.float32), np.array([b"none"], object), np.array(0, np.float32)]
SHAPES = [TensorShape([]), TensorShape([1, 2]), TensorShape([1]), TensorShape([None, 2])]


def record(draw):
    lists = {
        "tags": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"tag"] * draw.randint(4))),
        "w": tf.train.Feature(float_list=tf.train.FloatList(value=draw.rand(draw.randint(4)))),
        "n": tf.train.Feature(int64_list=tf.train.Int64List(value=draw.randint(-9, 1 << 40, draw.choice([0, 2, 3, 40])))),
        "id": tf.train.Feature(int64_list=tf.train.Int64List(value=draw.randint(-9, 9, draw.choice([1, 1, 1, 2])))),
        "pair": tf.train.Feature(float_list=tf.train.FloatList(value=draw.rand(2))),
        "names": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"\0x\0"])),
        "rows": tf.train.Feature(float_list=tf.train.FloatList(value=draw.rand(draw.choice([0, 4, 4, 5])))),
        "other": tf.train.Feature(),
    }
    kept = {key: feature for key, feature in lists.items() if draw.rand() < 0.9}
    if draw.rand() < 0.1:
        kept["w"] = lists["tags"]
    return tf.train.Example(features=tf.train.Features(feature=kept)).SerializeToString()


def parsed(records):
    """The outputs, or the text of the error."""
    try:
        return parse_examples(records, np.empty(0, object), SPARSE, DENSE, RAGGED, DEFAULTS, SHAPES)
    except OpError as error:
        return error.message


@pytest.mark.parametrize("damage", [0, 1], ids=["whole", "damaged"])
def test_as_among_many(damage):
    draw, fine = np.random.RandomState(damage), 0
    for _ in range(400):
        data = bytearray(record(draw))
        for place in draw.randint(0, max(len(data), 1), damage * draw.randint(1, 3)):
            data[place : place + 1] = bytes([draw.randint(256)])
        one, many = parsed(np.array(bytes(data), object)), parsed(np.array([bytes(data)], object))
        assert isinstance(one, str) == isinstance(many, str), (one, many)
        if isinstance(one, str):
            continue
        fine += 1
        many[: len(SPARSE)] = [indices[:, 1:] for indices in many[: len(SPARSE)]]
        many[2 * len(SPARSE) : 3 * len(SPARSE)] = [dims[1:] for dims in many[2 * len(SPARSE) : 3 * len(SPARSE)]]
        first = 3 * len(SPARSE)
        many[first : first + len(DENSE)] = [values[0] for values in many[first : first + len(DENSE)]]
        for a, b in zip(one, many, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_array_equal(a, b)
    assert fine > 50

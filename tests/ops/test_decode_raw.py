"""CSV records, raw bytes, packed and serialized tensors: rows; what TensorFlow gives for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tests.ops.test_string_text import text, texts
from tfexp.core import errors
from tfexp.graph.defaults import new_eager_world

Bad = errors.InvalidArgumentError
ZERO, NAMED, NONE = np.array([0], np.int32), texts("q"), np.array([], np.int32)
UNQUOTED = "Unquoted fields cannot have quotes/CRLFs inside"

UINT16 = {"out_type": tf.uint16}
CASES = [
    OpCase(
        "DecodeCSV",
        [texts("1,2.5,x,7", '3,,"a,""b""",-9000000000'), [ZERO, np.array([1.0], np.float32), NAMED, np.array([0])]],
        [np.array([1, 3], np.int32), np.array([2.5, 1], np.float32), texts("x", 'a,"b"'), np.array([7, -9000000000])],
        errors=[
            Error([texts("1,2"), [ZERO]], Bad, "Expect 1 fields but have 2 in record 0"),
            Error([texts("1,2", "1"), [ZERO, ZERO]], Bad, "Expect 2 fields but have 1 in record 1"),
            Error([texts(""), [NAMED]], Bad, "Expect 1 fields but have 0 in record 0"),
            Error([texts("1", "x"), [ZERO]], Bad, "Field 0 in record 1 is not a valid int32: x"),
            Error([texts("99999999999"), [ZERO]], Bad, "Field 0 in record 0 is not a valid int32: 99999999999"),
            Error([texts("1_0"), [np.array([0.5], np.float32)]], Bad, "Field 0 in record 0 is not a valid float: 1_0"),
            Error([texts("5,1", ",2"), [NONE, ZERO]], Bad, "Field 0 is required but missing in record 1!"),
            Error([texts('"a'), [NAMED]], Bad, "Quoted field has to end with quote followed by delim or end"),
            Error([texts('a"b,c'), [NAMED, NAMED]], Bad, UNQUOTED),
            Error([texts("a\r\n"), [NAMED]], Bad, UNQUOTED),
            Error([texts('"a"b,c'), [NAMED, NAMED]], Bad, "Quote inside a string has to be escaped by another quote"),
            Error([texts("1"), [ZERO]], Bad, "field_delim should be only 1 char", {"field_delim": "ab"}),
            Error([texts("1,2"), [ZERO]], Bad, "select_cols should be strictly increasing", {"select_cols": [-1]}),
            Error([texts("1"), [np.array([1, 2])]], ValueError, "must be a length-0 or length-1 vector, or a scalar"),
            Error([texts("1"), [np.array([[1]])]], ValueError, "Shape must be at most rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "DecodeCSV",
        [texts('NA|"b', "x|c"), [NAMED, NAMED]],
        [texts("q", "x"), texts('"b', "c")],
        {"field_delim": "|", "use_quote_delim": False, "na_value": "NA"},
        label="no quotes",
    ),
    OpCase(
        "DecodeCSV",
        [texts("1,2,3", '4,"5",6').reshape(2, 1), [np.int32(0), np.float64(0)]],
        [np.array([[1], [4]], np.int32), np.array([[3.0], [6.0]])],
        {"select_cols": [0, 2]},
        label="some columns",
        errors=[Error([texts("1"), [ZERO, ZERO]], Bad, "Expect 2 fields but have 1 in record 0")],
    ),
    OpCase("DecodeCSV", [texts('"a\n",', '"",""'), [NAMED, NAMED]], [texts("a\n", "q"), texts("q", "q")], label="ends"),
    OpCase(
        "DecodeCSV",
        [texts("0x10", " 1 ", "nan", "1e400", "+.5"), [np.array([0], np.float32)]],
        [np.array([16, 1, np.nan, np.inf, 0.5], np.float32)],
        label="numbers",
    ),
    OpCase(
        "DecodeRaw",
        [texts(b"\1\0\2\0", b"\3\0\4\0")],
        np.array([[1, 2], [3, 4]], np.int16),
        {"out_type": tf.int16},
        static_shape=[(2, None)],
        errors=[
            Error([texts(b"\1\0\2\0", b"\3")], Bad, "be the same size, but element 1 has size 4 != 1"),
            Error([texts(b"\1\0\2")], Bad, "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16"),
        ],
    ),
    OpCase(
        "DecodeRaw",
        [text("\1\0\2\0")],
        np.array([256, 512], np.int16),
        {"out_type": tf.int16, "little_endian": False},
        label="big-endian",
        static_shape=[(None,)],
    ),
    OpCase(
        "DecodeRaw",
        [texts(np.array([1 + 2j], ">c8").tobytes())],
        np.array([[1 + 2j]], np.complex64),
        {"out_type": tf.complex64, "little_endian": False},
        label="complex",
        static_shape=[(1, None)],
    ),
    OpCase(
        "DecodeRaw",
        [np.array([], object)],
        np.empty((0, 0), np.float32),
        {"out_type": tf.float32},
        label="none",
        static_shape=[(0, None)],
    ),
]
test_rows = op_tests(CASES)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def test_public_names() -> None:
    assert [c.tolist() for c in run(tf.decode_csv(["5,"], [3, tf.constant(4)]))] == [[5], [4]]
    assert run(tf.io.decode_raw(["\1\2"], tf.uint8)).tolist() == [[1, 2]]
    assert run(tf.decode_raw(bytes=["\1\2"], out_type=tf.uint8)).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([0], "Length of select_cols and record_defaults do not match."),
        ([2, 1], "select_cols is not strictly increasing."),
        ([-1, 1], "select_cols contains negative values."),
    ],
)
def test_columns_must_fit(columns: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.decode_csv(["1,2,3"], [[0], [0]], select_cols=columns)


def test_one_csv_record_is_read_as_among_many() -> None:
    draw = np.random.RandomState(0)
    fields = ["1", "-7", "2.5", "1e300", "", "NA", "x", '"a,b"', '"', " 3", "1_0", "0x10", "99999999999", "\r", "nan", "é"]
    with tf.Graph().as_default(), tf.Session() as session:
        defaults = [[0], tf.constant([], tf.float32), [""], tf.constant([2], tf.int64)]
        records = tf.placeholder(tf.string)
        columns = tf.decode_csv(records, defaults, na_value="NA")

        def parsed(fed: Any) -> Any:
            try:
                return [np.ravel(column).tolist()[:1] for column in session.run(columns, {records: fed})]
            except tf.errors.InvalidArgumentError as error:
                return error.message.split("\n")[0]

        read = 0
        for _ in range(300):
            record = ",".join(draw.choice(fields, draw.choice([4, 4, 4, 4, 3])))
            if draw.rand() < 0.5:
                record = f"{draw.randint(9)},{draw.rand()},{draw.choice(fields)},{draw.choice(['', '5', 'NA'])}"
            one, many = parsed(record), parsed([record, record])
            assert repr(one) == repr(many)
            read += isinstance(one, list)
        assert 50 < read < 250


def test_defaults_of_columns_are_a_list_in_graphs() -> None:
    with pytest.raises(TypeError, match="Expected list for 'record_defaults' argument to 'DecodeCSV' Op"):
        tf.decode_csv("1,2", np.zeros(2))
    with new_eager_world().as_default():
        assert [column.numpy() for column in tf.decode_csv("1,2", np.zeros(2))] == [1, 2]

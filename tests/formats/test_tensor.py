"""TensorProto and arrays: TensorFlow's bytes, both ways, and its complaints."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tests.golden import format_cases as cases
from tests.golden import oracle
from tfexp.core import dtypes
from tfexp.core.shape import Dimension, TensorShape
from tfexp.formats.tensor import array_to_wire, make_ndarray, make_tensor_proto, to_array

RECORDED = json.loads((cases.FORMATS / "facts.json").read_text(encoding="utf-8"))["tensor_protos"]


def serialized(proto: Any) -> bytes:
    return proto.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", cases.TENSOR_PROTOS)
def test_proto_is_tensorflows(name: str) -> None:
    values, dtype, shape = cases.TENSOR_PROTOS[name]
    assert serialized(make_tensor_proto(values, dtype, shape)).hex() == RECORDED[name]


def test_every_case_is_recorded() -> None:
    assert set(RECORDED) == set(cases.TENSOR_PROTOS)


@pytest.mark.skipif(not oracle.is_installed(), reason="compares with TensorFlow live")
@pytest.mark.parametrize("name", cases.TENSOR_PROTOS)
def test_array_is_tensorflows(name: str) -> None:
    tf = oracle.tensorflow()
    proto = bytes.fromhex(RECORDED[name])
    ours = make_ndarray(TensorProto.FromString(proto))
    theirs = tf.make_ndarray(type(tf.make_tensor_proto(1)).FromString(proto))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", cases.TENSOR_PROTOS)
def test_array_agrees_with_what_was_encoded(name: str) -> None:
    values, dtype, shape = cases.TENSOR_PROTOS[name]
    array = make_ndarray(TensorProto.FromString(bytes.fromhex(RECORDED[name])))
    given, wanted = to_array([] if shape and 0 in shape else values, dtype and dtypes.as_dtype(dtype))
    dims = given.shape if shape is None else tuple(shape)
    expected = np.zeros(int(np.prod(dims)), wanted.as_numpy_dtype)
    expected[: given.size] = given.ravel()
    if given.size:
        expected[given.size :] = given.ravel()[-1]
    assert array.shape == dims
    assert array.dtype == wanted.as_numpy_dtype
    np.testing.assert_array_equal(array, expected.reshape(dims))


@pytest.mark.parametrize(
    ("values", "dtype", "shape", "error", "text"),
    [
        ("a", "float32", None, TypeError, "Expected float32, got 'a' of type 'str' instead."),
        (["a", 1], "float32", None, TypeError, "Expected float32, got 'a' of type 'str' instead."),
        (1.5, "int32", None, TypeError, "Expected int32, got 1.5 of type 'float' instead."),
        ([[1, 2], [3, 4.5]], "int32", None, TypeError, "Expected int32, got 4.5 of type 'float' instead."),
        ([1, [2, "a"]], "int32", None, TypeError, "Expected int32, got 'a' of type 'str' instead."),
        (1, "bool", None, TypeError, "Expected bool, got 1 of type 'int' instead."),
        ([True, 1], "bool", None, TypeError, "Expected bool, got 1 of type 'int' instead."),
        (1, "string", None, TypeError, "Expected string, got 1 of type 'int' instead."),
        (["a", 1], "string", None, TypeError, "Expected string, got 1 of type 'int' instead."),
        (1j, "float32", None, TypeError, "Expected float32, got 1j of type 'complex' instead."),
        (b"a", "complex64", None, TypeError, "Expected complex64, got b'a' of type 'bytes' instead."),
        ("x", "bfloat16", None, TypeError, "Expected bfloat16, got 'x' of type 'str' instead."),
        ([1, None], "float32", None, TypeError, "Expected float32, got None of type 'NoneType' instead."),
        ([1, "a"], None, None, TypeError, "Failed to convert object of type <class 'list'> to Tensor. Contents: [1, 'a']."),
        ([None], None, None, TypeError, "Contents: [None]. Consider casting elements to a supported type."),
        ({}, None, None, TypeError, "Failed to convert object of type <class 'dict'> to Tensor."),
        (1 << 64, None, None, TypeError, "Failed to convert object of type <class 'int'> to Tensor."),
        (np.array([1, 2]), "string", None, TypeError, "Expected binary or unicode string, got 1"),
        (np.array([1, 2], object), None, None, TypeError, "Expected binary or unicode string, got 1"),
        (np.datetime64("2019"), None, None, TypeError, "to a TensorFlow DType"),
        ([1], "resource", None, TypeError, "A constant cannot have the type resource"),
        (1, None, [3, None], TypeError, "fully defined"),
        ([1, 2], None, 3, TypeError, "not iterable"),
        (None, None, None, ValueError, "None values not supported."),
        (None, "float32", None, ValueError, "None values not supported."),
        ([[1, 2], [3]], None, None, ValueError, "Argument must be a dense tensor: [[1, 2], [3]]"),
        ([[1.0, 2.0], 3.0], "float32", None, ValueError, "Argument must be a dense tensor: [[1.0, 2.0], 3.0]"),
        ([["a", "b"], ["c"]], None, None, ValueError, "Argument must be a dense tensor: [['a', 'b'], ['c']]"),
        ([[1, 2], np.ones(3)], None, None, ValueError, "- got shape [2], but wanted [2, 2]."),
        ([np.ones(1), np.ones(2)], None, None, TypeError, "Failed to convert object of type <class 'list'> to Tensor."),
        ((1.0, np.ones(2)), None, None, TypeError, "Failed to convert object of type <class 'tuple'> to Tensor. Contents"),
        ([np.ones((2, 2)), np.ones((3, 2))], None, None, TypeError, "Failed to convert object of type <class 'list'>"),
        ([np.ones((2, 2)), np.ones((2, 3))], None, None, ValueError, "unequal lengths, but wanted [2]."),
        ([np.ones(1), np.ones(2)], "float32", None, TypeError, "Expected float32, got array([1.]) of type 'ndarray'"),
        (range(3), None, None, ValueError, "dense tensor: range(0, 3) - got shape [3], but wanted []."),
        ([np.zeros(2), np.ones(2)], None, None, ValueError, "got shape [2, 2], but wanted [2]."),
        ([1, 2, 3], None, [2], ValueError, "Too many elements provided. Needed at most 2, but received 3"),
        (np.arange(5), None, [2, 2], ValueError, "Too many elements provided. Needed at most 4, but received 5"),
        (1, None, [-1], ValueError, "no negative dimension, got [-1]"),
    ],
)  # fmt: skip
def test_refusals_are_tensorflows(values: Any, dtype: Any, shape: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        make_tensor_proto(values, dtype, shape)
    assert text in str(caught.value)


def test_verify_shape() -> None:
    assert make_ndarray(make_tensor_proto([1, 2], shape=[2], verify_shape=True)).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(4,\), got \(2,\)\."):
        make_tensor_proto([1, 2], shape=[4], verify_shape=True)


def test_only_a_single_value_is_repeated_where_that_is_asked_for() -> None:
    for one in (1, [1]):
        assert make_ndarray(make_tensor_proto(one, shape=[3], allow_broadcast=True)).tolist() == [1, 1, 1]
    assert make_ndarray(make_tensor_proto([1, 2], shape=[2, 1], allow_broadcast=True)).tolist() == [[1], [2]]
    for several in ([1, 2], [[1]], [1, 2, 3, 4]):
        with pytest.raises(TypeError, match="Expected Tensor's shape"):
            make_tensor_proto(several, shape=[3], allow_broadcast=True)
    with pytest.raises(ValueError, match="not both allowed"):
        make_tensor_proto(1, shape=[3], verify_shape=True, allow_broadcast=True)


def test_a_graphs_tensor_is_no_value() -> None:
    class Tensor:
        op = None
        value_index = 0

        def __iter__(self) -> Any:
            raise TypeError("not iterable")

    for values in ([Tensor()], [[1, Tensor()]]):
        with pytest.raises(TypeError):
            make_tensor_proto(values)


def test_shapes_and_dimensions_as_arguments() -> None:
    assert make_ndarray(make_tensor_proto(1.0, shape=TensorShape([2, 3]))).shape == (2, 3)
    assert make_ndarray(make_tensor_proto(1.0, shape=[Dimension(2), 3])).shape == (2, 3)
    assert make_ndarray(make_tensor_proto([Dimension(5), 7], "int32")).tolist() == [5, 7]


def test_text_beside_bytes_that_are_not_ascii() -> None:
    assert make_tensor_proto(["é", b"\xff"]).string_val == ["é".encode(), b"\xff"]


def test_big_endian_arrays_are_stored_little_endian() -> None:
    proto = make_tensor_proto(np.array([1, 2], ">f4"))
    assert proto.tensor_content == np.array([1, 2], "<f4").tobytes()


def test_reference_dtype_means_its_base() -> None:
    assert make_tensor_proto(1.0, dtypes.float32._as_ref).dtype == dtypes.float32.as_datatype_enum
    proto = make_tensor_proto([1.0, 2.0])
    proto.dtype += 100
    assert make_ndarray(proto).tolist() == [1.0, 2.0]


def test_array_of_a_proto_can_be_written_to_unless_a_copy_is_spared() -> None:
    proto = make_tensor_proto([1.0, 2.0, 3.0])
    make_ndarray(proto)[0] = 5
    assert proto.tensor_content == np.array([1, 2, 3], np.float32).tobytes()
    assert make_ndarray(proto, writable=False).tolist() == [1.0, 2.0, 3.0]


NUMBERS = [d for d in map(dtypes.as_dtype, range(1, 24)) if d.is_numpy_compatible and d is not dtypes.string]


@given(st.sampled_from(NUMBERS).flatmap(lambda d: st.tuples(st.just(d), st.binary(max_size=96))))
@example((dtypes.float32, b"\x00\x00\x81\x7f"))  # a NaN that signals
def test_round_trip_of_any_bits(case: tuple[Any, bytes]) -> None:
    dtype, raw = case
    element = np.dtype(dtype.as_numpy_dtype)
    if dtype is dtypes.bool:
        raw = bytes(byte & 1 for byte in raw)
    array = np.frombuffer(raw[: len(raw) // element.itemsize * element.itemsize], element)
    for shaped in (array, array[:1].reshape(array[:1].size and ()), array.reshape(1, -1, 1)):
        for proto in (make_tensor_proto(shaped, dtype), array_to_wire(shaped, dtype)):
            back = make_ndarray(TensorProto.FromString(serialized(proto)))
            assert back.dtype == element and back.shape == shaped.shape
            if element.kind in "fcV":  # a NaN's payload does not survive a float_val
                with np.errstate(invalid="ignore"):  # casting a signalling one
                    np.testing.assert_array_equal(back.astype(np.complex128), shaped.astype(np.complex128))
            else:
                assert back.tobytes() == shaped.tobytes()


@given(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5).flatmap(
    lambda shape: hnp.arrays(object, shape, elements=st.binary(max_size=300))
))  # fmt: skip
def test_round_trip_of_strings(array: np.ndarray[Any, Any]) -> None:
    for proto in (make_tensor_proto(array), array_to_wire(array)):
        back = make_ndarray(TensorProto.FromString(serialized(proto)))
        assert back.shape == array.shape
        assert back.tolist() == array.tolist()
    assert not array_to_wire(array).string_val


def proto_of(dtype: str, dims: list[int], **fields: Any) -> Any:
    proto = TensorProto(dtype=dtypes.as_dtype(dtype).as_datatype_enum, **fields)
    for size in dims:
        proto.tensor_shape.dim.add(size=size)
    return proto


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (proto_of("float32", [2], tensor_content=b"abcd"), "4 bytes, but float32 of shape [2] needs 8"),
        (proto_of("float32", [1], tensor_content=b"abcde"), "5 bytes, but float32 of shape [1] needs 4"),
        (proto_of("int8", [3, 5], tensor_content=bytes(17)), "17 bytes, but int8 of shape [3, 5] needs 15"),
        (proto_of("float32", [-1], float_val=[1.0]), "shape [-1] has a negative dimension"),
        (proto_of("float32", [1], float_val=[1.0, 2.0]), "float_val has 2 values, but the shape [1] has room for 1"),
        (proto_of("string", [0], string_val=[b"a"]), "string_val has 1 values, but the shape [0] has room for 0"),
        (proto_of("complex64", [2], scomplex_val=[1, 2, 3]), "scomplex_val has 3 numbers, an odd count"),
        (proto_of("string", [2], tensor_content=b"\x01"), "a varint is cut off"),
        (proto_of("string", [2], tensor_content=b"\x01\x02ab"), "has 4 bytes, but its 2 strings (shape [2]) need 5"),
        (proto_of("string", [1], tensor_content=b"\x01ab"), "has 3 bytes, but its 1 strings (shape [1]) need 2"),
    ],
)
def test_protos_that_disagree_with_their_shape(proto: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make_ndarray(proto)
    assert text in str(caught.value)


@pytest.mark.parametrize("proto", [proto_of("resource", []), proto_of("variant", []), TensorProto()])
def test_protos_without_values(proto: Any) -> None:
    with pytest.raises(TypeError, match="Unsupported tensor type"):
        make_ndarray(proto)


def test_a_proto_stays_as_it_is() -> None:
    proto = proto_of("float32", [2], float_val=[1.0, 2.0])
    assert make_tensor_proto(proto) is make_tensor_proto(proto, dtypes.int32, [5]) is proto


def test_values_are_filled_as_tensorflow_fills() -> None:
    assert make_ndarray(proto_of("float32", [2, 3], float_val=[1.5])).tolist() == [[1.5] * 3] * 2
    assert make_ndarray(proto_of("float32", [5], float_val=[1.5, 2])).tolist() == [1.5, 2, 2, 2, 2]
    assert make_ndarray(proto_of("float32", [3])).tolist() == [0, 0, 0]
    assert make_ndarray(proto_of("string", [2])).tolist() == [b"", b""]
    assert make_ndarray(proto_of("string", [2], tensor_content=b"\x01\x02abb")).tolist() == [b"a", b"bb"]
    assert make_ndarray(proto_of("complex64", [2], scomplex_val=[1, 2])).tolist() == [1 + 2j] * 2
    assert make_ndarray(proto_of("uint8", [2], int_val=[300])).tolist() == [44, 44]
    half = make_ndarray(proto_of("bfloat16", [2], half_val=[16320]))
    assert half.dtype == ml_dtypes.bfloat16 and half.tolist() == [1.5, 1.5]


def test_a_quantized_number_is_a_tuple_of_one() -> None:
    for values, dims in (((21,), []), ([(21,), (22,)], [2]), ([[(21,)]], [1, 1])):
        proto = make_tensor_proto(values, dtypes.qint32)
        assert [dim.size for dim in proto.tensor_shape.dim] == dims
        assert make_ndarray(proto).tolist() == np.array(values)[..., 0].tolist()


def test_what_has_numpys_interface_is_an_array() -> None:
    texts = np.array([b"ab", b"c"])

    class Texts:
        __array_interface__ = texts.__array_interface__

    assert make_ndarray(make_tensor_proto(Texts(), shape=[1, 2])).tolist() == [[b"ab", b"c"]]

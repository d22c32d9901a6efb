"""Op signatures: the grammar of TensorFlow's registry, and the rules around it."""

import inspect

import pytest

from tfexp.core import dtypes
from tfexp.core.op import define_op, get_gradient, get_op, group_inputs, output_types, parse_signature
from tfexp.core.shape import TensorShape


def test_a_signature_with_lists_defaults_and_limits():
    op = parse_signature(
        "Example(ref: ref T, values: N * T, data: Ts) -> (first: T, rest: Ts) "
        "{N: int >= 2; T: type in [float,half]; Ts: list(type) >= 1; axis: int = -1; mode: string in ['a', 'b'] = 'b'; "
        "shapes: list(shape) = []; shape: shape = unknown} #stateful"
    )
    assert op.is_stateful
    assert not op.is_commutative
    ref, values, data = op.inputs
    assert ref.is_ref
    assert (values.number_attr, values.type_attr, data.type_list_attr) == ("N", "T", "Ts")
    assert op.attrs["N"].minimum == 2
    assert op.attrs["T"].allowed == (dtypes.float32, dtypes.float16)
    assert op.attrs["axis"].default == -1
    assert op.attrs["mode"].default == "b"
    assert op.attrs["shapes"].default == []
    assert op.attrs["shape"].default == TensorShape(None)
    assert not op.attrs["N"].has_default
    assert not op.has_single_output


def test_inputs_are_grouped_by_their_counts():
    op = parse_signature("Example(a: T, values: N * T, data: Ts) -> () {N: int; T: type; Ts: list(type)}")
    attrs = {"N": 2, "T": dtypes.float32, "Ts": [dtypes.int32]}
    assert group_inputs(op, ["a", "v0", "v1", "d"], attrs) == ["a", ["v0", "v1"], ["d"]]


def test_output_types_follow_the_attributes():
    op = parse_signature("Example() -> (ref: ref T, many: N * T, rest: Ts, fixed: int32) {N: int; T: type; Ts: list(type)}")
    attrs = {"N": 2, "T": dtypes.float32, "Ts": [dtypes.int64]}
    names = [t.name for t in output_types(op, attrs)]
    assert names == ["float32_ref", "float32", "float32", "int64", "int32"]


@pytest.mark.parametrize("text", ["Example", "Example(a: T -> (b: T)", "Example(a: T) -> (b: T) {T is a type}"])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(ValueError, match="Not an"):
        parse_signature(text)


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="already defined"):
        define_op(get_op("NoOp").signature)


def test_an_op_without_gradient_is_named():
    with pytest.raises(LookupError, match="NoSuchOpAnywhere"):
        get_gradient("NoSuchOpAnywhere")


def test_an_op_has_a_functions_name():
    assert [get_op(name).__name__ for name in ("Tanh", "Relu6", "BiasAdd")] == ["tanh", "relu6", "bias_add"]


def test_inspect_shows_an_op_as_a_function():
    op = parse_signature("Some_Op(x: T, n: int32) -> (y: T) {T: type; depth: int; sort: bool = false}")
    assert str(inspect.signature(op)) == "(x, n, depth, sort=False, name=None)"
    assert op.__qualname__ == op.__name__
    assert not hasattr(op, "nothing")

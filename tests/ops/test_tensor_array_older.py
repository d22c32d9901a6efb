"""TensorArrays and stacks of older GraphDefs, whose handles are strings, do what the present ones do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tfexp as tf

VALUES = {
    "n": np.int32(2),
    "i": np.int32(1),
    "flow": np.float32(0),
    "x": np.float32([5, 7]),
    "rows": np.float32([[1, 2], [3, 4]]),
    "backwards": np.int32([1, 0]),
    "lengths": np.int64([2, 0]),
}


def run(nodes: list[tuple[Any, ...]], *fetches: str, **values: Any) -> tuple[list[Any], list[tf.TensorShape]]:
    """The values and static shapes of outputs of an imported graph: (name, op, inputs, attributes) are its nodes."""
    given = tf.GraphDef()
    given.versions.producer = 8
    for name, op, inputs, attrs in nodes:
        node = given.node.add(name=name, op=op, input=inputs.split())
        for key, value in attrs.items():
            if isinstance(value, tf.DType):
                node.attr[key].type = value.as_datatype_enum
            elif isinstance(value, bool):
                node.attr[key].b = value
            else:
                node.attr[key].s = value
    with tf.Graph().as_default(), tf.Session() as session:
        used = {name for _, _, inputs, _ in nodes for name in inputs.split()}
        feeds = {name: tf.constant(value) for name, value in {**VALUES, **values}.items() if name in used}
        outputs = tf.import_graph_def(given, input_map=feeds, return_elements=fetches, name="")
        return session.run(outputs), [output.shape for output in outputs]


def array(form: str, name: str, op: str, inputs: str, **attrs: Any) -> tuple[Any, ...]:
    return (name, f"TensorArray{op}{form}", inputs, attrs)


def new(form: str, **attrs: Any) -> tuple[Any, ...]:
    return array(form, "a", "", "n", dtype=tf.float32, tensor_array_name=b"mine", **attrs)


FORMS = pytest.mark.parametrize("form", ["", "V2"])


@FORMS
def test_elements(form: str) -> None:
    nodes = [
        new(form),
        array(form, "write", "Write", "a i x flow", T=tf.float32),
        array(form, "read", "Read", "a i write", dtype=tf.float32),
        array(form, "size", "Size", "a write"),
    ]
    (read, size, handle), shapes = run(nodes, "read:0", "size:0", "a:0")
    assert (read.tolist(), size, handle[0]) == ([5, 7], 2, b"_tensor_arrays")
    assert re.fullmatch(rb"mine_\d+", handle[1])
    assert [shape.ndims for shape in shapes] == ([None, 0, 1] if form else [None, None, None])


@FORMS
def test_many_elements(form: str) -> None:
    nodes = [
        new(form),
        array(form, "scatter", "Scatter", "a backwards rows flow", T=tf.float32),
        array(form, "gather", "Gather", "a backwards scatter", dtype=tf.float32),
    ]
    (gathered,), (shape,) = run(nodes, "gather:0")
    np.testing.assert_array_equal(gathered, VALUES["rows"])
    assert shape.ndims is None
    nodes = [
        new(form),
        array(form, "split", "Split", "a rows lengths flow", T=tf.float32),
        array(form, "concat", "Concat", "a split", dtype=tf.float32),
    ]
    (values, lengths), shapes = run(nodes, "concat:0", "concat:1")
    assert (values.tolist(), lengths.tolist()) == ([[1, 2], [3, 4]], [2, 0])
    assert [shape.ndims for shape in shapes] == ([None, 1] if form else [None, None])


@FORMS
def test_gradients_are_summed_in_one_array_for_a_source(form: str) -> None:
    nodes = [
        new(form),
        array(form, "one", "Grad", "a flow", source=b"gradients"),
        array(form, "other", "Grad", "a flow", source=b"gradients"),
        array(form, "first", "Write", "one i x flow", T=tf.float32),
        array(form, "second", "Write", "other i x first", T=tf.float32),
        array(form, "sum", "Read", "one i second", dtype=tf.float32),
    ]
    (total, handle), _ = run(nodes, "sum:0", "one:0")
    assert (total.tolist(), handle[0]) == ([10, 14], b"_tensor_array_grads")
    assert re.fullmatch(rb"mine_\d+@gradients", handle[1])


@FORMS
def test_a_closed_array_and_one_of_no_step_are_refused(form: str) -> None:
    nodes = [new(form), array(form, "close", "Close", "a"), array(form, "size", "Size", "a flow ^close")]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has already been closed"):
        run(nodes, "size:0")
    if form:
        with pytest.raises(tf.errors.NotFoundError, match=r"Container .* does not exist"):
            run([array(form, "size", "Size", "name flow")], "size:0", name=np.array([b"_tensor_arrays", b"a"], object))


def packed(**attrs: Any) -> list[tuple[Any, ...]]:
    return [
        new("", **attrs),
        array("", "unpack", "Unpack", "a rows flow", T=tf.float32),
        array("", "pack", "Pack", "a unpack", dtype=tf.float32),
    ]


def test_all_elements() -> None:
    (rows,), (shape,) = run(packed(), "pack:0")
    np.testing.assert_array_equal(rows, VALUES["rows"])
    assert shape.ndims is None
    (grown,), _ = run(packed(dynamic_size=True), "pack:0", n=np.int32(0))
    np.testing.assert_array_equal(grown, VALUES["rows"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"first dimension equal to the array size \(2 vs. 3\)"):
        run(packed(), "pack:0", n=np.int32(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be at least a vector"):
        run(packed(), "pack:0", rows=np.float32(1))


def test_stack() -> None:
    nodes: list[tuple[Any, ...]] = [
        ("s", "Stack", "", {"elem_type": tf.float32, "stack_name": b"mine"}),
        ("push", "StackPush", "s x", {"T": tf.float32}),
        ("over", "StackPush", "s rows ^push", {"T": tf.float32}),
        ("pop", "StackPop", "s ^over", {"elem_type": tf.float32}),
        ("last", "StackPop", "s ^pop", {"elem_type": tf.float32}),
        ("close", "StackClose", "s ^last", {}),
        ("late", "StackPop", "s ^close", {"elem_type": tf.float32}),
    ]
    (top, bottom, handle, pushed), shapes = run(nodes, "pop:0", "last:0", "s:0", "push:0")
    assert (top.tolist(), bottom.tolist(), pushed.tolist()) == ([[1, 2], [3, 4]], [5, 7], [5, 7])
    assert handle.tolist() == [b"_stacks", b"mine"]
    assert [shape.ndims for shape in shapes] == [None, None, 1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Stack\[mine\] has already been closed"):
        run(nodes, "late:0")

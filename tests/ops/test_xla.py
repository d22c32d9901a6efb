"""`tf.xla.experimental`: the nodes and attributes that TensorFlow makes (recorded from 2.21's compat.v1), and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import OpCase, op_tests

CASES = [OpCase("XlaClusterOutput", [(2, 3)], lambda x: x, dtypes=["float32", "int32", "float64"])]
test_rows = op_tests(CASES)


def _nodes(graph: tf.Graph) -> list[tuple[str, str, list[str], dict[str, Any]]]:
    """(name, op, inputs, what compiling says) of every node."""
    return [
        (
            node.name,
            node.op,
            list(node.input),
            {k: v.s.decode() or v.b for k, v in node.attr.items() if k.lower().startswith("_xla")},
        )
        for node in graph.as_graph_def().node
    ]


@pytest.fixture
def x() -> Any:
    with tf.Graph().as_default():
        yield tf.placeholder(tf.float32, [2, 3], name="x")


def test_compile_makes_a_cluster_with_a_pivot(x: tf.Tensor) -> None:
    results = tf.xla.experimental.compile(lambda a: (a + 1, tf.group(a)), [x])
    assert [t.name for t in results] == ["output_0:0"]
    mark = {"_xla_compile_id": "cluster"}
    assert _nodes(x.graph)[1:] == [
        ("cluster/pivot", "NoOp", [], {}),
        ("input_0", "Identity", ["x"], mark),
        ("add/y", "Const", ["^cluster/pivot"], mark),
        ("add", "AddV2", ["input_0", "add/y"], mark),
        ("group_deps", "NoOp", ["^input_0"], mark),
        ("NoOp", "NoOp", ["^cluster/pivot"], mark),
        ("Identity", "Identity", ["add"], mark),
        ("output0", "XlaClusterOutput", ["Identity"], {}),
        ("output_0", "Identity", ["output0", "^NoOp", "^group_deps"], {}),
    ]


def test_compile_keeps_structures_and_makes_resource_variables(x: tf.Tensor) -> None:
    made = tf.xla.experimental.compile(lambda a: {"b": a * 2, "c": [a]}, [x])
    assert made["b"].name == "output_0:0" and made["c"][0].name == "output_1:0"
    (product,) = tf.xla.experimental.compile(lambda a: tf.matmul(a, tf.get_variable("v", [3, 3])), [x])
    types = {name: (op, marks) for name, op, _, marks in _nodes(x.graph)}
    assert types["v"] == ("VarHandleOp", {})
    assert types["MatMul"][1] == types["MatMul/ReadVariableOp"][1] == {"_xla_compile_id": "cluster_1"}
    assert not tf.get_variable_scope().use_resource
    assert product.shape == (2, 3)


def test_compile_without_tensors_gives_an_operation(x: tf.Tensor) -> None:
    operation = tf.xla.experimental.compile(lambda a: None, [x])
    assert isinstance(operation, tf.Operation) and operation.name == "output_0"


def test_compile_refuses_what_tensorflow_refuses(x: tf.Tensor) -> None:
    compile_ = tf.xla.experimental.compile
    with pytest.raises(TypeError, match="inputs must be a list"):
        compile_(lambda a: a, x)
    with pytest.raises(ValueError, match="zero or more Tensor values followed by zero or more Operations"):
        compile_(lambda a: (tf.no_op(), a), [x])
    with pytest.raises(ValueError, match="cannot be nested"):
        compile_(lambda a: compile_(lambda b: b + 1, [a])[0] * 2, [x])


def test_jit_scope_marks_nodes_and_their_gradients(x: tf.Tensor) -> None:
    with tf.xla.experimental.jit_scope():
        y = tf.tanh(x)
        with tf.xla.experimental.jit_scope(compile_ops=False):
            y = tf.sin(y)
    with tf.xla.experimental.jit_scope(lambda node: node.op == "Exp", separate_compiled_gradients=True):
        y = tf.exp(y) * y
    tf.gradients(y, x)
    marks = {name: marks for name, _, _, marks in _nodes(x.graph)}

    def said(scope: str, compiled: bool, apart: bool) -> dict[str, Any]:
        return {"_XlaScope": scope, "_XlaCompile": compiled, "_XlaSeparateCompiledGradients": apart}

    assert marks["Tanh"] == said("jit_scope_0", True, False)
    assert marks["Sin"] == said("jit_scope_0", False, False)
    assert marks["Exp"] == said("jit_scope_1", True, True)
    assert marks["mul"] == said("jit_scope_1", False, True)
    assert marks["gradients/Tanh_grad/TanhGrad"] == {"_XlaScope": "jit_scope_0", "_XlaCompile": True}
    assert marks["gradients/Exp_grad/mul"] == {"_XlaScope": "jit_scope_1_grad_gradients", "_XlaCompile": True}
    assert marks["gradients/Sin_grad/Cos"] == marks["gradients/mul_grad/Mul"] == {}


def test_a_computation_computes_what_it_says(x: tf.Tensor) -> None:
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    (plain,) = tf.xla.experimental.compile(lambda a, b: a * b - 1.0, [x, 2.0])
    assert plain.op.inputs[0].op.type == "XlaClusterOutput"
    assert {t.op.type for t in tf.gradients(plain, x)} == {"Mul"}
    assert value.shape == plain.shape


def test_eager_code_has_no_scopes_to_compile() -> None:
    from tfexp.runtime.eager import eager_mode

    with eager_mode(), pytest.raises(RuntimeError, match="not supported when eager"), tf.xla.experimental.jit_scope():
        pass


def test_compiled_nodes_belong_to_a_context_of_xla() -> None:
    with tf.Graph().as_default() as graph:
        seen = []
        tf.xla.experimental.compile(lambda x: (seen.append(graph._get_control_flow_context()), x + 1)[1], [tf.constant(1)])
        assert seen[0].IsXLAContext() and not seen[0].IsCondContext() and seen[0].GetWhileContext() is None

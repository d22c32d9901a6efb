"""What "TensorFlow programming basics" 4.3-4.5 prints: variables, scopes, graphs, linear regression."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tfexp
from tests.source_programs.printed import Printed, dedent


def _code_4_9(tf: Any) -> tuple[Any, Any]:
    var1 = tf.Variable(1.0, name="firstvar")
    print("var1:", var1.name)
    var1 = tf.Variable(2.0, name="firstvar")
    print("var1:", var1.name)
    var2 = tf.Variable(3.0)
    print("var2:", var2.name)
    var2 = tf.Variable(4.0)
    print("var1:", var2.name)
    return var1, var2


def test_basics_4_3_3_in_2_goes_on_in_the_same_graph(tf: Any, out: Printed) -> None:
    _code_4_9(tf)
    assert len(out.lines) == 4
    var1, var2 = _code_4_9(tf)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print("var1=", var1.eval())
        print("var2=", var2.eval())
        get_var1 = tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3))
        print("get_var1:", get_var1.name)
        with pytest.raises(ValueError, match="firstvar") as caught:
            tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.4))
    assert out.lines == dedent("""
        var1: firstvar_2:0
        var1: firstvar_3:0
        var2: Variable_2:0
        var1: Variable_3:0
        var1= 2.0
        var2= 4.0
        get_var1: firstvar_4:0
    """)
    assert str(caught.value).startswith(
        "Variable firstvar already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
    )
    if tf is tfexp:  # TensorFlow 2 no longer says where in every case
        assert "Originally defined at:\n\n  File " in str(caught.value)
        assert Path(__file__).name in str(caught.value)


GRAPH_LINE = re.compile(r"<\S+\.Graph object at 0x[0-9a-fA-F]+>")


def test_basics_4_4_graphs(tf: Any, out: Printed) -> None:
    c = tf.constant(0.0)
    g = tf.Graph()
    with g.as_default():
        c1 = tf.constant(0.0)
        print(c1.graph)
        print(g)
        print(c.graph)
    g2 = tf.get_default_graph()
    print(g2)
    tf.reset_default_graph()
    g3 = tf.get_default_graph()
    print(g3)
    printed = out.lines
    assert all(GRAPH_LINE.fullmatch(line) for line in printed)
    own, g_line, outer, g2_line, g3_line = printed
    assert own == g_line != outer == g2_line != g3_line

    print(c1.name)
    t = g.get_tensor_by_name(name="Const:0")
    print(t)
    assert out.lines == ["Const:0", 'Tensor("Const:0", shape=(), dtype=float32)']

    a = tf.constant([[1.0, 2.0]])
    b = tf.constant([[1.0], [3.0]])
    tensor1 = tf.matmul(a, b, name="exampleop")
    print(tensor1.name, tensor1)
    test = g3.get_tensor_by_name("exampleop:0")
    print(test)
    print(tensor1.op.name)
    assert out.lines == dedent("""
        exampleop:0 Tensor("exampleop:0", shape=(1, 1), dtype=float32)
        Tensor("exampleop:0", shape=(1, 1), dtype=float32)
        exampleop
    """)
    testop = g3.get_operation_by_name("exampleop")
    print(testop)
    printed = out.lines
    if tf is not tfexp:  # 2.x has two attributes more and prints them in no fixed order
        head, *attrs = re.split(r"(?<=\n)(?=attr \{)", "\n".join(printed) + "\n")
        printed = (head + "".join(sorted(text for text in attrs if '"grad_' not in text))).strip("\n").split("\n")
    assert printed == dedent("""
        name: "exampleop"
        op: "MatMul"
        input: "Const"
        input: "Const_1"
        attr {
          key: "T"
          value {
            type: DT_FLOAT
          }
        }
        attr {
          key: "transpose_a"
          value {
            b: false
          }
        }
        attr {
          key: "transpose_b"
          value {
            b: false
          }
        }
    """)
    with tf.Session() as sess:
        test = sess.run(test)
        print(test)
        test = tf.get_default_graph().get_tensor_by_name("exampleop:0")
        print(test)
    assert out.lines == ["[[7.]]", 'Tensor("exampleop:0", shape=(1, 1), dtype=float32)']

    tt2 = g.get_operations()
    print(tt2)
    tt3 = g.as_graph_element(c1)
    print(tt3)
    assert out.lines == ["[<tf.Operation 'Const' type=Const>]", 'Tensor("Const:0", shape=(), dtype=float32)']

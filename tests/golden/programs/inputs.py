"""Constants, placeholders, random ops; what is refused at construction; shapes of partly known inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("O10: random ops of one seed")
def random_ops(tf: Any) -> Outcome:
    tf.set_random_seed(1234)
    made = [
        tf.random_uniform([5]),
        tf.random_uniform([2, 3], -1.0, 1.0),
        tf.random_uniform([7], 0, 10, tf.int32),
        tf.random_uniform([7], 0, 10, tf.int64, seed=4),
        tf.random_uniform([3], dtype=tf.float64),
        tf.random_normal([5]),
        tf.random_normal([2, 3], 1.0, 2.0, seed=3),
        tf.truncated_normal([5]),
        tf.truncated_normal([3], dtype=tf.float64, seed=8),
    ]
    tf.set_random_seed(99)
    made.append(tf.random_uniform([3]))
    return runs(Run(made[:-1]), Run(made[:-1]), Run(made[-1]), names=[m.name for m in made])


@program("O10: further random ops, their nodes")
def more_random_ops(tf: Any) -> Outcome:
    tf.set_random_seed(1234)
    made = [
        tf.random_shuffle(tf.range(7), seed=2),
        tf.multinomial(tf.log([[0.2, 0.3, 0.5]]), 5, seed=6),
        tf.random_gamma([3], 2.0, seed=7),
    ]
    return runs(names=[m.name for m in made])


@program("G1: constants of all dtypes")
def constants(tf: Any) -> Outcome:
    numbers = [0, 1, 2, 3, 100]
    kinds = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"]
    made = [tf.constant(numbers, getattr(tf, kind), name=kind) for kind in kinds]
    made += [tf.constant(3, getattr(tf, kind), name=f"{kind}_scalar") for kind in kinds]
    made += [
        tf.constant([True, False, True], name="bools"),
        tf.constant(True),
        tf.constant("text", name="text"),
        tf.constant(["a", "é"], name="strings"),
        tf.constant([b"a", b"\x00\xff"], name="bytes"),
        tf.constant([["a", "b"], ["c", "d"]]),
        tf.constant(1.0, shape=[2, 3], name="filled"),
        tf.constant([[]], name="empty"),
        tf.constant([], tf.int32, name="no_integers"),
        tf.constant(np.zeros([2, 3], np.float32), name="zeros_array"),
        tf.constant(np.arange(6).reshape(2, 3), name="int64_array"),
        tf.constant(np.float64(2.5), name="numpy_scalar"),
        tf.constant(2.5, name="python_float"),
        tf.constant(7, name="python_int"),
        tf.constant(2**40, tf.int64, name="large_int"),
        tf.constant([1, 2.5], name="mixed"),
        tf.constant([np.inf, -np.inf, np.nan], name="not_finite"),
        tf.constant([5.0, 5.0, 5.0], name="repeated"),
        tf.constant((1, 2, 3), name="tuple"),
    ]
    made += [
        tf.zeros([2, 3]),
        tf.ones([2], tf.int32),
        tf.zeros([], tf.bool),
        tf.zeros([1], tf.string),
        tf.fill([2], 7),
    ]
    made += [tf.zeros_like(made[1]), tf.ones_like(made[1], tf.int32), tf.range(5), tf.range(1.0, 2.0, 0.25)]
    made += [
        tf.eye(3),
        tf.eye(2, 3, [2]),
        tf.one_hot([0, 2, -1], 3),
        tf.zeros([1200]),
    ]
    with tf.Graph().as_default():
        errors = _constant_errors(tf)
    return runs(Run(made), errors=errors)


@program("G1: constants of the rarer dtypes")
def constants_of_rare_dtypes(tf: Any) -> Outcome:
    kinds = ["uint32", "uint64", "complex64", "complex128", "bfloat16"]
    made = [tf.constant([0, 1, 2, 3, 100], getattr(tf, kind), name=kind) for kind in kinds]
    made += [tf.constant(3, getattr(tf, kind), name=f"{kind}_scalar") for kind in kinds]
    made += [tf.constant([1.5, 2.5], tf.bfloat16, name="bfloats"), tf.constant(1 + 2j, name="complex")]
    return runs(Run(made))


def _constant_errors(tf: Any) -> list[str]:
    return [
        raised(lambda: tf.constant([1, "a"])),
        raised(lambda: tf.constant(1.5, tf.int32)),
        raised(lambda: tf.constant(300, tf.uint8)),
        raised(lambda: tf.constant([1, 2, 3], shape=[2])),
        raised(lambda: tf.constant([[1, 2], [3]])),
        raised(lambda: tf.constant(None)),
        raised(lambda: tf.constant("a", tf.float32)),
    ]


@program("G4: placeholders")
def placeholders(tf: Any) -> Outcome:
    made = [
        tf.placeholder(tf.float32),
        tf.placeholder("float", name="f"),
        tf.placeholder(tf.int32, []),
        tf.placeholder(tf.string, [None]),
        tf.placeholder(tf.float32, [None, 3]),
        tf.placeholder(tf.float32, (2, 3)),
        tf.placeholder(tf.float32, tf.TensorShape([None, None])),
        tf.placeholder(tf.float32, 5),
        tf.placeholder_with_default([1.0, 2.0], [None], name="default"),
        tf.placeholder_with_default(tf.zeros([2, 3]), None),
    ]
    shapes = [str(t.get_shape()) for t in made]
    return runs(Run(made[8]), Run(made[8], {made[8]: [3.0]}), shapes=shapes, printed=[str(t) for t in made])


@program("G6: errors at construction")
def construction_errors(tf: Any) -> Outcome:
    a, b = tf.zeros([2, 3]), tf.zeros([5, 7])
    i = tf.constant(1)
    calls = {
        "tf.matmul(a, b)": lambda: tf.matmul(a, b),
        "a + b": lambda: a + b,
        "a + i": lambda: a + i,
        'tf.add(a, "x")': lambda: tf.add(a, "x"),
        "tf.reshape(a, [5])": lambda: tf.reshape(a, [5]),
        "tf.concat([a, b], 0)": lambda: tf.concat([a, b], 0),
        "tf.transpose(a, [0, 1, 2])": lambda: tf.transpose(a, [0, 1, 2]),
        "tf.reduce_sum(a, 2)": lambda: tf.reduce_sum(a, 2),
        "tf.stack([a, b])": lambda: tf.stack([a, b]),
        "tf.split(a, 2, 1)": lambda: tf.split(a, 2, 1),
        "tf.squeeze(a, [0])": lambda: tf.squeeze(a, [0]),
        "tf.expand_dims(a, 5)": lambda: tf.expand_dims(a, 5),
        "tf.slice(a, [0, 0], [3, 3])": lambda: tf.slice(a, [0, 0], [3, 3]),
        "tf.nn.bias_add(a, tf.zeros([2]))": lambda: tf.nn.bias_add(a, tf.zeros([2])),
        "tf.nn.softmax_cross_entropy_with_logits(logits=a, labels=b)": lambda: tf.nn.softmax_cross_entropy_with_logits(
            logits=a, labels=b
        ),
        "tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=tf.zeros([3], tf.int32))": lambda: (
            tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=tf.zeros([3], tf.int32))
        ),
        "tf.cond(True, 1, 2)": lambda: tf.cond(True, 1, 2),
        "bool(tf.constant(True))": lambda: bool(tf.constant(True)),
        "list(tf.constant(1.0))": lambda: list(tf.constant(1.0)),
        "tf.where(True, a, b)": lambda: tf.where(True, a, b),
        "tf.sqrt(i)": lambda: tf.sqrt(i),
        "tf.gradients(a, [1.0])": lambda: tf.gradients(a, [1.0]),
        "tf.one_hot([0], 3, 1.0, 0)": lambda: tf.one_hot([0], 3, 1.0, 0),
        "tf.Variable(None)": lambda: tf.Variable(None),
        "tf.Variable(tf.placeholder(tf.float32))": lambda: tf.Variable(tf.placeholder(tf.float32)),
        'tf.get_variable("v", [None, 2])': lambda: tf.get_variable("v", [None, 2]),
        "tf.convert_to_tensor(a, tf.int32)": lambda: tf.convert_to_tensor(a, tf.int32),
        'tf.identity(a, name="a b")': lambda: tf.identity(a, name="a b"),
        "tf.reset_default_graph()": tf.reset_default_graph,
        "tf.global_norm(a)": lambda: tf.global_norm(a),
        "tf.clip_by_global_norm(a, 1.0)": lambda: tf.clip_by_global_norm(a, 1.0),
        "tf.train.GradientDescentOptimizer(0.1).minimize(tf.zeros([2]))": lambda: tf.train.GradientDescentOptimizer(
            0.1
        ).minimize(tf.zeros([2])),
        "tf.train.Saver()": tf.train.Saver,
    }
    errors = {text: raised(call) for text, call in calls.items()}
    return Outcome(facts=errors, graph=tf.Graph())  # what failed calls leave behind is nobody's business


@program("O1, O2: shape functions over partly known shapes")
def partial_shapes(tf: Any) -> Outcome:
    a = tf.placeholder(tf.float32, [None, 3], name="a")
    b = tf.placeholder(tf.float32, [2, None], name="b")
    n = tf.placeholder(tf.int32, [], name="n")
    u = tf.placeholder(tf.float32, name="u")
    s = tf.shape(a)
    made = [
        a + b,
        a + u,
        tf.matmul(b, a),
        tf.matmul(a, b, transpose_a=True, transpose_b=True),
        tf.concat([a, b], 0),
        tf.concat([a, a], 1),
        tf.reshape(a, [-1, 6]),
        tf.reshape(a, tf.stack([s[0], 3, 1])),
        tf.reshape(a, [n, 3]),
        tf.reshape(u, s),
        tf.zeros(s),
        tf.zeros(tf.stack([n, 5])),
        tf.fill([s[0], 7], 1.0),
        tf.tile(a, [2, 1]),
        tf.tile(a, [1, n]),
        tf.transpose(a),
        tf.transpose(u, [1, 0]),
        tf.reduce_sum(a, 0),
        tf.reduce_sum(a, [1], keepdims=True),
        tf.reduce_mean(u, 1),
        tf.reduce_sum(u),
        a[0],
        a[:, 1],
        a[1:],
        a[:, tf.newaxis],
        a[..., -1],
        u[0],
        tf.slice(a, [0, 1], [-1, 2]),
        tf.split(a, 3, 1)[0],
        tf.split(u, 3, 1)[0],
        tf.stack([a, a]),
        tf.unstack(a, axis=1)[0],
        tf.gather(a, [1, 2, 0, 1, 0]),
        tf.gather(a, n),
        tf.expand_dims(a, -1),
        tf.squeeze(tf.expand_dims(a, 0)),
        tf.pad(a, [[1, 1], [0, 2]]),
        tf.one_hot(tf.argmax(a, 1), 5),
        tf.where(a > 0.0, a, a),
        tf.range(n),
        tf.range(0, 5, 2),
        tf.cast(a, tf.int32),
        tf.random_uniform([n, 2]),
        tf.random_normal(s),
        tf.nn.softmax(a),
        tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=tf.argmax(a, 1)),
        tf.nn.softmax_cross_entropy_with_logits_v2(logits=a, labels=a),
        tf.size(a),
        tf.rank(a),
        tf.shape_n([a, b])[1],
        tf.identity(u),
        tf.add_n([a, a]),
        tf.argmax(a, 0),
        tf.squared_difference(a, 1.0),
    ]
    merged = tf.placeholder(tf.float32, name="m")
    merged.set_shape([None, 4])
    merged.set_shape([2, None])
    facts = [f"{t.op.type} {t.get_shape()}" for t in made]
    return runs(shapes=facts, merged=str(merged.get_shape()), bad=raised(lambda: merged.set_shape([3])))


@program("O1, O2: shape functions of further ops")
def more_partial_shapes(tf: Any) -> Outcome:
    a = tf.placeholder(tf.float32, [None, 3], name="a")
    b = tf.placeholder(tf.float32, [2, None], name="b")
    u = tf.placeholder(tf.float32, name="u")
    s = tf.shape(a)
    made = [
        tf.gather_nd(a, [[0, 1]]),
        tf.where(a > 0.0),
        tf.boolean_mask(a, tf.equal(a[:, 0], 0.0)),
        tf.nn.top_k(a, 2).values,
        tf.unique(a[:, 0]).y,
        tf.broadcast_to(a, [5, 2, 3]),
        tf.diag(a[:, 0]),
        tf.cumsum(a),
        tf.reverse(a, [0]),
        tf.tensordot(b, a, 1),
        tf.unsorted_segment_sum(a, tf.range(s[0]), 5),
        tf.ensure_shape(u, [None, 2]),
        tf.einsum("ij,jk->ik", b, a),
    ]
    return runs(shapes=[f"{t.op.type} {t.get_shape()}" for t in made])


@program("G6: a known element of a partly known shape is a known number")
def elements_of_shapes(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, None])
    count = tf.shape(x)[0]
    chosen = tf.where(tf.constant([True, False, True]))
    made = [
        tf.zeros([count + 1]),
        tf.fill([2, count], 1.0),
        tf.fill(tf.shape(x)[:1], 1.0),
        tf.range(count),
        tf.one_hot([1], count),
        tf.unsorted_segment_sum(tf.zeros([3, 5]), [0, 1, 0], tf.identity(count)),
        tf.expand_dims(x, count - 1),
        tf.reshape(tf.zeros([6]), [count, -1]),
        tf.zeros(tf.shape(chosen)),
        tf.zeros([tf.size(chosen)]),
        tf.zeros(tf.shape(chosen) + 0),
        tf.zeros(tf.concat([tf.shape(chosen), [3]], 0)),
        tf.reshape(x, tf.placeholder_with_default([2, 3], [2])),
    ]
    return runs(shapes=[str(t.get_shape()) for t in made])


@program("shapes that hold int64 values")
def packed_in_another_type(tf: Any) -> Outcome:
    long, short = tf.placeholder(tf.int64, []), tf.placeholder(tf.int32, [])
    made = [make(shape) for make in (tf.ones, tf.zeros) for shape in ([long], [long, 3], [short, 2], (long,))]
    return runs(Run(made, feeds={long: 5, short: 2}), names=[m.name for m in made])

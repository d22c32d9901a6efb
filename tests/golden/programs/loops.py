"""Loops: `tf.while_loop` alone, nested and with conds, and the gradients through all of them."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "features O7, issue 4.2"


def _scalars(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    x, w = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [], name="w")
    return x, w, {x: 1.5, w: 0.75}


def _power(tf: Any, x: Any, w: Any, times: int = 5, **options: Any) -> Any:
    return tf.while_loop(lambda i, a: i < times, lambda i, a: [i + 1, a * w], [tf.constant(0), x], **options)[1]


@program(SOURCE)
def counting(tf: Any) -> Outcome:
    return runs(Run(tf.while_loop(lambda i: i < 7, lambda i: i + 2, [0])))


@program(SOURCE)
def power_gradient(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.float32, [3], name="w")
    y = _power(tf, x, w)
    feeds = {x: values("x", 3), w: values("w", 3)}
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds))


@program(SOURCE)
def no_iterations(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    y = _power(tf, x, w, times=0)
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds))


@program(SOURCE)
def unknown_shapes(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None, None], name="x"), tf.placeholder(tf.float32, [None, None], name="w")
    r = tf.while_loop(lambda i, a, b, c: i < 3, lambda i, a, b, c: [i + 1, a * w, w, c + tf.reduce_sum(b)], [0, x, w, 1.0])
    feeds = {x: values("x", 2, 3), w: values("w", 2, 3)}
    first = tf.gradients(r[1], [x, w])
    second = tf.gradients(r[3], [x, w], name="again")
    return runs(Run([*r[1:], *first, second[1]], feeds), none=[g is None for g in second])


@program(SOURCE)
def nested_gradient(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)

    def body(i: Any, a: Any) -> Any:
        _, b = tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, b * w * a), [tf.constant(0), a])
        return i + 1, b

    y = tf.while_loop(lambda i, a: i < 2, body, [tf.constant(0), x])[1]
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))


@program(SOURCE)
def nested_unknown_shapes(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None], name="x"), tf.placeholder(tf.float32, [None], name="w")

    def body(i: Any, a: Any, c: Any) -> Any:
        _, b, _ = tf.while_loop(lambda j, b, d: j < 2, lambda j, b, d: (j + 1, b * w + c, d), [tf.constant(0), a, a])
        return i + 1, b, c * b

    y = tf.while_loop(lambda i, a, c: i < 2, body, [tf.constant(0), x, x])[1]
    feeds = {x: values("x", 3), w: values("w", 3)}
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))


@program(SOURCE)
def cond_in_loop(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: a * w, lambda: a + 2.0 * a * a)

    y = tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), x])[1]
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))


@program(SOURCE)
def cond_in_loop_unknown_shapes(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None], name="x"), tf.placeholder(tf.float32, [None], name="w")

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * w, lambda: tf.tanh(a))

    y = tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), x])[1]
    feeds = {x: values("x", 3), w: values("w", 3)}
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))


@program(SOURCE)
def loop_in_cond(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: _power(tf, x, w, 2), lambda: x * 3.0)
    fetches = [y, *tf.gradients(y, [x, w])]
    return runs(Run(fetches, {**feeds, p: True}), Run(fetches, {**feeds, p: False}))


@program(SOURCE)
def maximum_iterations(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    m = tf.placeholder(tf.int32, [], name="m")
    fixed = tf.while_loop(lambda a: a < 100.0, lambda a: a * 2.0, [x], maximum_iterations=4)
    fed = tf.while_loop(lambda a, b: a < 100.0, lambda a, b: [a * 2.0, b], [x, w], maximum_iterations=m)
    return runs(Run([fixed, *fed], {**feeds, m: 3}))


@program(SOURCE)
def same_structure(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    alone = tf.while_loop(lambda a: a < 10.0, lambda a: a * 2.0, [x], return_same_structure=True)
    nest = tf.while_loop(
        lambda a, b: a < 10.0, lambda a, b: [a * 2.0, {"p": b["p"] + a}], [x, {"p": w}], parallel_iterations=1
    )
    return runs(Run([alone[0], nest[0], nest[1]["p"]], feeds), kinds=[type(alone).__name__, type(nest[1]).__name__])


@program(SOURCE)
def shape_invariants(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2], name="x")
    r = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.concat([a, a], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    return runs(Run([r[1], tf.gradients(r[1], x)[0]], {x: values("x", 2)}))


@program(SOURCE)
def constants_of_the_loop(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, w), [tf.constant(0), x])
    return runs(Run([r[1], *[g for g in tf.gradients(r[1], [x, w]) if g is not None]], feeds))


@program(SOURCE)
def control_dependencies(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    v = tf.Variable(1.0, name="v")
    init = tf.global_variables_initializer()
    a = tf.assign_add(v, 2.0)

    def body(i: Any) -> Any:
        with tf.control_dependencies([v.assign_add(i)]):
            return i + w * w + tf.constant(2.0)

    with tf.control_dependencies([a]):
        y = tf.while_loop(lambda i: i < 5.0, body, [x])

    def waiting(i: Any) -> Any:
        with tf.control_dependencies([a]):
            return i + tf.constant(2.0)

    z = tf.while_loop(lambda i: i < 5.0, waiting, [x])
    return runs(Run(init), Run([y, z], feeds), Run(v))


@program(SOURCE)
def sparse_gradient(tf: Any) -> Outcome:
    table = tf.placeholder(tf.float32, [5, 3], name="table")
    y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(table, [i, 2])), [tf.constant(0), tf.zeros([2, 3])]
    )[1]
    grad = tf.gradients(y, table)[0]
    return runs(Run([y, tf.convert_to_tensor(grad)], {table: values("t", 5, 3)}))


@program(SOURCE)
def no_backprop(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    y = _power(tf, x, w, back_prop=False) + x * w
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds))


@program(SOURCE)
def options(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    y = _power(tf, x, w, parallel_iterations=1, swap_memory=True, name="power")
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds))


@program(SOURCE)
def two_results(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    r = tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * w + b, tf.sin(a) * b), [tf.constant(0), x, tf.constant(2.0)]
    )
    y = r[1] * r[2]
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))


@program(SOURCE)
def gradient_inside_a_loop(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)

    def body(i: Any, a: Any) -> Any:
        loss = tf.square(a * w - 3.0)
        return i + 1, a - 0.1 * tf.gradients(loss, a)[0]

    y = tf.while_loop(lambda i, a: i < 4, body, [tf.constant(0), x])[1]
    return runs(Run(y, feeds))


@program(SOURCE)
def tensor_array(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    first = tf.TensorArray(tf.float32, 3).unstack(x)
    y = first.read(1)
    grown = tf.TensorArray(
        tf.float32, size=0, dynamic_size=True, clear_after_read=False, tensor_array_name="foo", element_shape=[2]
    )
    grown = grown.write(0, y).write(1, y * 2.0)
    stacked, joined, gathered = grown.stack(), grown.concat(), grown.gather([1])
    split = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    grads = [tf.gradients(t, x)[0] for t in (stacked, joined, gathered, split.concat() * 3.0)]
    split.identity().close()
    return runs(Run([y, stacked, joined, gathered, grown.size(), *grads], {x: values("x", 3, 2)}))


@program(SOURCE)
def tensor_array_scatter(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    array = tf.TensorArray(tf.float32, 5, element_shape=[2]).scatter([4, 1], x)
    y = array.stack()
    return runs(Run([y, *tf.gradients(y * y, x)], {x: values("x", 2, 2)}))


@program(SOURCE)
def map_fn(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [3, 2], name="x"), tf.placeholder(tf.float32, [2], name="w")
    y = tf.map_fn(lambda v: v * w, x)
    return runs(Run([y, *tf.gradients(y, [x, w])], {x: values("x", 3, 2), w: values("w", 2)}))


@program(SOURCE)
def map_fn_structures(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    a, b = tf.map_fn(
        lambda v: (v[0] + v[1], tf.cast(tf.reduce_sum(v[0]), tf.int32)), (x, 2.0 * x), dtype=(tf.float32, tf.int32)
    )
    return runs(Run([a, b, *tf.gradients(a, x)], {x: values("x", 5, 2)}))


@program(SOURCE)
def scan(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    y = tf.scan(lambda a, v: a * v, x)
    return runs(Run([y, *tf.gradients(y, x)], {x: values("x", 3, 2)}))


@program(SOURCE)
def scan_reverse(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.scan(lambda a, v: 0.5 * a + v, x, initializer=tf.zeros([2]), reverse=True)
    return runs(Run([y, *tf.gradients(y, x)], {x: values("x", 5, 2)}))


@program(SOURCE)
def folds(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    left = tf.foldl(lambda a, v: a * v, x)
    right = tf.foldr(lambda a, v: 2.0 * a - v, x, initializer=tf.zeros([2]))
    last = tf.foldr(lambda a, v: 2.0 * a - v, tf.ones([3, 2]))
    return runs(Run([left, right, last, *tf.gradients([left, right], x)], {x: values("x", 5, 2)}))


@program(SOURCE)
def hessians(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [3], name="x")
    z = tf.placeholder(tf.float32, [2, 2], name="z")
    found = tf.hessians(tf.reduce_sum(x * x * x) * tf.reduce_sum(z * z), [x, z])
    return runs(Run(found, {x: values("x", 3), z: values("z", 2, 2)}))


@program(SOURCE)
def tensor_array_in_loop(tf: Any) -> Outcome:
    x, w, feeds = _scalars(tf)
    _, a, array = tf.while_loop(
        lambda i, a, array: i < 4,
        lambda i, a, array: (i + 1, a * w, array.write(i, a)),
        [tf.constant(0), x, tf.TensorArray(tf.float32, 4)],
    )
    y = tf.reduce_sum(array.stack()) + a
    return runs(Run([y, *tf.gradients(y, [x, w])], feeds, rtol=1e-4))

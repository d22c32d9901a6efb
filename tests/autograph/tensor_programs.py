"""Small programs of tensors, with what TensorFlow 2.21 (`tensorflow.compat.v1.autograph`) makes of 5, 1 and 0."""

# Programs as people write them.
# ruff: noqa: B007, E731, E741, F841

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

import tfexp as tf

RECORDED: list[tuple[Callable[..., Any], list[Any]]] = []


def recorded(*results: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RECORDED.append((function, list(results)))
        return function

    return register


@recorded(10.0, 2.0, 3.0)
def grad_if(x):
    y = tf.cast(x, tf.float32)
    if y > 0:
        z = y * y
    else:
        z = y * 3.0
    return tf.gradients(z, y)[0]


@recorded(18750.0, 2.0, 1.0)
def grad_while(x):
    y = tf.cast(x, tf.float32)
    z = y
    i = 0
    while i < x:
        z = z * y
        i += 1
    return tf.gradients(z, y)[0]


@recorded([-1, -1, -1, -1], [-1, -1, 4, 6], [-1, 2, 4, 6])
def ta_if(x):
    ta = tf.TensorArray(tf.int32, size=4)
    for i in tf.range(4):
        if i > x:
            ta = ta.write(i, i * 2)
        else:
            ta = ta.write(i, -1)
    return ta.stack()


@recorded([0.0, 1.0, 2.0, 3.0, 4.0], [0.0], [])
def ta_dyn(x):
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    i = 0
    while i < x:
        ta = ta.write(i, tf.cast(i, tf.float32))
        i += 1
    return ta.stack()


@recorded(6, 6, 6)
def var_res(x):
    v = tf.get_variable("b", initializer=5, use_resource=True)
    s = 0
    while s < v:
        s += 2
    return s


@recorded("5!", "no", "no")
def string(x):
    s = tf.as_string(x)
    if tf.equal(s, "5"):
        t = s + "!"
    else:
        t = tf.constant("no")
    return t


@recorded([[0, 0], [0, 5]], [[1, 0], [0, 0]], [[1, 0], [0, 0]])
def sparse(x):
    sp = tf.SparseTensor([[0, 0]], [1], [2, 2])
    if x > 3:
        sp = tf.SparseTensor([[1, 1]], [x], [2, 2])
    return tf.sparse.to_dense(sp)


@recorded(32, 2, 1)
def named(x):
    P = collections.namedtuple("P", "a b")
    p = P(x, 1)
    while p.a > 0:
        p = P(p.a - 1, p.b * 2)
    return p.b


@recorded(32, 2, 1)
def dict(x):
    d = {"a": x, "b": 1}
    while d["a"] > 0:
        d = {"a": d["a"] - 1, "b": d["b"] * 2}
    return d["b"]


@recorded(32, 2, 1)
def dict_item(x):
    d = {"a": x, "b": 1}
    while d["a"] > 0:
        d["a"] = d["a"] - 1
        d["b"] = d["b"] * 2
    return d["b"]


class Obj:
    pass


@recorded(1010, 2, 0)
def obj_loop(x):
    o = Obj()
    o.n = 0
    o.c = Obj()
    o.c.m = x
    for i in tf.range(x):
        o.n = o.n + i
        o.c.m += 1
    return o.n * 100 + o.c.m


@recorded(5, 1, 0)
def none_then(x):
    best = None
    if x > 0:
        best = x
    else:
        best = -x
    return best


@recorded([7, 13], [3, 5], [2, 3])
def list_state(x):
    l = [x, 1]
    for i in tf.range(3):
        l = [l[1], l[0] + l[1]]
    return l[0], l[1]


@recorded(5.0, 0.0, 0.0)
def float_int(x):
    s = 0.0
    for i in tf.range(x):
        s += tf.cast(i, tf.float32) / 2.0
    return s


@recorded(3, 0, 0)
def numpys_items(x):
    a = np.arange(3)
    s = 0
    for k in a:
        if x > k:
            s += int(k)
    return s


@recorded([0, 1, 4, 6, 8], [0], [])
def map_fn(x):
    return tf.map_fn(lambda a: a * 2 if a > 1 else a, tf.range(x))


@recorded(7, 0, 0)
def while_loop_explicit(x):
    def body(i, s):
        if i > 2:
            s = s + i
        return i + 1, s

    return tf.while_loop(lambda i, s: i < x, body, [0, 0])[1]


@recorded(10, 0, 0)
def dynamic_cond(x):
    return tf.cond(x > 2, lambda: x * 2 if x > 4 else x, lambda: 0)


@recorded(5, 1, 0)
def ctrl(x):
    with tf.control_dependencies([tf.no_op()]):
        if x > 0:
            y = tf.identity(x)
        else:
            y = x
    return y


@recorded(6, 2, 1)
def scope(x):
    with tf.name_scope("outer"):
        for i in tf.range(2):
            with tf.name_scope("inner"):
                x = x + i
    return x


@recorded(True, True, True)
def bool_state(x):
    found = False
    for i in tf.range(10):
        if i * i > x:
            found = True
    return found


@recorded(21, 20, 19)
def flag_break(x):
    n = 0
    for i in tf.range(10):
        for j in tf.range(10):
            if i * j > x:
                break
            n += 1
        if n > 20:
            break
    return n


@recorded(531, 1, 0)
def neg_step(x):
    s = 0
    for i in tf.range(x, -1, -2):
        s = s * 10 + i
    return s


@recorded(22.5, 0.5, 0.0)
def float_range(x):
    s = 0.0
    for f in tf.range(0.0, tf.cast(x, tf.float32), 0.5):
        s += f
    return s


@recorded(6, 2, 0)
def while_chain(x):
    i = 0
    while 0 <= i < x:
        i += 2
    return i


@recorded(5, 1, 0)
def empty(x):
    for i in tf.range(x):
        pass
    return x


@recorded(8, 4, 3)
def while_ret(x):
    i = 0
    while True:
        if i >= 3:
            return x + i
        i += 1


@recorded(14, 11, 11)
def lambda_default(x):
    f = lambda a, b=2: a if a > b else b
    return f(x) + f(x, b=9)


@recorded(5, 3, 3)
def star(x):
    def g(*a, **k):
        return a[0] if a[0] > k["z"] else k["z"]

    return g(*[x, 2], **{"z": 3})


@recorded(11, 3, 1)
def iter_ta(x):
    ta = tf.TensorArray(tf.int32, size=3).unstack(tf.stack([x, x, 1]))
    s = 0
    for i in tf.range(3):
        s += ta.read(i)
    return s


@recorded(18, 14, 13)
def min_loop(x):
    m = tf.constant([5, 3, 8, 1])
    best, arg = m[0], 0
    for i in range(1, 4):
        if m[i] < best:
            best, arg = m[i], i
    return best * 10 + arg + x


@recorded(4, 1, 1)
def sum_tuple_target(x):
    s = 0
    for a, b in [(1, 2), (3, x)]:
        if b > a:
            s += a
    return s


@recorded(15, 3, 3)
def zip_t(x):
    s = 0
    for a, b in zip([1, 2], [x, x]):
        s += a * b if b > 2 else a
    return s


@recorded(31, 27, 26)
def rows_of_matrix(x):
    m = tf.reshape(tf.range(6), [3, 2])
    s = 0
    for row in m:
        s += row[0] * row[1]
    return s + x


@recorded(1, 1, 2)
def reuse_var_types(x):
    y = "text"
    if x > 0:
        y = 1
    else:
        y = 2
    return y


@recorded(4, 1, 0)
def deep(x):
    if x > 0:
        if x > 1:
            if x > 2:
                if x > 3:
                    return 4
                return 3
            return 2
        return 1
    return 0


@recorded(10, 8, 7)
def cond_in_call(x):
    return tf.add(x if x > 0 else 0, len(tf.range(x)) if x > 1 else 7)


@recorded(0, 0, 0)
def int_div(x):
    r = []
    while x > 0:
        x //= 2
    return x


@recorded(5, 1, 0)
def static_shape(x):
    v = tf.zeros([3, 2])
    if v.shape[0] == 3 and len(v.shape) == 2:
        return x
    return x + 1


@recorded(10, 2, 0)
def instance_of(x):
    if isinstance(x, tf.Tensor) and x.dtype == tf.int32:
        return x * 2
    return x


@recorded(24, 24, 24)
def while_float(x):
    e = tf.constant(1.0)
    n = 0
    while 1.0 + e > 1.0:
        e = e / 2.0
        n += 1
    return n


@recorded(1, 1, 1)
def nonlocal_count(x):
    count = 0

    def inc():
        nonlocal count
        count += 1
        return count

    if x > 2:
        inc()
    return count


@recorded(5, 1, 0)
def fib(x):
    a, b = 0, 1
    for _ in tf.range(x):
        a, b = b, a + b
    return a

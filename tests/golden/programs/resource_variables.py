"""Resource variables: `use_resource=True` in its several places, and what is done with such variables."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("V4: a resource variable's nodes, members and assignments")
def resource_members(tf: Any) -> Outcome:
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=True)
    twice = v * 2.0
    element = v[1]
    known = tf.is_variable_initialized(v)
    init = tf.global_variables_initializer()
    assigned = v.assign([3.0, 4.0, 5.0])
    added = v.assign_add([1.0, 1.0, 1.0])
    subtracted = v.assign_sub([0.5, 0.5, 0.5], read_value=False)
    by_function = [tf.assign(v, [1.0, 2.0, 3.0]), tf.assign_add(v, [1.0, 2.0, 3.0]), tf.assign_sub(v, [0.5, 1.0, 1.5])]
    read = v.read_value()
    parts = v[1:].assign([5.0, 6.0])
    facts = {
        "name": v.name,
        "op": v.op.name,
        "dtype": v.dtype.name,
        "handle": v.handle.name,
        "initializer": v.initializer.name,
        "kind": type(v).__name__,
        "text": repr(v),
        "assigned": repr(assigned),
        "mismatch": raised(lambda: v.assign([1.0, 2.0])),
    }
    steps = [Run(t) for t in (assigned, added, subtracted, v, *by_function, read, parts, twice, element)]
    return runs(Run(v.initializer), Run(known), Run(init), *steps, **facts)


@program("V4: rows and elements of a resource variable, read and updated")
def resource_rows(tf: Any) -> Outcome:
    with tf.variable_scope("scope", use_resource=True):
        v = tf.get_variable("v", initializer=values("rows", 5, 3))
        n = tf.get_variable("n", initializer=[10, 20, 30, 40])
    rows = values("some", 2, 3)
    slices = tf.IndexedSlices(tf.constant(rows), tf.constant([1, 3]))
    ops = [
        v.scatter_update(slices),
        v.scatter_add(slices),
        v.scatter_sub(slices),
        tf.scatter_update(v, [0, 2], rows),
        tf.scatter_add(v, [0, 0], rows),
        tf.scatter_sub(v, [4, 2], rows),
        tf.scatter_mul(v, [4, 2], rows),
        tf.scatter_div(v, [1, 2], rows),
        tf.scatter_min(v, [0, 1], rows),
        tf.scatter_max(v, [2, 3], rows),
        v.scatter_nd_update([[0, 1], [4, 2]], [7.0, 8.0]),
        v.scatter_nd_add([[0], [4]], rows),
        v.scatter_nd_sub([[0], [4]], rows),
        tf.scatter_nd_update(v, [[1, 1]], [9.0]),
        tf.scatter_nd_add(v, [[1, 1]], [9.0]),
        tf.scatter_nd_sub(v, [[1, 2]], [9.0]),
        n.scatter_update(tf.IndexedSlices(tf.constant([5]), tf.constant([0]))),
    ]
    reads = [
        tf.gather(v, [[0, 1], [4, 4]]),
        v.sparse_read([2, 3], name="some_rows"),
        tf.gather_nd(v, [[0, 1], [4, 2]]),
        tf.gather(v, [0, 2], axis=1),
        tf.nn.embedding_lookup(v, [3, 1, 3]),
        tf.shape(v),
        tf.identity(v),
    ]
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(op) for op in ops], Run(reads), Run([v, n]))


@program("V4, G3: gradients of resource variables, dense, sparse and both")
def resource_gradients(tf: Any) -> Outcome:
    with tf.variable_scope("model", use_resource=True):
        table = tf.get_variable("table", initializer=values("table", 7, 3))
        w = tf.get_variable("w", initializer=values("w", 3, 2))
        unused = tf.get_variable("unused", [2], initializer=tf.zeros_initializer())
    looked = tf.nn.embedding_lookup(table, [1, 5, 1])
    loss = tf.reduce_sum(tf.tanh(tf.matmul(looked, w)))
    sparse, dense, none = tf.gradients(loss, [table, w, unused])
    both = tf.gradients(loss + tf.reduce_sum(table * table), table)
    element = tf.gradients(tf.gather_nd(table, [[0, 1]]), table)
    rows = tf.gradients(tf.gather_nd(table, [[2], [3]]), table)[0]
    second = tf.gradients(tf.gradients(tf.reduce_sum(w * w * w), w)[0], w)
    init = tf.global_variables_initializer()
    fetches = [sparse.values, sparse.indices, dense, both[0], element[0], rows.values, rows.indices, second[0]]
    return runs(Run(init), Run(fetches), none=none is None, kind=type(sparse).__name__)


def _optimizers(tf: Any) -> dict[str, Any]:
    return {
        "sgd": tf.train.GradientDescentOptimizer(0.1),
        "proximal_sgd": tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01),
        "momentum": tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "adagrad": tf.train.AdagradOptimizer(0.1),
        "proximal_adagrad": tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.01),
        "adadelta": tf.train.AdadeltaOptimizer(0.1),
        "adam": tf.train.AdamOptimizer(0.1),
        "rmsprop": tf.train.RMSPropOptimizer(0.1),
        "centered_rmsprop": tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        "ftrl": tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        "ftrl_shrinkage": tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.01),
    }


def _register_optimizer(name: str) -> None:
    @program(f"T2: {name} on resource variables", name=f"resource_{name}")
    def _(tf: Any) -> Outcome:
        tf.set_random_seed(5)
        with tf.variable_scope("model", use_resource=True):
            table = tf.get_variable("table", initializer=values("table", 7, 3))
            w = tf.get_variable("w", initializer=values("w", 3, 2))
        looked = tf.nn.embedding_lookup(table, [1, 5, 1])
        loss = tf.reduce_sum(tf.square(tf.matmul(looked, w)))
        step = tf.train.get_or_create_global_step()
        optimizer = _optimizers(tf)[name]
        train = optimizer.minimize(loss, global_step=step)
        init = tf.global_variables_initializer()
        slots = [v.name for v in optimizer.variables()]
        ran = [Run(train) for _ in range(3)]
        return runs(Run(init), *ran, Run([table, w, step], rtol=1e-4, atol=1e-5), slots=slots)


for _name in (
    *("sgd", "proximal_sgd", "momentum", "nesterov", "adagrad", "proximal_adagrad", "adadelta", "adam", "rmsprop"),
    *("centered_rmsprop", "ftrl", "ftrl_shrinkage"),
):
    _register_optimizer(_name)


@program("V4: initial values from other resource variables; constraint; caching device")
def resource_initial_values(tf: Any) -> Outcome:
    a = tf.get_variable("a", initializer=[1.0, 2.0], use_resource=True)
    b = tf.Variable(a * 2.0, name="b", use_resource=True)
    c = tf.Variable(lambda: tf.ones([2]), name="c", dtype=tf.float32, use_resource=True, constraint=lambda x: x * 0.5)
    d = tf.Variable(tf.zeros([3]), name="d", use_resource=True, caching_device="/cpu:0", trainable=False)
    reused = d + 1.0 + d
    again = d.read_value()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(c * a))
    count = tf.Variable(0, name="count", dtype=tf.int64, use_resource=True, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    up = count.assign_add(1)
    first, init = tf.group(a.initializer, tf.local_variables_initializer()), tf.global_variables_initializer()
    return runs(Run(first), Run(init), Run([reused, again, b]), Run(train), Run([a, c]), Run(up), Run(up))


@program("V4, O7: resource variables in conditionals and loops")
def resource_control_flow(tf: Any) -> Outcome:
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(1.5), use_resource=True)
    yes = tf.placeholder(tf.bool, [], name="yes")
    chosen = tf.cond(yes, lambda: w + 1.0, lambda: w.assign_add(2.0))
    _, power = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [0, 1.0])

    def body(i: Any) -> Any:
        with tf.control_dependencies([w.assign_add(1.0)]):
            return i + 1

    counted = tf.while_loop(lambda i: i < 4, body, [0])
    grads = tf.gradients(chosen + power, w)
    init = tf.global_variables_initializer()
    return runs(
        Run(init),
        Run(chosen, {yes: True}),
        Run(chosen, {yes: False}),
        Run(power),
        Run(grads, {yes: True}),
        Run(counted),
        Run(w),
    )


@program("V4: partitioned resource variables")
def resource_partitions(tf: Any) -> Outcome:
    with tf.variable_scope("p", use_resource=True, partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [5, 2], initializer=tf.constant_initializer(0.5))
    product = tf.matmul(tf.ones([1, 5]), w)
    looked = tf.nn.embedding_lookup(w, [0, 4], partition_strategy="div")
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(product) + tf.reduce_sum(looked))
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([product, looked]), Run(train), Run(list(w)), names=[v.name for v in tf.global_variables()])


@program("V4, D4: resource variables on parameter servers")
def resource_devices(tf: Any) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        w = tf.get_variable("w", [4], use_resource=True, initializer=tf.zeros_initializer())
        v = tf.get_variable("v", [4], use_resource=True, initializer=tf.zeros_initializer())
        looked = tf.nn.embedding_lookup(w, [1, 2])
        step = tf.Variable(0, name="step", trainable=False, use_resource=True)
        loss = tf.reduce_sum(w + v) + tf.reduce_sum(looked)
        tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)


@program("V4: moving averages of resource variables")
def resource_averages(tf: Any) -> Outcome:
    w = tf.get_variable("w", initializer=values("ema", 4), use_resource=True)
    average = tf.train.ExponentialMovingAverage(0.9)
    moved = average.apply([w])
    init = tf.global_variables_initializer()
    changed = w.assign_add(tf.ones([4]))
    return runs(
        Run(w.initializer), Run(init), Run(changed), Run(moved), Run(average.average(w)), name=average.average_name(w)
    )


@program("V4, S1: Savers of resource variables")
def resource_saving(tf: Any) -> None:
    tf.get_variable("w", initializer=values("saved", 4), use_resource=True)
    tf.get_variable("plain", [2], initializer=tf.zeros_initializer())
    tf.train.Saver()


@program("V4, S1: sharded and reshaping Savers of resource variables")
def resource_saving_otherwise(tf: Any) -> None:
    with tf.device("/job:ps/task:0"):
        w = tf.get_variable("w", initializer=values("saved", 4), use_resource=True)
    with tf.device("/job:ps/task:1"):
        v = tf.get_variable("v", initializer=values("saved", 4), use_resource=True)
    tf.train.Saver({"a": w, "b": v}, sharded=True)
    tf.train.Saver([w], reshape=True)


@program("V4: a resource variable in one branch of a conditional inside a loop, and its gradient")
def cond_in_loop_of_a_resource(tf: Any) -> Outcome:
    """One branch has no use for the variable, and gives zeros like it."""
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: tf.sin(a) * w, lambda: a * 0.5)

    y = tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), tf.ones([3]) * x])[1]
    return runs(Run(tf.global_variables_initializer()), Run([y, *tf.gradients(y, [x, w])], {x: 0.5}, rtol=1e-4))

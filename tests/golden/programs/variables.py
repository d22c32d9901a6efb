"""Variables: their initializers, collections, assignments, members, partitions."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("V4: initializers")
def initializers(tf: Any) -> Outcome:
    tf.set_random_seed(17)
    made = {
        "zeros": tf.zeros_initializer(),
        "ones": tf.ones_initializer(),
        "constant": tf.constant_initializer(2.5),
        "constant_list": tf.constant_initializer([[1.0, 2.0, 3.0, 4.0, 5.0]] * 3),
        "uniform": tf.random_uniform_initializer(-0.1, 0.1),
        "uniform_seeded": tf.random_uniform_initializer(seed=5),
        "normal": tf.random_normal_initializer(stddev=0.5),
        "truncated": tf.truncated_normal_initializer(mean=1.0),
        "unit_scaling": tf.uniform_unit_scaling_initializer(),
        "variance_fan_in": tf.variance_scaling_initializer(),
        "variance_fan_out": tf.variance_scaling_initializer(2.0, "fan_out", "uniform"),
        "variance_untruncated": tf.variance_scaling_initializer(1.0, "fan_avg", "untruncated_normal"),
        "glorot_uniform": tf.glorot_uniform_initializer(),
        "glorot_normal": tf.glorot_normal_initializer(seed=2),
        "he": tf.initializers.he_normal(),
        "lecun": tf.initializers.lecun_uniform(),
    }
    variables = [tf.get_variable(name, [3, 5], initializer=initializer) for name, initializer in made.items()]
    variables.append(tf.get_variable("by_value", initializer=[[1, 2], [3, 4]]))
    variables.append(tf.get_variable("by_function", initializer=lambda: tf.fill([2], 3.0)))
    variables.append(tf.get_variable("integer", [2], tf.int32))
    variables.append(tf.get_variable("flag", [2], tf.bool))
    variables.append(tf.get_variable("identity", [3, 3], initializer=tf.initializers.identity(2.0)))
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(variables, rtol=1e-4))


@program("V4: orthogonal")
def orthogonal_initializer(tf: Any) -> Outcome:
    tf.set_random_seed(17)
    for name, shape in (("tall", [5, 3]), ("wide", [3, 5])):
        tf.get_variable(name, shape, initializer=tf.orthogonal_initializer(gain=1.5, seed=3))
    return runs()


@program("V5, G7: which collections hold what")
def variable_collections(tf: Any) -> Outcome:
    plain = tf.Variable(1.0, name="plain")
    fixed = tf.Variable(1.0, name="fixed", trainable=False)
    local = tf.Variable(1.0, name="local", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    hidden = tf.Variable(1.0, name="hidden", collections=[])
    tf.get_variable("got", [2], collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
    tf.get_local_variable("got_local", [2], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    names = {
        "global": [v.name for v in tf.global_variables()],
        "trainable": [v.name for v in tf.trainable_variables()],
        "local": [v.name for v in tf.local_variables()],
        "model": [v.name for v in tf.model_variables()],
        "moving": [v.name for v in tf.moving_average_variables()],
        "scoped": [v.name for v in tf.global_variables("p")],
    }
    report = tf.report_uninitialized_variables()
    asked = tf.is_variable_initialized(plain)
    init = tf.variables_initializer([plain, fixed, hidden])
    init_local = tf.local_variables_initializer()
    empty = tf.variables_initializer([], name="none")
    return runs(
        Run([report, asked]),
        Run(init),
        Run([report, asked]),
        Run(init_local),
        Run(local),
        Run(empty),
        step=step.name,
        **names,
    )


@program("V6: assignments")
def assignments(tf: Any) -> Outcome:
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    fed = tf.placeholder(tf.float32, [3], name="fed")
    ops = [
        tf.assign(v, fed),
        v.assign(fed * 2.0),
        tf.assign_add(v, [1.0, 1.0, 1.0]),
        v.assign_add(fed),
        tf.assign_sub(v, fed, use_locking=True),
        v.assign_sub([0.5, 0.5, 0.5]),
    ]
    updates = tf.constant([10.0, 20.0])
    scatters = [
        tf.scatter_update(v, [0, 2], updates),
        tf.scatter_add(v, [0, 0], updates),
        tf.scatter_sub(v, [1, 2], updates),
        tf.scatter_mul(v, [1, 2], updates),
        tf.scatter_div(v, [1, 2], updates),
        v.scatter_sub(tf.IndexedSlices(updates, tf.constant([0, 1]))),
        v.count_up_to(5) if v.dtype.base_dtype.is_integer else tf.identity(v),
    ]
    unchecked = tf.assign(v, [1.0, 2.0], validate_shape=False)
    init = tf.global_variables_initializer()
    feeds = {fed: [4.0, 5.0, 6.0]}
    mismatch = raised(lambda: tf.assign(v, [1.0, 2.0]))
    steps = [Run(op, feeds) for op in [*ops, *scatters]]
    return runs(Run(v.initializer), *steps, Run(init), Run(v), Run(unchecked), Run(v), mismatch=mismatch)


@program("V6: what a variable offers")
def variable_members(tf: Any) -> Outcome:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    w = tf.Variable(v.initialized_value() * 2.0, name="w")
    u = tf.Variable(lambda: tf.ones([2, 2]), name="u", dtype=tf.float32)
    made = [
        v + w,
        v[1],
        v[0, 1],
        -v,
        2.0 * v,
        v / w,
        v**2.0,
        v > 2.0,
        v.value(),
        v.read_value(),
        abs(v),
        u - v,
    ]
    count = tf.Variable(0, name="count", dtype=tf.int64)
    up = count.count_up_to(2)
    init = tf.global_variables_initializer()
    facts = {
        "name": v.name,
        "op": v.op.name,
        "dtype": v.dtype.name,
        "shape": str(v.get_shape()),
        "initializer": v.initializer.name,
        "initial": v.initial_value.name,
        "names": [t.name for t in made],
        "proto": str(v.to_proto()).split("\n")[:3],
    }
    return runs(Run([v.initializer, u.initializer]), Run(init), Run(made), Run(up), Run(up), **facts)


@program("V6: partitioned variables")
def partitioned_variables(tf: Any) -> Outcome:
    tf.set_random_seed(19)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        w = tf.get_variable("w", [7, 2], initializer=tf.random_uniform_initializer())
        x = tf.get_variable("x", [2], initializer=tf.zeros_initializer(), partitioner=None)
    by_axis = tf.get_variable("y", [2, 4], partitioner=tf.fixed_size_partitioner(2, axis=1))
    by_size = tf.get_variable(
        "z", [5, 3], initializer=tf.zeros_initializer(), partitioner=tf.variable_axis_size_partitioner(24)
    )
    product = tf.matmul(by_axis, tf.ones([4, 1])) + tf.reduce_sum(w)
    looked = tf.nn.embedding_lookup(w, [0, 6, 3], partition_strategy="div")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(looked) + tf.reduce_sum(product))
    init = tf.global_variables_initializer()
    tf.train.Saver()
    names = [v.name for v in tf.global_variables()]
    kinds = [type(t).__name__ for t in (w, x, by_axis, by_size)]
    return runs(
        Run(init),
        Run([looked, product], rtol=1e-4),
        Run(train),
        Run(list(w), rtol=1e-4),
        names=names,
        kinds=kinds,
    )

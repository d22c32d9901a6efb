"""`tf.distribute`: replicas, mirrored variables, what optimizers and aggregations make of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


def _replicas(tf: Any) -> Any:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def _number(tf: Any) -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0


def _trained(tf: Any, optimizer: Callable[[], Any], steps: int = 2) -> Outcome:
    """Two replicas with losses of their own; the variables after some steps."""
    strategy = _replicas(tf)
    with strategy.scope():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0, 3.0]))
        b = tf.Variable(0.5, name="b", trainable=True)
        made = optimizer()

        def build() -> Any:
            loss = tf.reduce_sum(tf.square(w) * b) * _number(tf)
            return made.minimize(loss), loss

        train, losses = strategy.extended.call_for_each_replica(build)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)
        train = strategy.group(train)
    copies = [*strategy.experimental_local_results(w), *strategy.experimental_local_results(b)]
    init = tf.group(*[copy.initializer for v in tf.global_variables() for copy in strategy.experimental_local_results(v)])
    one = [Run(train), Run([copy.read_value() for copy in copies])]
    names = [v.name for v in tf.global_variables()]
    slots = [v.name for v in made.variables()]
    return runs(Run(init), Run([total, mean]), *one * steps, cpus=2, names=names, slots=slots)


@program("T17: gradient descent with mirrored variables")
def gradient_descent(tf: Any) -> Outcome:
    return _trained(tf, lambda: tf.train.GradientDescentOptimizer(0.01))


@program("T17: momentum's slots are mirrored")
def momentum(tf: Any) -> Outcome:
    return _trained(tf, lambda: tf.train.MomentumOptimizer(0.01, 0.9))


@program("T17: Adam's slots and powers are mirrored")
def adam(tf: Any) -> Outcome:
    return _trained(tf, lambda: tf.train.AdamOptimizer(0.01))


@program("T17: sparse gradients of replicas")
def sparse(tf: Any) -> Outcome:
    strategy = _replicas(tf)
    with strategy.scope():
        table = tf.get_variable("table", initializer=tf.ones([5, 2]))
        optimizer = tf.train.GradientDescentOptimizer(0.1)

        def build() -> Any:
            rows = tf.gather(tf.identity(table), [0, 3, 3])
            return optimizer.minimize(tf.reduce_sum(rows) * _number(tf))

        train = strategy.group(strategy.extended.call_for_each_replica(build))
    copies = strategy.experimental_local_results(table)
    init = tf.group(*[copy.initializer for copy in copies])
    return runs(Run(init), Run(train), Run([copy.read_value() for copy in copies]), cpus=2)


@program("T17: assignments across replicas, and what is read of each copy")
def assignments(tf: Any) -> Outcome:
    strategy, kinds = _replicas(tf), tf.VariableAggregation
    with strategy.scope():
        mean = tf.Variable(1.0, name="mean", aggregation=kinds.MEAN, trainable=True)
        first = tf.Variable(1.0, name="first", aggregation=kinds.ONLY_FIRST_REPLICA, trainable=True)
        on_read = {"synchronization": tf.VariableSynchronization.ON_READ, "aggregation": kinds.SUM}
        count = tf.Variable(0.0, name="count", **on_read)

        def build() -> Any:
            added = [mean.assign_add(_number(tf)), first.assign(_number(tf)), count.assign_add(_number(tf))]
            return tf.group(*added)

        changed = strategy.extended.call_for_each_replica(build)
        total = tf.identity(count.read_value())
    everything = [copy for v in (mean, first, count) for copy in strategy.experimental_local_results(v)]
    init = tf.group(*[copy.initializer for copy in everything])
    return runs(
        Run(init),
        Run(list(strategy.experimental_local_results(changed))),
        Run([copy.read_value() for copy in everything]),
        Run(total),
        cpus=2,
    )


@program("T17: variables and scopes inside of replicas")
def scopes(tf: Any) -> Outcome:
    strategy = _replicas(tf)
    with strategy.scope(), tf.variable_scope("outer"):

        def build() -> Any:
            with tf.variable_scope("inner"):
                v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
            with tf.name_scope("named"):
                u = tf.Variable(2.0, name="u", trainable=False)
                return tf.add(v, u, name="sum")

        made = strategy.extended.call_for_each_replica(build)
    names = [v.name for v in tf.global_variables()]
    return runs(names=names, trainable=[v.name for v in tf.trainable_variables()], made=[t.name for t in made.values])


@program("T17: one device")
def one_device(tf: Any) -> Outcome:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)

        def build() -> Any:
            return optimizer.minimize(tf.reduce_sum(tf.square(w)), global_step=step)

        train = strategy.extended.call_for_each_replica(build)
    return runs(Run(tf.global_variables_initializer()), Run(train), Run([w.read_value(), step.read_value()]))


@program("T17: contexts")
def contexts(tf: Any) -> Outcome:
    d, strategy = tf.distribute, _replicas(tf)
    seen = [(d.has_strategy(), d.in_cross_replica_context(), d.get_replica_context().replica_id_in_sync_group)]
    with strategy.scope():
        seen.append((d.has_strategy(), d.in_cross_replica_context(), d.get_replica_context() is None))

        def build() -> Any:
            context = d.get_replica_context()
            seen.append((d.has_strategy(), d.in_cross_replica_context(), context.num_replicas_in_sync))
            return context.merge_call(
                lambda s: (s is strategy, d.in_cross_replica_context(), d.get_replica_context() is None)
            )

        seen.append(strategy.extended.call_for_each_replica(build))
        wrong = [
            raised(lambda: strategy.extended.call_for_each_replica(lambda: strategy.reduce("SUM", 1.0, axis=None))),
            raised(lambda: strategy.reduce("PRODUCT", 1.0, axis=None)),
            raised(lambda: _replicas(tf).scope().__enter__()),
            raised(lambda: d.experimental_set_strategy(strategy)),
            raised(lambda: tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)),
            raised(lambda: tf.Variable(1.0, name="v", trainable=True).handle),
            raised(
                lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients(
                    [(1.0, tf.Variable(1.0, name="u", trainable=True))]
                )
            ),
        ]
    return runs(seen=seen, wrong=wrong)


@program("T17: a worker with parameter servers")
def parameter_server(tf: Any) -> Outcome:
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": ["c:1", "d:2"]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    with strategy.scope():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        b = tf.Variable(0.5, name="b", trainable=True)
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(0.01)

        def build() -> Any:
            return optimizer.minimize(tf.reduce_sum(tf.square(w) * b), global_step=step)

        strategy.extended.call_for_each_replica(build)
        outside = tf.constant(1.0, name="outside")
    devices = [v.device for v in (w, b, step, outside)]
    return runs(devices=devices, parameter_devices=strategy.extended.parameter_devices)


@program("T17: two replicas with each variable once")
def central_storage(tf: Any) -> Outcome:
    strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
    with strategy.scope():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        optimizer = tf.train.AdamOptimizer(0.1)

        def build() -> Any:
            loss = tf.reduce_sum(tf.square(w)) * _number(tf)
            return optimizer.minimize(loss), loss

        train, losses = strategy.extended.call_for_each_replica(build)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        train = strategy.group(train)
    slots = [v.name for v in optimizer.variables()]
    return runs(Run(tf.global_variables_initializer()), Run(total), Run(train), Run(w.read_value()), cpus=2, slots=slots)

"""Of the texts on clusters (N, I, D), the programs whose graphs need no cluster to be built."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("N 4/14 and 4/17: towers")
def towers(tf: Any) -> Outcome:
    tf.set_random_seed(9)
    with tf.device("/cpu:0"):
        opt = tf.train.GradientDescentOptimizer(0.1)
        tower_grads = []
        for i in range(2):
            with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
                x = tf.constant(values(f"twr{i}", 5, 3))
                w = tf.get_variable("w", [3, 1], initializer=tf.random_uniform_initializer(-1, 1))
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
                tf.add_to_collection("loss", loss)
                tf.get_variable_scope().reuse_variables()
                tower_grads.append(opt.compute_gradients(loss))
        averaged = []
        for pairs in zip(*tower_grads, strict=True):
            expanded = [tf.expand_dims(gradient, 0) for gradient, _ in pairs]
            averaged.append((tf.reduce_mean(tf.concat(expanded, 0), 0), pairs[0][1]))
        train_op = opt.apply_gradients(averaged)
    return runs(train=train_op.name, train_device=train_op.device, losses=len(tf.get_collection("loss", "tower_1")))


@program("N 4/12: model cut across devices")
def layers_on_tasks(tf: Any) -> Outcome:
    with tf.device("/job:ps/task:0"):
        weights_1 = tf.Variable(tf.zeros([3, 5]))
        biases_1 = tf.Variable(tf.zeros([5]))
    with tf.device("/job:ps/task:1"):
        weights_2 = tf.Variable(tf.zeros([5, 2]))
        biases_2 = tf.Variable(tf.zeros([2]))
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None, 3])
        labels = tf.placeholder(tf.int32, [None])
        layer_1 = tf.nn.relu(tf.matmul(x, weights_1) + biases_1)
    with tf.device("/job:worker/task:1"):
        logits = tf.nn.relu(tf.matmul(layer_1, weights_2) + biases_2)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return runs(names=[layer_1.name, logits.name, train_op.name], devices=[layer_1.device, train_op.device])


@program("N 4/12: replica_device_setter over two ps")
def replica_setter_round_robin(tf: Any) -> Outcome:
    cluster_spec = {
        "ps": ["ps0:2222", "ps1:2222"],
        "worker": ["worker0:2222", "worker1:2222", "worker2:2222"],
    }
    with tf.device(tf.train.replica_device_setter(cluster=cluster_spec)):
        made = [tf.Variable(float(value), name=f"v{value}") for value in (1, 2, 3)]
        total = tf.add_n(made, name="total")
        with tf.device("/gpu:1"):
            inner = total + 1.0
            with tf.device("/task:1"):
                innermost = inner * 2.0
                v4 = tf.Variable(4.0, name="v4")
    placed = [*made, total, inner, innermost, v4]
    return runs(devices=[t.device for t in placed])


@program("N 4/14: the complete example's graph")
def trainer_graph(tf: Any) -> Outcome:
    cluster = tf.train.ClusterSpec({"ps": ["ps0:2222", "ps1:2222"], "worker": ["w0:2222", "w1:2222"]})
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:1", cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        global_step = tf.Variable(0)
        train_op = tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=global_step)
        tf.train.Saver()
        tf.summary.scalar("loss", loss)
        tf.summary.merge_all()
        init_op = tf.global_variables_initializer()
    return runs(names=[train_op.name, init_op.name])


@program("I, basic usage")
def small_sum(tf: Any) -> Outcome:
    a, b, c, d = (tf.constant(value) for value in (1, 2, 3, 4))
    output = tf.add(tf.add(tf.add(a, b), tf.multiply(b, c)), tf.add(c, d))
    return runs(Run(output))


@program("I, several graphs")
def vectors_and_matrices(tf: Any) -> Outcome:
    a = tf.constant([1.5, 6.0])
    c = a * tf.constant([1.5, 3.2])
    m1 = tf.constant([[1.0, 0.0, 2.0], [-1.0, 3.0, 1.0]])
    m2 = tf.constant([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
    m3 = tf.matmul(m1, m2)
    x = tf.Variable([1.0, 2.0])
    sub = tf.subtract(x, tf.constant([3.0, 3.0]))
    return runs(Run([c, m3]), Run(x.initializer), Run(sub))


@program("I, counter")
def counter(tf: Any) -> Outcome:
    state = tf.Variable(0, name="counter")
    update = tf.assign(state, tf.add(state, tf.constant(1)))
    return runs(Run(tf.global_variables_initializer()), Run(state), *[Run(update), Run(state)] * 3)


@program("I, fetch and feed")
def fetch_and_feed(tf: Any) -> Outcome:
    intermed = tf.add(tf.constant(2.0), tf.constant(5.0))
    mul = tf.multiply(tf.constant(3.0), intermed)
    input1, input2 = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    output = tf.multiply(input1, input2)
    return runs(Run([mul, intermed]), Run(output, {input1: [7.0], input2: [2.0]}), Run(mul, {intermed: 11.0}))


@program("I, simple client")
def client_graph(tf: Any) -> Outcome:
    with tf.device("/job:worker/task:0"), tf.device("/cpu:0"):
        a = tf.constant([1.5, 6.0], name="a")
        b = tf.Variable([1.5, 3.2], name="b")
        c = (a * b) + (a / b)
        d = c * a
        y = tf.assign(b, d)
    return runs(devices=[y.device, b.device, b.initializer.device], names=[c.name, d.name, y.name])


@program("I, TensorBoard")
def tensorboard_graph(tf: Any) -> Outcome:
    a = tf.constant([1.5, 6.0], name="a")
    b = tf.Variable([1.5, 3.2], name="b")
    c = (a * b) + (a / b)
    y = tf.assign(b, c * a)
    return runs(Run(tf.global_variables_initializer()), Run(y))


@program("I, linear regression")
def adagrad_replica(tf: Any) -> Outcome:
    cluster = tf.train.ClusterSpec({"ps": ["localhost:2222"], "worker": ["localhost:2223", "localhost:2224"]})
    x = tf.placeholder("float")
    y = tf.placeholder("float")
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:1", cluster=cluster)):
        w = tf.Variable(0.0, name="weight")
        b = tf.Variable(0.0, name="bias")
        loss = tf.square(y - tf.multiply(x, w) - b)
        global_step = tf.Variable(0)
        tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=global_step)
        tf.train.Saver()
        merged = tf.summary.merge_all()
        tf.global_variables_initializer()
    return runs(merged=merged)


@program("D, simple placement")
def on_the_cpu(tf: Any) -> Outcome:
    with tf.device("/cpu:0"):
        a = tf.Variable(3.0)
        b = tf.constant(4.0)
    c = a * b
    return runs(Run(a.initializer), Run(c), devices=[a.device, b.device, c.device])


@program("D, dynamic placement function")
def device_function(tf: Any) -> Outcome:
    def variables_on_cpu(op: Any) -> str:
        return "/cpu:0" if op.type in ("Variable", "VariableV2") else "/gpu:0"

    with tf.device(variables_on_cpu):
        a = tf.Variable(3.0)
        b = tf.constant(4.0)
        c = a * b
    return runs(devices=[a.device, b.device, c.device])


@program("D, control dependencies")
def control_dependencies(tf: Any) -> Outcome:
    a = tf.constant(1.0)
    b = a + 2.0
    with tf.control_dependencies([a, b]):
        x = tf.constant(3.0)
        y = tf.constant(4.0)
    z = x + y
    return runs(Run(z), controls=[[op.name for op in t.op.control_inputs] for t in (x, y, z)])


@program("D, pinning across tasks")
def pinned_across_tasks(tf: Any) -> Outcome:
    with tf.device("/job:ps/task:0/cpu:0"):
        a = tf.constant(1.0)
    with tf.device("/job:worker/task:0/gpu:1"):
        b = a + 2
    c = a + b
    return runs(devices=[t.device for t in (a, b, c)])


@program("D, sharding variables")
def sharded_round_robin(tf: Any) -> Outcome:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        v1, v2, v3 = (tf.Variable(float(value)) for value in (1, 2, 3))
        s = v1 + v2
        with tf.device("/gpu:1"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    return runs(devices=[t.device for t in (v1, v2, v3, s, p1, p2)])


@program("D, jobs and tasks of the notebook")
def ps_and_workers(tf: Any) -> Outcome:
    with tf.device("/job:ps"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/job:worker"):
        b = a + 2
    with tf.device("/job:worker/task:1"):
        c = a + b
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")):
        v1 = tf.Variable(1.0, name="v1")
        v2 = tf.Variable(2.0, name="v2")
        v3 = tf.Variable(3.0, name="v3")
        s = v1 + v2
        with tf.device("/task:1"):
            p1 = 2 * s
            with tf.device("/cpu:0"):
                p2 = 3 * s
    return runs(devices=[t.device for t in (a, b, c, v1, v2, v3, s, p1, p2)])


@program("D, simple_client.py and containers")
def containers(tf: Any) -> Outcome:
    x = tf.Variable(0.0, name="x")
    increment_x = tf.assign(x, x + 1)
    with tf.variable_scope("my_problem_1"):
        y = tf.Variable(1.0, name="y")
    with tf.container("my_problem_1"):
        z = tf.Variable(2.0, name="z")
        with tf.container("inner"):
            tf.get_variable("w", [2])
    return runs(Run(x.initializer), Run(increment_x), Run(increment_x), names=[y.name, z.name])


@program("D, preloaded data")
def preloaded_data(tf: Any) -> Outcome:
    data = values("prel", 7, 3)
    training_set_init = tf.placeholder(tf.float32, shape=(None, 3))
    training_set = tf.Variable(training_set_init, trainable=False, collections=[], validate_shape=False, name="training_set")
    return runs(
        Run(training_set.initializer, {training_set_init: data}),
        Run(training_set),
        count=len(tf.global_variables()),
    )

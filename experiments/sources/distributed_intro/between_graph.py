"""Between-graph replication: each worker builds the same graph, whose variables are a parameter server's.

`bg_dist.py`: y = 2x + 10 + noise, by Adagrad. Each line in a terminal of its own:

    python between_graph.py --job_name=ps
    python between_graph.py --job_name=worker --task_index=0
    python between_graph.py --job_name=worker --task_index=1

The parameter server stays until it is stopped; the workers end when the loss is small.
"""

import numpy as np

import tfexp as tf

flags = tf.app.flags
flags.DEFINE_string("job_name", "", "ps or worker")
flags.DEFINE_integer("task_index", 0, "which of its job's tasks this process is")
flags.DEFINE_string("ps_hosts", "localhost:2222", "host:port of each parameter server")
flags.DEFINE_string("worker_hosts", "localhost:2223,localhost:2224", "host:port of each worker")
flags.DEFINE_string("logdir", "train_logs", "where the chief keeps checkpoints")
FLAGS = flags.FLAGS


def main(_: list[str]) -> None:
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    train_x = np.linspace(-1.0, 1.0, 100)
    train_y = 2.0 * train_x + np.random.RandomState(0).randn(100) * 0.33 + 10.0
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)):
        x, y = tf.placeholder("float"), tf.placeholder("float")
        w, b = tf.Variable(0.0, name="weight"), tf.Variable(0.0, name="bias")
        loss = tf.square(y - tf.multiply(x, w) - b)
        global_step = tf.train.get_or_create_global_step()
        train = tf.train.AdagradOptimizer(0.5).minimize(loss, global_step=global_step)
        init = tf.global_variables_initializer()
    supervisor = tf.train.Supervisor(
        is_chief=FLAGS.task_index == 0,
        logdir=FLAGS.logdir,
        init_op=init,
        summary_op=None,
        global_step=global_step,
        recovery_wait_secs=1,
    )
    # a worker need not wait for the others
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{FLAGS.task_index}"])
    with supervisor.managed_session(server.target, config=config) as session:
        value = np.inf
        while not supervisor.should_stop() and value > 1.0:
            for sample in zip(train_x, train_y, strict=True):
                _, step = session.run([train, global_step], dict(zip((x, y), sample, strict=True)))
            value = session.run(loss, {x: train_x, y: train_y}).mean()
            print(f"step {step}  loss {value:.4f}", flush=True)
    supervisor.stop()


if __name__ == "__main__":
    tf.app.run()

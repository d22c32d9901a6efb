"""y = 2x + noise, learned by several processes with one text: `--job_name=ps` keeps the parameters, workers train them.

    python linear.py --job_name=ps --task_index=0
    python linear.py --job_name=worker --task_index=0 --logdir=log
    python linear.py --job_name=worker --task_index=1 --logdir=log

Worker 0 is the chief: it initialises the parameters, or restores what an earlier run saved in `--logdir`, and saves them
every few seconds. The others wait for it. Whoever is stopped may be started again.
"""

from __future__ import annotations

import numpy as np

import tfexp as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "localhost:1681", "host:port of each parameter server, separated by commas")
flags.DEFINE_string("worker_hosts", "localhost:1682,localhost:1683", "host:port of each worker")
flags.DEFINE_string("job_name", "", "ps or worker")
flags.DEFINE_integer("task_index", 0, "which of its job's tasks this process is")
flags.DEFINE_string("logdir", "log", "where the chief keeps checkpoints and summaries")
flags.DEFINE_integer("steps", 20_000, "updates in all, of all workers and all runs")
flags.DEFINE_integer("save_secs", 5, "seconds between checkpoints")
FLAGS = flags.FLAGS


def main(_: list[str]) -> None:
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        print("waiting....", flush=True)
        server.join()
    random = np.random.default_rng(0)
    train_x = np.linspace(-1, 1, 100)
    train_y = 2 * train_x + random.standard_normal(train_x.shape) * 0.3
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)):
        x, y = tf.placeholder("float"), tf.placeholder("float")
        w = tf.Variable(tf.truncated_normal([1]), name="weight")
        b = tf.Variable(tf.truncated_normal([1]), name="bias")
        global_step = tf.train.get_or_create_global_step()
        cost = tf.reduce_mean(tf.square(y - (tf.multiply(x, w) + b)))
        tf.summary.scalar("loss_function", cost)
        merged = tf.summary.merge_all()
        optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost, global_step=global_step)
        saver = tf.train.Saver(max_to_keep=1)
        init = tf.global_variables_initializer()
    supervisor = tf.train.Supervisor(
        is_chief=FLAGS.task_index == 0,
        logdir=FLAGS.logdir,
        init_op=init,
        summary_op=None,
        saver=saver,
        global_step=global_step,
        save_model_secs=FLAGS.save_secs,
        recovery_wait_secs=1,
    )
    # A worker need not wait for the others, which may come later, or have ended.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{FLAGS.task_index}"])
    with supervisor.managed_session(server.target, config=config) as session:
        step = session.run(global_step)
        print("sess ok, begins at step", step, flush=True)
        while step < FLAGS.steps and not supervisor.should_stop():
            for sample in zip(train_x, train_y, strict=True):
                _, step = session.run([optimizer, global_step], feed_dict=dict(zip((x, y), sample, strict=True)))
            loss, summary = session.run([cost, merged], feed_dict={x: train_x, y: train_y})
            print("step:", step, "cost=", loss, "W=", session.run(w), "b=", session.run(b), flush=True)
            if supervisor.is_chief:
                supervisor.summary_computed(session, summary, global_step=step)
        if supervisor.is_chief:
            saver.save(session, supervisor.save_path, global_step=global_step)
    print("Finished!", flush=True)


if __name__ == "__main__":
    tf.app.run()

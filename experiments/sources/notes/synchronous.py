"""Synchronous training between graphs: SyncReplicasOptimizer adds up the workers' gradients before one update.

2017/4/14, note 15 with its rules: one chief, which starts the queue runner and puts the first tokens; every worker gives the
global step. Two workers are threads of this process, each with a graph of its own; a server of this process has the rest.

Prints:

    updates: 40 40
    between the two targets: 2.0
"""

import contextlib
import threading

import numpy as np

import tfexp as tf

server = tf.train.Server.create_local_server()
targets = (1.0, 3.0)
ended: dict[int, tuple[int, float]] = {}
chief_is_ready, both_are_done = threading.Event(), threading.Barrier(2)


def worker(number: int) -> None:
    with tf.Graph().as_default():
        with tf.device("/job:local/task:0"):
            w = tf.Variable(0.0, name="w")
            global_step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=2
            )
            train = optimizer.minimize(tf.square(w - targets[number]), global_step=global_step)
        chief = number == 0
        first_tokens = optimizer.get_init_tokens_op() if chief else None
        runner = optimizer.get_chief_queue_runner() if chief else None
        init = tf.global_variables_initializer()
        local_init = optimizer.chief_init_op if chief else optimizer.local_step_init_op
        coordinator = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.CancelledError,))
        soon = tf.RunOptions(timeout_in_ms=300)
        with tf.Session(server.target) as sess:
            if chief:
                sess.run(init)
                sess.run(local_init)
                runner.create_threads(sess, coordinator, daemon=True, start=True)
                sess.run(first_tokens)
                chief_is_ready.set()
            else:
                chief_is_ready.wait()
                sess.run(local_init)
            while sess.run(global_step) < 40:
                with contextlib.suppress(tf.errors.DeadlineExceededError):  # the other one has made the last step
                    sess.run(train, options=soon)
            both_are_done.wait()
            ended[number] = sess.run([global_step, w])
            both_are_done.wait()
            coordinator.request_stop()


threads = [threading.Thread(target=worker, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("updates:", *(int(steps) for steps, _ in ended.values()))
print("between the two targets:", np.round(ended[0][1], 2))

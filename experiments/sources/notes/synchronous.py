"""Synchronous training between graphs: SyncReplicasOptimizer adds up the workers' gradients before one update.

2017/4/14, note 15 with its rules: one chief, which starts the queue runner and puts the first tokens; every worker gives the
global step. Two workers are threads of this process, each with a graph of its own; a server of this process has the rest.
Nobody is a step ahead here (no token lies ready at the beginning, and the workers meet after each step, so that neither
takes the other's token): every update is made of one gradient of each.

Prints:

    updates: 40 40
    between the two targets: 2.0
"""

import threading

import numpy as np

import tfexp as tf

server = tf.train.Server.create_local_server()
targets = (1.0, 3.0)
ended: dict[int, tuple[int, float]] = {}
chief_is_ready, both_have_stepped = threading.Event(), threading.Barrier(2, timeout=60)


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
        first_tokens = optimizer.get_init_tokens_op(0) if chief else None
        runner = optimizer.get_chief_queue_runner() if chief else None
        init = tf.global_variables_initializer()
        local_init = optimizer.chief_init_op if chief else optimizer.local_step_init_op
        coordinator = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.CancelledError,))
        with tf.Session(server.target) as sess:
            if chief:
                sess.run(init)
                sess.run(local_init)
                runner.create_threads(sess, coordinator, daemon=True, start=True)
                sess.run(first_tokens)
                chief_is_ready.set()
            else:
                chief_is_ready.wait(60)
                sess.run(local_init)
            for _ in range(40):
                sess.run(train)
                both_have_stepped.wait()
            ended[number] = sess.run([global_step, w])
            both_have_stepped.wait()
            coordinator.request_stop()


threads = [threading.Thread(target=worker, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("updates:", *(int(steps) for steps, _ in ended.values()))
print("between the two targets:", np.round(ended[0][1], 2))

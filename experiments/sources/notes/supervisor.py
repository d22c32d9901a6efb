"""A Supervisor initializes or restores, saves and writes summaries; the loop only trains.

2017/4/17, note 1: `a` becomes a + b in each step. The second time it goes on from the checkpoint in `supervised`.

Prints:

    begins with 1
    ends with 201
    begins with 201
    ends with 301
"""

import tfexp as tf


def run(steps: int) -> None:
    with tf.Graph().as_default():
        a, b = tf.Variable(1, name="a"), tf.Variable(2, name="b")
        update = tf.assign(a, tf.add(a, b))
        tf.summary.scalar("a", a)
        merged = tf.summary.merge_all()
        init = tf.global_variables_initializer()
        # Its own thread saves nothing: it could do so while the loop runs, and then be the last one.
        supervisor = tf.train.Supervisor(logdir="supervised", init_op=init, summary_op=None, save_model_secs=0)
        with supervisor.managed_session() as sess:
            print("begins with", sess.run(a))
            for step in range(steps):
                sess.run(update)
                if step % 10 == 0:
                    supervisor.summary_computed(sess, sess.run(merged), global_step=step)
            print("ends with", sess.run(a))
            supervisor.saver.save(sess, supervisor.save_path, global_step=steps)


run(100)
run(50)

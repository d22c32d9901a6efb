"""The learning rate falls with the global step.

2017/4/17, note 15.

Prints:

    step  0  rate 0.10000
    step  5  rate 0.09487
    step 10  rate 0.09000
"""

import tfexp as tf

global_step = tf.Variable(0, trainable=False)
rate = tf.train.exponential_decay(0.1, global_step=global_step, decay_steps=10, decay_rate=0.9)
optimizer = tf.train.GradientDescentOptimizer(rate)
advance = global_step.assign_add(1)
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for step in range(11):
        if step % 5 == 0:
            print(f"step {step:2}  rate {sess.run(rate):.5f}")
        sess.run(advance)

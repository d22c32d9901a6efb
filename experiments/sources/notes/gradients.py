"""Gradients of what does not depend on a variable are None, also behind `stop_gradient`; such a variable is not trained.

2017/4/17, notes 8 and 9. The note's integer variables are floats here: TensorFlow 1.15 gives integers' gradients, 2.x none.

Prints:

    fetching None: TypeError
    [[2. 1.]]
    None float32
    only the second is trained: 2.0 1.4
    along the other path: 1.0 1.0
"""

import tfexp as tf

w1 = tf.Variable([[1.0, 2.0]])
w2 = tf.Variable([[3.0, 4.0]])
result = tf.matmul(w1, [[2.0], [1.0]])
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    try:
        sess.run(tf.gradients(result, [w1, w2]))
    except TypeError as error:
        print(f"fetching None: {type(error).__name__}")
    print(sess.run(tf.gradients(result, [w1])[0]))

tf.reset_default_graph()
w1, w2 = tf.Variable(2.0), tf.Variable(2.0)
stopped = tf.stop_gradient(tf.multiply(w1, 3.0))
b = tf.multiply(stopped, w2)
gradients = tf.gradients(b, [w1, w2])
print(gradients[0], gradients[1].dtype.name)
train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, [w1, w2]))
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    sess.run(train)
    print("only the second is trained:", *(f"{value:.1f}" for value in sess.run([w1, w2])))

tf.reset_default_graph()
a, b = tf.Variable(1.0), tf.Variable(1.0)
total = tf.add(tf.stop_gradient(tf.add(a, b)), tf.add(a, b))
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    print("along the other path:", *sess.run(tf.gradients(total, [a, b])))

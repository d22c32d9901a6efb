"""Several graphs, each with a session, and an InteractiveSession.

The second example, which places a product on a GPU if there is one (`allow_soft_placement`).

Prints:

    [ 2.25 19.2 ]
    [[5. 1.]
     [4. 2.]]
    [-2. -1.]
"""

import tfexp as tf

g1 = tf.Graph()
with g1.as_default():
    c = tf.constant([1.5, 6.0]) * tf.constant([1.5, 3.2])
with tf.Graph().as_default() as g2, tf.device("/gpu:0"):
    m1 = tf.constant([[1.0, 0.0, 2.0], [-1.0, 3.0, 1.0]])
    m2 = tf.constant([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
    m3 = tf.matmul(m1, m2)

with tf.Session(graph=g1) as sess:
    print(sess.run(c))
with tf.Session(graph=g2, config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    print(sess.run(m3))

sess = tf.InteractiveSession()
x = tf.Variable([1.0, 2.0])
x.initializer.run()
print(tf.subtract(x, tf.constant([3.0, 3.0])).eval())
sess.close()

"""A server of this process alone, and a session that runs there.

Section "Local server" (In [3] and [4]).

Prints:

    b'Hello distributed TensorFlow!'
"""

import tfexp as tf

c = tf.constant("Hello distributed TensorFlow!")
server = tf.train.Server.create_local_server()
with tf.Session(server.target) as sess:
    print(sess.run(c))

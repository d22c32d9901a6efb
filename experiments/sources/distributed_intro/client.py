"""A server, and a client that has its graph run there; the graph goes into `basic_tmp` for TensorBoard.

`server.py` and `client.py`, and the graph of the section on TensorBoard. Here both are in one process; elsewhere,

    python -m tfexp.server job=worker task=0 cluster='{worker: [localhost:2222]}'

serves, and the client's target is "grpc://localhost:2222".

Prints:

    [  4.875    126.450005]
    event files: 1
"""

import glob

import tfexp as tf

server = tf.train.Server.create_local_server()
with tf.device("/job:local/task:0"), tf.device("/cpu:0"):
    a = tf.constant([1.5, 6.0], name="a")
    b = tf.Variable([1.5, 3.2], name="b")
    c = (a * b) + (a / b)
    d = c * a
    y = tf.assign(b, d)

with tf.Session(server.target) as sess:
    sess.run(tf.global_variables_initializer())
    tf.summary.FileWriter("basic_tmp", graph=tf.get_default_graph()).close()
    print(sess.run(y))
print("event files:", len(glob.glob("basic_tmp/events.out.tfevents.*")))

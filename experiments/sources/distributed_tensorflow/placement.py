"""Where ops run: by a device's name, by a function, and what happens where there is no such device or no such kernel.

Sections 1.2 and 1.3. Without a GPU, what is placed there runs on the CPU only with `allow_soft_placement`.

Prints:

    a on /device:CPU:0 | c on whatever the session chooses
    12.0
    by a function: /cpu:0 /gpu:0 /gpu:0
    no such device: InvalidArgumentError
    softly placed: 3
"""

import tfexp as tf

with tf.device("/cpu:0"):
    a = tf.Variable(3.0, name="a")
    b = tf.constant(4.0, name="b")
c = a * b
print("a on", a.device, "| c on", c.device or "whatever the session chooses")
with tf.Session() as sess:
    sess.run(a.initializer)
    print(sess.run(c))


def variables_on_cpu(op: tf.Operation) -> str:
    return "/cpu:0" if op.type.startswith("Variable") else "/gpu:0"


with tf.device(variables_on_cpu):
    a = tf.Variable(3.0)
    b = tf.constant(4.0)
    c = a * b
print("by a function:", a.device, b.device, c.device)

with tf.device("/gpu:0"):
    i = tf.Variable(3, name="whole")
with tf.Session() as sess:
    try:
        sess.run(i.initializer)
    except tf.errors.InvalidArgumentError as error:
        print(f"no such device: {type(error).__name__}")
config = tf.ConfigProto(allow_soft_placement=True, inter_op_parallelism_threads=2, intra_op_parallelism_threads=1)
config.gpu_options.per_process_gpu_memory_fraction = 0.4
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(i.initializer)
    print("softly placed:", sess.run(i))

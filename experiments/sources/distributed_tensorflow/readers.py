"""A CSV file read by the graph: one reader by hand, a QueueRunner's threads, and five readers at once.

Sections 2.7.2 and 2.7.3, In [11] to [15]. The queue shuffles, so what comes out is sorted before it is shown. `my_test.csv`
is written here.

Prints:

    with defaults: 1.0 6 44
    no more files to read
    batches of [2, 1]: ([1.0, -1.0], 0) ([4.0, 5.0], 1) ([7.0, 8.0], 0)
    five threads, readers: 1
    batches of [2, 1]: ([1.0, -1.0], 0) ([4.0, 5.0], 1) ([7.0, 8.0], 0)
    five threads, readers: 5
    batches of [2, 1]: ([1.0, -1.0], 0) ([4.0, 5.0], 1) ([7.0, 8.0], 0)
"""

from pathlib import Path

import tfexp as tf

Path("my_test.csv").write_text("x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n")

with tf.Session() as sess:
    fields = tf.decode_csv(tf.constant("1.,,44"), record_defaults=[tf.constant([5.0]), tf.constant([6]), tf.constant([7])])
    print("with defaults:", *sess.run(fields))


def file_names() -> tuple[tf.QueueBase, tf.Tensor, tf.Operation, tf.Operation]:
    queue = tf.FIFOQueue(capacity=10, dtypes=[tf.string], shapes=[()])
    name = tf.placeholder(tf.string)
    return queue, name, queue.enqueue([name]), queue.close()


def instances() -> tf.QueueBase:
    return tf.RandomShuffleQueue(10, 2, [tf.float32, tf.int32], [[2], []], name="instance_q", shared_name="instances")


def read_and_push(names: tf.QueueBase, queue: tf.QueueBase) -> tf.Operation:
    _, value = tf.TextLineReader(skip_header_lines=1).read(names)
    x1, x2, target = tf.decode_csv(value, record_defaults=[[-1.0], [-1.0], [-1]])
    return queue.enqueue([tf.stack([x1, x2]), target])


def show(sess: tf.Session, batch: list[tf.Tensor]) -> None:
    sizes, found = [], []
    try:
        while True:
            features, targets = sess.run(batch)
            sizes.append(len(targets))
            found += zip(features.tolist(), targets.tolist())
    except tf.errors.OutOfRangeError:
        print(f"batches of {sizes}:", *sorted(found))


tf.reset_default_graph()
names, name, enqueue_name, close_names = file_names()
queue = instances()
enqueue, close, batch = read_and_push(names, queue), queue.close(), queue.dequeue_up_to(2)
with tf.Session() as sess:
    sess.run(enqueue_name, {name: "my_test.csv"})
    sess.run(close_names)
    try:
        while True:
            sess.run(enqueue)
    except tf.errors.OutOfRangeError:
        print("no more files to read")
    sess.run(close)
    show(sess, batch)

for readers in (1, 5):
    tf.reset_default_graph()
    names, name, enqueue_name, close_names = file_names()
    queue = instances()
    enqueues = [read_and_push(names, queue) for _ in range(readers)] * (5 // readers)
    batch = queue.dequeue_up_to(2)
    runner = tf.train.QueueRunner(queue, enqueues)
    coordinator = tf.train.Coordinator()
    with tf.Session() as sess:
        sess.run(enqueue_name, {name: "my_test.csv"})
        sess.run(close_names)
        threads = runner.create_threads(sess, coord=coordinator, start=True)
        print(f"five threads, readers: {readers}")
        show(sess, batch)
        coordinator.request_stop()
        coordinator.join(threads)

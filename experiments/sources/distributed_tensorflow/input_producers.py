"""The functions that make queues and their runners: `string_input_producer`, `batch`, `shuffle_batch`.

Section 2.7.4 and In [13].

Prints:

    runners: 2
    [10 11 12] [0 1 0]
    [13 20 21] [1 0 1]
    [22 23] [0 1]
    done
"""

from pathlib import Path

import tfexp as tf

for number in (1, 2):
    Path(f"part-{number}.csv").write_text("".join(f"{number}{row},{row % 2}\n" for row in range(4)))

names = tf.train.string_input_producer(["part-1.csv", "part-2.csv"], num_epochs=1, shuffle=False)
_, line = tf.TextLineReader().read(names)
instance, target = tf.decode_csv(line, record_defaults=[[0], [0]])
batch = tf.train.batch([instance, target], batch_size=3, allow_smaller_final_batch=True)
print("runners:", len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)))

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    try:
        while True:
            print(*sess.run(batch))
    except tf.errors.OutOfRangeError:
        print("done")
    coordinator.request_stop()
    coordinator.join(threads)

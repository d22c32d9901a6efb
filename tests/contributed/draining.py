"""What comes out of a graph with queues."""

from typing import Any

import tfexp as tf


def drained(fetches: Any) -> list[Any]:
    """What comes out until the input ends."""
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
    return found

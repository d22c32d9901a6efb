"""What the two texts on distributed TensorFlow print where no cluster is needed."""

from __future__ import annotations

from typing import Any

from tests.source_programs.printed import Printed, dedent


def test_distributed_defaults_inside_the_setter(tf: Any, out: Printed) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        v1 = tf.Variable(1.0)
        v2 = tf.Variable(2.0)
        v3 = tf.Variable(3.0)
        s = v1 + v2
        with tf.device("/gpu:1"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    for tensor in (v1, v2, v3, s, p1, p2):
        print(tensor.device)
    assert out.lines == dedent("""
        /job:ps/task:0
        /job:ps/task:1
        /job:ps/task:0
        /job:worker
        /job:worker/device:GPU:1
        /job:worker/task:1/device:GPU:1
    """)

"""tf.data: repeat and batch, a value computed once in a run, interleave, and lines of a file.

"Data API" and "Readers - the new way", In [17] to [31].

Prints:

    [0 1 2 3 4 5 6]
    [7 8 9 0 1 2 3]
    [4 5 6 7 8 9 0]
    [1 2 3 4 5 6 7]
    [8 9]
    done
    [0 1 2 3 4 5 6] [0 1 2 3 4 5 6]
    [7 8 9 0 1 2 3] [7 8 9 0 1 2 3]
    [4 5 6 7 8 9 0] [4 5 6 7 8 9 0]
    [1 2 3 4 5 6 7] [1 2 3 4 5 6 7]
    [8 9] [8 9]
    done
    0,1,7,8,4,5,2,3,9,0,6,7,4,5,1,2,8,9,6,3,0,1,2,8,9,3,4,5,6,7,done
    [ 1. -1.] 0.0
    [4. 5.] 1.0
    [7. 8.] 0.0
    done
"""

from pathlib import Path

import numpy as np

import tfexp as tf


def show(fetches: list[tf.Tensor] | tf.Tensor, **how: str) -> None:
    with tf.Session() as sess:
        try:
            while True:
                found = sess.run(fetches)
                print(*(found if isinstance(found, list) else [found]), **how)
        except tf.errors.OutOfRangeError:
            print("done")


dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).repeat(3).batch(7)
element = dataset.make_one_shot_iterator().get_next()
show(element)
show([element, element])

parts = dataset.interleave(tf.data.Dataset.from_tensor_slices, cycle_length=3, block_length=2)
show(parts.make_one_shot_iterator().get_next(), end=",")

Path("my_test.csv").write_text("x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n")


def decode(line: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    x1, x2, target = tf.decode_csv(line, record_defaults=[[-1.0], [-1.0], [-1.0]])
    return tf.stack([x1, x2]), target


lines = tf.data.TextLineDataset(["my_test.csv"]).skip(1).map(decode)
show(list(lines.make_one_shot_iterator().get_next()))

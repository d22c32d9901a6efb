"""Flags of the command line, parsed by `tf.app.run` before it calls `main`.

2017/4/12, note 1: python flags.py --para_name_1=name --para_name_2

Prints:

    name True 1
"""

import tfexp as tf

flags = tf.app.flags
flags.DEFINE_string("para_name_1", "default_val", "a text")
flags.DEFINE_bool("para_name_2", False, "true or false")
FLAGS = flags.FLAGS


def main(arguments: list[str]) -> None:
    print(FLAGS.para_name_1, FLAGS.para_name_2, len(arguments))


if __name__ == "__main__":
    tf.app.run(main=main, argv=["flags.py", "--para_name_1=name", "--para_name_2"])

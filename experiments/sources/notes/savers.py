"""A Saver's dict says which variable belongs to which name in the file: so two can be swapped, or some restored only.

2017/4/13 notes 3 and 4, and 2017/4/17 notes 2 and 11. Files go to `test-ckpt`.

Prints:

    {'variable_1': 1.0, 'variable_2': 2.0}
    {'v1': 1.0, 'v2': 2.0}
    swapped: 2.0 1.0
    only the first restored: 1.0 5.0 7.0
    w_1:0 w_1_1:0
    Variable got already exists
"""

import os

import tfexp as tf

os.makedirs("test-ckpt", exist_ok=True)


def variables() -> tuple[tf.Variable, tf.Variable]:
    tf.reset_default_graph()
    return tf.Variable(1.0, name="v1"), tf.Variable(2.0, name="v2")


def show(path: str) -> None:
    print({name: float(tf.train.load_variable(path, name)) for name, _ in tf.train.list_variables(path)})


v1, v2 = variables()
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    show(tf.train.Saver({"variable_1": v1, "variable_2": v2}).save(sess, "test-ckpt/model-2"))
    show(tf.train.Saver([v1, v2]).save(sess, "test-ckpt/by-name"))

v1, v2 = variables()
with tf.Session() as sess:
    tf.train.Saver({"variable_1": v2, "variable_2": v1}).restore(sess, "test-ckpt/model-2")
    print("swapped:", *sess.run([v1, v2]))

v1, v2 = variables()
v3 = tf.Variable(7.0, name="v3")
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    sess.run([v1.assign(5.0), v2.assign(5.0)])
    tf.train.Saver([v1]).restore(sess, "test-ckpt/by-name")
    print("only the first restored:", *sess.run([v1, v2, v3]))

print(tf.Variable(3, name="w_1").name, tf.Variable(1, name="w_1").name)
tf.get_variable(name="got", initializer=1)
try:
    tf.get_variable(name="got", initializer=2)
except ValueError as error:
    print(str(error).partition(",")[0])

"""Values of nodes are gone after a run, variables live as long as their session, and what is fetched together runs once.

"Lifecycle of a node value", and exercises 1 to 4: two runs are not the same as one with two fetches where something has a
side effect; local sessions do not share variables; a placeholder has no value before it is fed.

Prints:

    two runs: 10 15
    one run:  10 15
    with a side effect, two runs: 1 2
    with a side effect, one run:  3 3
    each session has its own: 1 0
    a new session has none that is initialized
    a placeholder that is not fed: InvalidArgumentError
"""

import tfexp as tf

w = tf.constant(3)
x = w + 2
y = x + 5
z = x * 3
with tf.Session() as sess:
    print("two runs:", y.eval(), z.eval())
    print("one run: ", *sess.run([y, z]))

counter = tf.Variable(0)
bump = tf.assign_add(counter, 1)
a, b = bump + 0, bump * 1
with tf.Session() as sess:
    counter.initializer.run()
    print("with a side effect, two runs:", a.eval(), b.eval())
    print("with a side effect, one run: ", *sess.run([a, b]))

with tf.Session() as first, tf.Session() as second:
    first.run(counter.initializer)
    second.run(counter.initializer)
    first.run(bump)
    print("each session has its own:", first.run(counter), second.run(counter))
with tf.Session() as third:
    try:
        third.run(counter)
    except tf.errors.FailedPreconditionError:
        print("a new session has none that is initialized")

fed = tf.placeholder(tf.float32, [])
with tf.Session():
    try:
        fed.eval()
    except tf.errors.InvalidArgumentError as error:
        print(f"a placeholder that is not fed: {type(error).__name__}")

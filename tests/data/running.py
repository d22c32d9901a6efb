"""How the tests of data sets run them."""

import itertools

import numpy as np

import tfexp as tf
from tfexp.data import experimental


def elements(dataset, limit=1000, feeds=None):
    """The elements of one run through a data set."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, feeds)
        return list(itertools.islice(drain(session, element), limit))


def unbatched(dataset):
    """The rows of the elements."""
    return dataset.flat_map(lambda *parts: tf.data.Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0]))


def drain(session, element):
    """The elements that are still to come."""
    while True:
        try:
            yield session.run(element)
        except tf.errors.OutOfRangeError:
            return


def numbers(dataset, **options):
    """The elements as Python numbers or lists."""
    return [np.asarray(value).tolist() for value in elements(dataset, **options)]


def resumed(build, position, folder):
    """What comes after `position` elements when the position is saved, and restored in another session."""
    iterator = tf.data.make_initializable_iterator(build())
    element = iterator.get_next()
    saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        list(itertools.islice(drain(session, element), position))
        saver.save(session, str(folder / "position"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, str(folder / "position"))
        return [np.asarray(value).tolist() for value in drain(session, element)]

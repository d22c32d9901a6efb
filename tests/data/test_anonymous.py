"""Iterators, caches and shuffles that have no name, and what they keep in common."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.op import get_op
from tfexp.runtime.eager import eager_mode

_NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}


def make(name, *inputs, **attrs):
    return get_op(name)(*inputs, **attrs)


def started(dataset, name):
    """An iterator of that name, the op that begins it, and its next element."""
    iterator = make("IteratorV2", shared_name=name, container="", **_NUMBERS)
    return make("MakeIterator", dataset, iterator), make("IteratorGetNext", iterator, **_NUMBERS)[0]


def test_iterators_without_a_name():
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.data.Dataset.range(5, 9)._variant_tensor
        whole, (handle, deleter) = make("AnonymousIterator", **_NUMBERS), make("AnonymousIteratorV2", **_NUMBERS)
        with tf.control_dependencies([make("MakeIterator", numbers, whole), make("MakeIterator", numbers, handle)]):
            values = [make("IteratorGetNext", one, **_NUMBERS)[0] for one in (whole, handle)]
            device = make("IteratorGetDevice", whole)
        with tf.control_dependencies(values):
            delete = make("DeleteIterator", handle, deleter)
        *found, where, _ = session.run([*values, device, delete])
        assert (found, where) == ([5, 5], b"/job:localhost/replica:0/task:0/device:CPU:0")


def test_iterators_share_a_cache():
    with eager_mode():
        calls = []
        source = tf.data.Dataset.range(3).map(lambda x: tf.py_func(lambda v: calls.append(int(v)) or v, [x], tf.int64))
        cache, deleter = make("AnonymousMemoryCache")
        dataset = make("CacheDatasetV2", source._variant_tensor, "", cache, **_NUMBERS)
        for _ in range(2):
            iterator, _ = make("AnonymousIteratorV2", **_NUMBERS)
            make("MakeIterator", dataset, iterator)
            assert [make("IteratorGetNext", iterator, **_NUMBERS)[0].numpy() for _ in range(3)] == [0, 1, 2]
            with pytest.raises(tf.errors.OutOfRangeError):
                make("IteratorGetNext", iterator, **_NUMBERS)
        make("DeleteMemoryCache", cache, deleter)
        assert calls == [0, 1, 2]


def test_runs_of_a_shuffle_go_on_with_its_seeds():
    with tf.Graph().as_default(), tf.Session() as session:
        seeds, _ = make("AnonymousRandomSeedGenerator", np.int64(3), np.int64(5))
        numbers = tf.data.Dataset.range(10)._variant_tensor
        orders = [
            make("ShuffleDatasetV2", numbers, np.int64(4), seeds, **_NUMBERS),
            make("ShuffleDataset", numbers, np.int64(4), np.int64(3), np.int64(5), **_NUMBERS),
        ]
        steps = [started(make("RepeatDataset", order, np.int64(2), **_NUMBERS), str(i)) for i, order in enumerate(orders)]
        session.run([begin for begin, _ in steps])
        runs = np.array([session.run([value for _, value in steps]) for _ in range(20)])
        np.testing.assert_array_equal(runs[:, 0], runs[:, 1])
        assert sorted(runs[:10, 0]) == list(range(10)) and (runs[:10, 0] != runs[10:, 0]).any()

"""An ensemble between graphs: members in processes of their own, a queue of questions and one of answers for each.

All queues are on the asker's task, so neither asking nor answering needs a member that is gone. Who has not answered in time
is left out of the mean, and is asked again as soon as it keeps up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import tfexp as tf

__all__ = ["Answer", "Asker", "Digits", "be_member", "serve"]

_BACKLOG = 4
"""Questions that a member may be behind before it is not asked any more."""


@dataclass(frozen=True)
class Digits:
    """Handwritten digits: float32 [rows, 64], int64 [rows]; every fifth row is to test on."""

    features: np.ndarray
    labels: np.ndarray
    test_features: np.ndarray
    test_labels: np.ndarray

    @classmethod
    def load(cls) -> Digits:
        from sklearn.datasets import load_digits

        found = load_digits()
        features, labels = (found.data / 16).astype(np.float32), found.target.astype(np.int64)
        test = np.arange(len(labels)) % 5 == 0
        return cls(features[~test], labels[~test], features[test], labels[test])


def _queues(member: int) -> tuple[tf.FIFOQueue, tf.FIFOQueue]:
    """A member's questions (number, rows) and its answers (number, probabilities)."""
    with tf.device("/job:asker/task:0"):
        kinds = [tf.int64, tf.float32]
        questions = tf.FIFOQueue(_BACKLOG + 1, kinds, shared_name=f"questions_{member}")
        return questions, tf.FIFOQueue(_BACKLOG + 1, kinds, shared_name=f"answers_{member}")


def _config(*filters: str) -> tf.ConfigProto:
    """Of a session that does not care whether the other tasks are there."""
    return tf.ConfigProto(device_filters=["/job:asker", *filters])


def serve(target: str, member: int, digits: Digits, steps: int) -> None:
    """Train a network of its own, on rows drawn with replacement, and answer until the asker closes the questions."""
    with tf.Graph().as_default():
        own = f"/job:member/task:{member}"
        tf.set_random_seed(member)
        questions, answers = _queues(member)
        number, asked = questions.dequeue()
        with tf.device(own):
            features, labels = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
            with tf.variable_scope(f"member{member}"):
                loss = tf.losses.sparse_softmax_cross_entropy(labels, _scores(features))
                train = tf.train.AdamOptimizer(0.01).minimize(loss)
            with tf.variable_scope(f"member{member}", reuse=True):
                said = tf.nn.softmax(_scores(tf.reshape(asked, [-1, 64])))
        answer = answers.enqueue((number, said))
        rows = np.random.default_rng(member).integers(len(digits.labels), size=[steps, 32])
        with tf.Session(target, config=_config(own)) as session:
            session.run(tf.global_variables_initializer())
            for drawn in rows:
                session.run(train, {features: digits.features[drawn], labels: digits.labels[drawn]})
            try:
                while True:
                    session.run(answer)
            except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
                return  # there will be no more questions


def be_member(cluster: dict[str, list[str]], number: int, steps: int) -> None:
    """What a member's process does."""
    serve(tf.train.Server(cluster, "member", number).target, number, Digits.load(), steps)


def _scores(features: tf.Tensor) -> tf.Tensor:
    hidden = tf.layers.dense(features, 24, tf.nn.relu, name="hidden")
    return tf.layers.dense(hidden, 10, name="out")


@dataclass(frozen=True)
class Answer:
    """`mean` of the probabilities [rows, 10] that the members in `by` gave, after `seconds`; `late` gave none."""

    mean: np.ndarray
    by: tuple[int, ...]
    late: tuple[int, ...]
    seconds: float


class Asker:
    """Asks all members, and takes what has come within `timeout` seconds."""

    def __init__(self, target: str, members: int, timeout: float):
        self._timeout, self._number = timeout, 0
        with tf.Graph().as_default() as graph:
            self._rows, self._asked = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [])
            queues = [_queues(member) for member in range(members)]
            with tf.device("/job:asker/task:0"):
                self._behind = [questions.size() for questions, _ in queues]
            self._put = [questions.enqueue((self._asked, self._rows)) for questions, _ in queues]
            self._take = [answers.dequeue() for _, answers in queues]
            ends = [questions.close() for questions, _ in queues]
            self._end = tf.group(*ends)
        self._session = tf.Session(target, graph=graph, config=_config())

    def ask(self, rows: np.ndarray) -> Answer:
        """TimeoutError if no member answers in time."""
        began = time.monotonic()
        self._number += 1
        keeping_up = [size < _BACKLOG for size in self._session.run(self._behind)]
        put = [put for put, is_near in zip(self._put, keeping_up, strict=True) if is_near]
        self._session.run(put, {self._rows: rows, self._asked: self._number})
        said: dict[int, np.ndarray] = {}
        for member, take in enumerate(self._take):
            values = self._answer(take, began + self._timeout) if keeping_up[member] else None
            if values is not None:
                said[member] = values
        if not said:
            raise TimeoutError(f"none of {len(self._take)} members answered within {self._timeout} s")
        late = tuple(member for member in range(len(self._take)) if member not in said)
        return Answer(np.mean(list(said.values()), axis=0), tuple(said), late, time.monotonic() - began)

    def _answer(self, take: object, until: float) -> np.ndarray | None:
        """The answer to the newest question; those to earlier ones, which came too late for them, are thrown away."""
        while True:
            left = max(until - time.monotonic(), 0.001)
            try:
                number, values = self._session.run(take, options=tf.RunOptions(timeout_in_ms=max(int(left * 1000), 1)))
            except tf.errors.DeadlineExceededError:
                return None
            if number == self._number:
                return np.asarray(values)

    def close(self) -> None:
        """There will be no more questions: the members end."""
        self._session.run(self._end)
        self._session.close()

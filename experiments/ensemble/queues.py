"""An ensemble between graphs: members in processes of their own, a queue of questions for each, and one of answers.

All queues are on the asker's task, so neither asking nor answering needs a member that is gone. Who has not answered in time
is left out of the mean, and is asked again as soon as it keeps up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets import bundled

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
        found = bundled.Digits(standardize=False, test_fraction=0.2, split_seed=0).read()
        features, labels = (found.features / 16).astype(np.float32), found.labels
        test = np.arange(len(labels)) % 5 == 0
        return cls(features[~test], labels[~test], features[test], labels[test])


def _queues(member: int) -> tuple[tf.FIFOQueue, tf.FIFOQueue]:
    """A member's questions (number, rows), and all members' answers (number, member, probabilities)."""
    with tf.device("/job:asker/task:0"):
        questions = tf.FIFOQueue(_BACKLOG + 1, [tf.int64, tf.float32], shared_name=f"questions_{member}")
        return questions, tf.FIFOQueue(-1, [tf.int64, tf.int64, tf.float32], shared_name="answers")


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
        answer = answers.enqueue((number, np.int64(member), said))
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
        self.timeout, self._number = timeout, 0
        with tf.Graph().as_default() as graph:
            self._rows, self._asked = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [])
            queues = [_queues(member) for member in range(members)]
            with tf.device("/job:asker/task:0"):
                self._behind = [questions.size() for questions, _ in queues]
            self._put = [questions.enqueue((self._asked, self._rows)) for questions, _ in queues]
            self._take = queues[0][1].dequeue()
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
        said = self._answers(began + self.timeout, sum(keeping_up))
        if not said:
            raise TimeoutError(f"none of {len(self._put)} members answered within {self.timeout} s")
        late = tuple(member for member in range(len(self._put)) if member not in said)
        return Answer(np.mean(list(said.values()), axis=0), tuple(sorted(said)), late, time.monotonic() - began)

    def _answers(self, until: float, asked: int) -> dict[int, np.ndarray]:
        """By member, to the newest question; what comes too late for an earlier one is thrown away."""
        said: dict[int, np.ndarray] = {}
        while len(said) < asked and (left := until - time.monotonic()) > 0:
            options = tf.RunOptions(timeout_in_ms=max(int(left * 1000), 1))
            try:
                number, member, values = self._session.run(self._take, options=options)
            except tf.errors.DeadlineExceededError:
                break
            if number == self._number:
                said[int(member)] = np.asarray(values)
        return said

    def close(self) -> None:
        """There will be no more questions: the members end."""
        self._session.run(self._end)
        self._session.close()

"""The runner's synchronous update: one gradient of each replica a step, spare replicas, what came too late."""

import contextlib
import threading
import time

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running
from tfexp.train.generations import OVER, of_round, step_of_round
from tfexp.train.once_per_step import OncePerStep

RATE = 0.5


def until(holds):
    """Ask the servers, again and again, whether they have what another thread hands in."""
    ends = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < ends


class Replica:
    """One of several, each in a task of its own; fed are the gradient of `w` [3], and which rows that of `table` has."""

    def __init__(self, servers, index, replicas, needed):
        worker = f"/job:worker/task:{index}"
        with tf.Graph().as_default() as graph, tf.device(tf.train.replica_device_setter(1, worker_device=worker)):
            self.step = tf.train.get_or_create_global_step()
            weights = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
            table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
            self.variables = [weights, table]
            self.x = tf.placeholder(tf.float32, [3])
            self.ids = tf.placeholder(tf.int32, [None])
            loss = tf.reduce_sum(weights * self.x) + tf.reduce_sum(tf.gather(table, self.ids))
            self.rule = OncePerStep(tf.train.GradientDescentOptimizer(RATE), needed, replicas, index)
            self.train = self.rule.minimize(loss, global_step=self.step)
            self.initialize = tf.global_variables_initializer()
            with tf.device(self.step.device):
                # What a test looks at, and how it makes believe.
                shared = tf.ConditionalAccumulator(tf.float32, [replicas + 1], "sync_votes", reduction_type="SUM")
                self.voted = shared.num_accumulated()
            self.begun = self.rule.updates.begin()
        self.replica = index
        self.session = tf.Session(servers[f"worker:{index}"].target, graph=graph)

    def lead(self):
        self.session.run(self.initialize)
        self.session.run([self.rule.generations.make, self.rule.updates.settle])
        self.begin()

    def begin(self):
        self.joined = self.rule.begin(self.session)
        self.coordinator = tf.train.Coordinator()
        runner = self.rule.get_chief_queue_runner()
        self.threads = runner.create_threads(self.session, self.coordinator, daemon=True, start=True)

    def updates_end(self):
        """Wait until they have, because of a vote against the generation."""
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive()
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            self.coordinator.raise_requested_exception()
        assert self.rule.disbanded(raised.value)

    def lose_updates(self):
        self.session.run(self.rule.disband)
        self.updates_end()

    def votes(self):
        return int(self.session.run(self.voted))

    def hand_in(self, number=1.0, ids=(0,)):
        """The next step, and how many of this replica's gradients were used since it was last told."""
        token = self.session.run([self.train, self.rule.used], {self.x: [number] * 3, self.ids: ids})
        return self.read(token)

    def read(self, token):
        """The step and the use that a token tells of; of those before the replica took part, the next one."""
        self.round, used = map(int, token)
        if self.round == self.joined or (self.round == OVER and self.replica == 0):
            return self.read(self.session.run(self.rule.take_up))
        return step_of_round(self.round), used

    def join(self):
        self.joined = int(self.session.run(self.rule.join))
        return step_of_round(self.joined)

    def later(self, *arguments):
        """`hand_in` in a thread; a call waits for what it gave."""
        found = []
        thread = threading.Thread(target=lambda: found.append(self.hand_in(*arguments)), daemon=True)
        thread.start()

        def result():
            thread.join(30)
            return found[0]

        return result


@pytest.fixture
def replicas():
    """`replicas(count, needed)`: that many, the first of which leads."""
    made = []

    def make(count, needed):
        servers = stack.enter_context(running(ps=1, worker=count))
        made.extend(Replica(servers, index, count, needed) for index in range(count))
        made[0].lead()
        for replica in made[1:]:
            replica.join()
        return made

    with contextlib.ExitStack() as stack:
        yield make
        made[0].coordinator.request_stop()
        for replica in reversed(made):
            replica.session.close()


def test_each_replica_has_a_part_in_every_step(replicas):
    """However long the others take: who is fast waits, and its second gradient is not taken for theirs."""
    first, second, third = replicas(3, 3)
    generator = np.random.RandomState(7)
    total = np.zeros(3)
    for step in range(5):
        numbers = generator.randn(3)
        waiting = [first.later(numbers[0]), third.later(numbers[2])]
        assert second.hand_in(numbers[1]) == (step + 1, 1)
        assert [result() for result in waiting] == [(step + 1, 1)] * 2
        total -= RATE * numbers.mean()
        np.testing.assert_allclose(second.session.run(second.variables[0]), total, rtol=1e-5)


def test_the_mean_of_rows_is_that_of_one_batch(replicas):
    first, second = replicas(2, 2)
    waiting = first.later(1.0, (0, 2))
    second.hand_in(1.0, (2, 3))
    waiting()
    rows = first.session.run(first.variables[1])
    np.testing.assert_allclose(rows[:, 0], [-RATE / 2, 0, -RATE, -RATE / 2, 0, 0])


def test_what_comes_too_late_is_dropped_and_said_to_be(replicas):
    first, second = replicas(2, 1)
    assert [first.hand_in(number) for number in (1.0, 2.0)] == [(1, 1), (2, 1)]
    assert second.hand_in(1000.0) == (2, 0), "it goes on with the newest step, not the next one"
    second.session.run(second.rule.count_dropped)
    assert second.hand_in(4.0) == (3, 1)
    weights, dropped = first.session.run([first.variables[0], first.rule.dropped])
    np.testing.assert_allclose(weights, [-RATE * 7] * 3)
    assert list(dropped) == [0, 1]


def test_a_replica_that_joins_later_takes_up_the_step(replicas):
    first, second = replicas(2, 1)
    for _ in range(3):
        first.hand_in()
    assert second.join() == 3
    assert second.hand_in() == (4, 1), "what it was told of the steps before it joined is passed over"


def test_no_step_is_made_while_they_are_held(replicas):
    first, second = replicas(2, 1)
    first.session.run(first.rule.hold)
    waiting = second.later(3.0)
    before = [first.session.run(first.variables[0]).tolist() for _ in range(20)]
    assert before == [[0.0] * 3] * 20
    first.session.run(first.rule.release)
    assert waiting() == (1, 1)


def test_whoever_waits_is_told_the_end(replicas):
    first, second = replicas(2, 2)
    waiting = second.later()
    first.lose_updates()
    first.session.run(first.rule.end)
    waiting()
    assert second.round == OVER
    assert second.session.run(second.rule.generations.look)[2], "and so is who comes later"
    np.testing.assert_allclose(first.session.run(first.variables[0]), [0, 0, 0])


def weights(replica):
    return replica.session.run(replica.variables[0])


def test_what_a_lost_replica_had_handed_in_is_not_counted_again(replicas):
    """It had voted for the step, and is back before that is made: all hand in anew."""
    first, second = replicas(2, 2)
    waiting = second.later(1000.0)  # as good as killed: nobody looks at what it is told
    until(lambda: second.votes() == 1)
    _, has_part, _, step = second.session.run(second.rule.generations.look)
    assert (bool(has_part), step) == (True, 0)

    second.session.run(second.rule.disband)
    first.updates_end()
    first.begin()
    waiting()
    assert of_round(second.round) == 2, "whoever waits hears of the new generation"

    assert second.join() == 0
    waiting = second.later(4.0)
    assert first.hand_in(2.0) == (1, 1)
    waiting()
    np.testing.assert_allclose(weights(first), [-RATE * 3.0] * 3)


def test_a_gradient_of_an_earlier_generation_is_dropped(replicas):
    first, second = replicas(2, 2)
    first.lose_updates()
    first.begin()
    waiting = second.later(1000.0)  # it does not know yet, and is told
    waiting()
    assert of_round(second.round) == 2
    assert second.votes() == 0
    second.join()
    waiting = second.later(1.0)
    first.hand_in(3.0)
    waiting()
    np.testing.assert_allclose(weights(first), [-RATE * 2.0] * 3)


def test_a_generation_ends_between_two_updates_also_while_others_train(replicas):
    first, second = replicas(2, 1)
    for _ in range(5):
        assert first.hand_in(1.0)[1] == 1
    second.session.run(second.rule.disband)
    first.updates_end()
    step, torn = first.session.run([first.step, first.rule.updates.torn])
    assert not torn
    np.testing.assert_allclose(weights(first), [-RATE * step] * 3)
    first.begin()
    assert first.hand_in(1.0) == (step + 1, 1)


def test_two_clients_of_one_chief_may_begin_at_once(replicas):
    first, second = replicas(2, 1)
    first.lose_updates()
    rounds = []
    with tf.Session(first.session.sess_str, graph=first.session.graph) as other:

        def begin(session):
            rounds.extend(first.rule.begin(session, within=0.2) for _ in range(10))

        threads = [threading.Thread(target=begin, args=[s], daemon=True) for s in (first.session, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
    assert len(set(rounds)) == 20, "none is begun by two"
    first.begin()
    second.join()
    assert second.hand_in(2.0) == (1, 1)


def test_an_update_that_was_cut_off_is_known(replicas):
    first, _ = replicas(2, 2)
    updates = first.rule.updates
    assert not first.session.run(updates.torn)
    first.session.run(first.begun)
    assert first.session.run(updates.torn)
    first.session.run(updates.doubt)
    assert first.session.run(updates.torn)
    first.session.run(updates.settle)
    assert not first.session.run(updates.torn)


def test_a_step_is_asked_for(replicas):
    rule = OncePerStep(tf.train.GradientDescentOptimizer(RATE), 1, 1, 0)
    with pytest.raises(ValueError, match="Global step is required"), tf.Graph().as_default():
        rule.minimize(tf.get_variable("w", []) * 2.0)
    with pytest.raises(ValueError, match="called after apply_gradients"):
        rule.get_init_tokens_op()
    with pytest.raises(ValueError, match="at least one variable that has a gradient"):
        rule.apply_gradients([(None, None)], global_step=1)
    replicas(1, 1)

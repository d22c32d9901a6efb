"""The simulated cluster, where what it has to come to can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.saturation.costs import Costs, Network
from experiments.saturation.curves import Curve, saturates_at
from experiments.saturation.scaling import Layout, Reached, apart, grouped, on_one, scaled
from experiments.saturation.training import Model, Rule
from experiments.saturation.virtual import Clock, Cores, Interpreter

MODEL = Model(2, 100, 1250, 1)  # 1 MB
CARRIED = 1e-3  # seconds that it is on a link
NETWORK = Network(bandwidth=1e9)
COMPUTE = 4e-3
ASYNC, SYNC = Rule(), Rule("sync")


def reached(
    rule: Rule,
    workers: int,
    costs: Costs,
    network: Network = NETWORK,
    *,
    servers: int = 1,
    layout: Layout | None = None,
    model: Model = MODEL,
    bits: int = 32,
) -> Reached:
    with scaled(model, rule, servers, workers, layout or apart(1), bits) as training:
        return training.measure(costs, network)


# --- the network -------------------------------------------------------------------------------------------------------


def test_an_asynchronous_server_takes_the_workers_that_its_link_has_time_for() -> None:
    """A worker's step takes what it computes and two messages; its server is busy with one of these in each direction."""
    curve = Curve("", "", 1, [1, 4, 8], [reached(ASYNC, n, Costs(compute=COMPUTE)) for n in (1, 4, 8)])
    step = COMPUTE + 2 * CARRIED
    assert [one.gradients for one in curve.reached] == pytest.approx([1 / step, 4 / step, 1 / CARRIED], rel=1e-3)
    assert [one.out for one in curve.reached] == pytest.approx([1 / 6, 4 / 6, 1], rel=1e-3)
    assert saturates_at(curve) == pytest.approx(6, rel=1e-3)
    assert saturates_at(Curve("", "", 1, [1, 4], curve.reached[:2])) is None


def test_synchronous_workers_wait_for_the_last_of_them() -> None:
    """All ask at once, so the last has the variables after as many messages, and hands in its gradient after one more."""
    for workers in (1, 3, 8):
        expected = workers / ((workers + 1) * CARRIED + COMPUTE)
        assert reached(SYNC, workers, Costs(compute=COMPUTE)).gradients == pytest.approx(expected, rel=1e-3)


def test_what_takes_a_share_of_the_bytes_off_a_link_lets_as_many_more_workers_in() -> None:
    busy = reached(ASYNC, 8, Costs(compute=COMPUTE))
    assert busy.out == pytest.approx(1, rel=1e-3)
    for lighter in (
        reached(ASYNC, 12, Costs(compute=COMPUTE), servers=2),
        reached(ASYNC, 12, Costs(compute=COMPUTE), bits=16),
        reached(ASYNC, 12, Costs(compute=COMPUTE), replace(NETWORK, bandwidth=2e9)),
    ):
        assert lighter.gradients == pytest.approx(2 * busy.gradients, rel=0.01)
    sparse = reached(ASYNC, 8, Costs(compute=COMPUTE), model=replace(MODEL, sparse=True))
    assert sparse.gradients == pytest.approx(8 / (COMPUTE + 2 * CARRIED / 100), rel=0.01)


def test_tasks_of_one_machine_share_its_link_and_do_not_need_it_among_themselves() -> None:
    costs = Costs(compute=COMPUTE)
    together = reached(ASYNC, 2, costs, servers=2, layout=grouped(1, 4))
    assert (together.gradients, together.out) == (pytest.approx(2 / COMPUTE, rel=1e-3), 0)
    halves = reached(ASYNC, 2, costs, servers=2, layout=grouped(2, 4))
    # Half of the bytes stay; the other half is on the link of the own machine together with what the other one asks for.
    assert 2 / (COMPUTE + 2 * CARRIED) < halves.gradients < 2 / COMPUTE


# --- cores -------------------------------------------------------------------------------------------------------------


def test_what_python_does_for_a_request_is_done_by_one_thread() -> None:
    costs = Costs(answering=1e-3)
    assert reached(ASYNC, 8, costs, layout=apart(4)).gradients == pytest.approx(1 / 2e-3, rel=0.01)


def test_bytes_are_carried_by_all_cores() -> None:
    costs = Costs(carrying=1e-9)  # 1 ms for each message, at both of its ends
    one, two = (reached(ASYNC, 6, costs, Network(), layout=apart(cores)).gradients for cores in (1, 2))
    assert (one, two) == (pytest.approx(1 / 2e-3, rel=0.01), pytest.approx(2 / 2e-3, rel=0.01))


def test_tasks_of_one_machine_share_its_cores() -> None:
    assert reached(ASYNC, 4, Costs(compute=COMPUTE), layout=on_one(2)).gradients == pytest.approx(2 / COMPUTE, rel=1e-3)


def test_an_update_is_made_once_for_all_gradients_of_a_step() -> None:
    """Each gradient is gathered, one after another on the only core; then all wait for the mean to be taken and applied."""
    costs = Costs(gathering=1e-9, averaging=2e-9, applying=3e-9)
    assert reached(SYNC, 4, costs, Network()).gradients == pytest.approx(4 / (4e-3 + 5e-3), rel=0.01)
    assert reached(ASYNC, 4, costs, Network()).gradients == pytest.approx(1 / 3e-3, rel=0.01)


def test_spare_workers_make_up_for_uneven_ones() -> None:
    costs = Costs(compute=COMPUTE, spread=0.5)
    every, most = (reached(rule, 8, costs, Network()).gradients for rule in (SYNC, Rule("sync", spare=2)))
    assert every / 8 < 0.6 / COMPUTE  # steps a second
    assert most / 6 > 1.3 * every / 8


def test_a_simulation_is_the_same_every_time() -> None:
    costs = Costs(1e-4, COMPUTE, 1e-4, 1e-4, 1e-10, 1e-10, 1e-10, 1e-10, spread=0.3)
    first, second = (reached(SYNC, 3, costs, servers=2) for _ in range(2))
    assert first == second


# --- computed time -----------------------------------------------------------------------------------------------------


def test_work_comes_to_cores_in_turn_but_for_what_needs_a_taken_interpreter() -> None:
    clock, ended = Clock(), []
    cores, interpreter = Cores(clock, 2), Interpreter()
    for name, seconds, needs in (("a", 2.0, interpreter), ("b", 1.0, interpreter), ("c", 3.0, None)):
        cores.use(seconds, lambda name=name: ended.append((name, clock.now)), needs)  # type: ignore[misc]
    while len(ended) < 3:
        clock.advance()
    assert ended == [("a", 2.0), ("c", 3.0), ("b", 3.0)]
    assert cores.busy == 6.0


def test_that_all_wait_for_each_other_is_said() -> None:
    with pytest.raises(RuntimeError, match="Nothing is to come after 0 s: all wait for each other"):
        Clock().advance()

"""How a signature's plans come and go: specialised, generic, evicted; traces, deadlines."""

import threading

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.core import op as registry
from tfexp.core.shape import TensorShape
from tfexp.runtime import cpu, local
from tfexp.runtime.plan_cache import PlanCache


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def define(monkeypatch):
    """Registers an op for the length of a test."""

    def define_op(signature):
        op = registry.parse_signature(signature)
        monkeypatch.setitem(registry._OPS, op.name, op)
        return op

    return define_op


def prepared(session):
    (invocation,) = set(session._known.values())
    return invocation._prepared


# --- tiers -------------------------------------------------------------------------------------------------------


def test_generated_code_takes_over_after_the_first_run(session):
    x = tf.placeholder(tf.float32, [None])
    y = tf.square(x) + 1.0
    for runs in range(5):
        np.testing.assert_array_equal(session.run(y, {x: [2.0, 3.0]}), [5.0, 10.0])
        assert len(prepared(session).ready) == (runs >= 1)


def test_the_first_run_gives_the_same_bits_as_the_later_ones(session):
    """So that training goes on after a restart with the numbers it would have had."""
    random = np.random.default_rng(7)
    x = tf.placeholder(tf.float32, [None, 61])
    w = tf.Variable(random.standard_normal((61, 37)).astype(np.float32))
    h = tf.nn.relu(tf.matmul(x, w))
    loss = tf.reduce_mean(tf.square(h - 0.5))
    fetches = [loss, h, tf.reduce_sum(h, 0), *tf.gradients(loss, [w, x])]
    session.run(w.initializer)
    batch = random.standard_normal((64, 61)).astype(np.float32)
    first, *later = [session.run(fetches, {x: batch}) for _ in range(4)]
    for results in later:
        for a, b in zip(first, results, strict=True):
            np.testing.assert_array_equal(a, b)


def test_ever_new_shapes_share_one_plan(session):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_sum(tf.square(x) * 2.0, axis=1)
    for size in [*range(1, 60), *range(1, 60), 7, 7, 7]:
        np.testing.assert_array_equal(session.run(y, {x: np.full((size, 3), 2.0)}), np.full(size, 24.0))
    step = prepared(session)
    assert len(step._specialised) == local.MAX_SPECIALISED
    runners = {id(runner.__self__) for runner in step.ready.values()}
    assert len(runners) <= local.MAX_SPECIALISED + 1


def test_plans_are_bounded(session, monkeypatch):
    monkeypatch.setattr(session._backend, "plans", PlanCache(3))
    x = tf.placeholder(tf.float32, [None])
    ys = [tf.square(x) + float(i) for i in range(8)]
    for _ in range(3):
        for i, y in enumerate(ys):
            for _ in range(3):
                np.testing.assert_array_equal(session.run(y, {x: [2.0]}), [4.0 + i])
    assert len(session._backend.plans) == 3
    assert sum(len(i._prepared.ready) for i in set(session._known.values())) == 3


def test_the_least_used_plan_goes_first():
    class Entry:
        used = False

    gone = []
    cache = PlanCache(2)
    entries = [Entry() for _ in range(3)]
    for number, entry in enumerate(entries[:2]):
        cache.add(entry, lambda number=number: gone.append(number))
    entries[0].used = True
    cache.add(entries[2], lambda: gone.append(2))
    assert gone == [1]
    assert len(cache) == 2


def test_a_kernel_that_breaks_its_contract_is_caught(session, define):
    broken = define("TestBrokenKernel(x: T) -> (y: T) {T: type; how: string}")
    broken.shape(lambda x: x)

    @broken.kernel("CPU")
    def _(ctx, x, *, how):
        return {"dtype": x.astype(np.float64), "shape": x[:1] * 1, "view": x[:], "type": 3.0}[how]

    x = tf.placeholder(tf.float32, [3])
    graph = tf.get_default_graph()
    for how, message in [
        ("dtype", "gave float64, not float32 for output 0"),
        ("shape", r"gave shape \(1,\), where the shape rule, or set_shape, says \(3,\)"),
        ("view", "gave a view of an input for output 0"),
        ("type", "gave a float, not an array"),
    ]:
        node = graph.add_node("TestBrokenKernel", [x], {"T": tf.float32, "how": how})
        with pytest.raises(errors.InternalError, match=message):
            session.run(node.outputs[0], {x: [2.0, 3.0, 5.0]})


# --- control flow ------------------------------------------------------------------------------------------------


def test_only_the_taken_branch_runs(session):
    v = tf.Variable(0.0)
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.assign_add(v, 1.0) * x, lambda: x - tf.constant(5.0))
    session.run(v.initializer)
    count = 0.0
    for taken in (True, False, True, True, False, False, True, True):
        count += taken
        assert session.run(y, {x: 3.0, p: taken}) == (3.0 * count if taken else -2.0)
        assert session.run(v) == count


def test_a_branch_may_give_a_reference(session):
    """Merge reads the variable only where its branch was taken, in generated code too."""
    v, p = tf.Variable(1.0), tf.placeholder(tf.bool, [])
    result = tf.cond(p, lambda: tf.assign_add(v, 10.0), lambda: tf.identity(v))
    both = tf.cond(p, lambda: tf.assign_add(v, 10.0), lambda: tf.assign_add(v, 1.0))
    session.run(v.initializer)
    value = 1.0
    for taken in (True, False, True, True, False, False, True):
        value += 10.0 * taken
        assert session.run(result, {p: taken}) == value
        value += 10.0 if taken else 1.0
        assert session.run(both, {p: taken}) == value


def test_constants_in_branches_and_nested_conds(session):
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    y = tf.cond(
        p,
        lambda: tf.cond(q, lambda: tf.constant(2.0), lambda: tf.constant(3.0)),
        lambda: tf.cond(q, lambda: tf.constant(5.0), lambda: tf.constant(7.0)),
    )
    expected = {(True, True): 2.0, (True, False): 3.0, (False, True): 5.0, (False, False): 7.0}
    for _ in range(4):
        for (first, second), value in expected.items():
            assert session.run(y, {p: first, q: second}) == value


def test_fetching_what_was_not_computed(session):
    p = tf.placeholder(tf.bool, [])
    dead, alive = tf.get_default_graph().add_node("Switch", [tf.constant(2.0), p], {"T": tf.float32}).outputs
    for _ in range(4):
        assert session.run(alive, {p: True}) == 2.0
        with pytest.raises(errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
            session.run(dead, {p: True})


# --- what RunMetadata and RunOptions do --------------------------------------------------------------------------


def test_run_metadata_tells_what_ran(session):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.add(tf.square(x, name="square"), 1.0, name="sum")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    for _ in range(3):
        session.run(y, {x: np.ones((2, 3))}, options=options, run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    stats = {node.node_name: node for node in device.node_stats}
    assert stats["sum"].timeline_label.startswith("sum = Add")
    assert [d.size for d in stats["sum"].output[0].tensor_description.shape.dim] == [2, 3]
    assert stats["square"].all_start_micros <= stats["sum"].all_start_micros
    (partition,) = metadata.partition_graphs
    assert {"square", "sum"} <= {node.name for node in partition.node}
    (graphs,) = metadata.function_graphs
    assert {node.name for node in graphs.post_optimization_graph.node} == {"square", "sum"}


def test_wrong_types_of_options(session):
    a = tf.constant(2.0)
    with pytest.raises(TypeError, match=r"options must be a tf\.RunOptions"):
        session.run(a, options=3)
    with pytest.raises(TypeError, match=r"run_metadata must be a tf\.RunMetadata"):
        session.run(a, run_metadata=3)


def waiting_node(define, started):
    """A node that waits until its step is cancelled."""
    op = define("TestWait(x: resource) -> (y: float) #stateful")
    op.shape(lambda x: TensorShape([]))

    @op.kernel("CPU")
    def _(ctx, x):
        woken = threading.Event()
        unregister = ctx.on_cancel(woken.set)
        started.set()
        assert woken.wait(30)
        unregister()
        raise errors.CancelledError(None, None, "woken")

    graph = tf.get_default_graph()
    handle_op = define("TestHandle() -> (y: resource) #stateful")
    handle_op.shape(lambda: TensorShape([]))
    handle_op.kernel("CPU", handle=True)(lambda ctx: "handle")
    return graph.add_node("TestWait", [graph.add_node("TestHandle", [], {}).outputs[0]], {}).outputs[0]


def test_a_deadline_ends_the_step_and_not_the_session(session, define):
    y = waiting_node(define, threading.Event())
    for _ in range(3):
        with pytest.raises(errors.DeadlineExceededError, match="the step took over 20 ms"):
            session.run(y, options=tf.RunOptions(timeout_in_ms=20))
    assert session.run(tf.constant(2.0)) == 2.0


def test_a_deadline_for_all_steps(define):
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
        y = waiting_node(define, threading.Event())
        for _ in range(3):
            with pytest.raises(errors.DeadlineExceededError):
                session.run(y)
        assert session.run(tf.constant(2.0), options=tf.RunOptions(timeout_in_ms=60_000)) == 2.0


@pytest.mark.parametrize("runs_before", [0, 2])
def test_closing_cancels_what_runs(define, runs_before):
    started = threading.Event()
    seen = []
    with tf.Graph().as_default():
        session = tf.Session()
        y = waiting_node(define, started)
        for _ in range(runs_before):
            with pytest.raises(errors.DeadlineExceededError):
                session.run(y, options=tf.RunOptions(timeout_in_ms=20))
        started.clear()

        def run():
            try:
                session.run(y)
            except errors.OpError as error:
                seen.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        assert started.wait(30)
        session.close()
        thread.join(30)
    assert [type(error) for error in seen] == [errors.CancelledError]


# --- the processor -----------------------------------------------------------------------------------------------


def test_denormals_count_as_zero_within_steps(session):
    if not cpu.FLUSHES_DENORMALS:
        pytest.skip("only glibc on x86-64 lets us")
    x = tf.placeholder(tf.float32, [2])
    tiny = np.array([1e-40, 2.0], np.float32)
    for _ in range(4):
        np.testing.assert_array_equal(session.run(x * 0.5, {x: tiny}), [0.0, 1.0])
    assert session.run(tf.constant(1e-40) * 2.0) == 0.0
    assert (tiny * np.float32(0.5))[0] > 0
    assert 5e-324 * 1.0 > 0


def test_infinities_and_nans_pass_without_a_warning(session):
    x = tf.placeholder(tf.float32, [2])
    y = tf.log(x) / x
    for _ in range(4):
        result = session.run(y, {x: [-1.0, 0.0]})
        assert np.isnan(result[0])
        assert result[1] == -np.inf


def test_the_report_has_what_a_manifest_needs():
    report = cpu.report()
    assert report["cores"] >= 1
    assert report["tasks"] == 1
    assert all(pool["num_threads"] >= 1 for pool in report["blas"])
    with pytest.raises(ValueError, match="at least one task"):
        cpu.share_cores(0)

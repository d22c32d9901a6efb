"""The optimizers of tf.contrib.opt: a few steps of each against its formula in NumPy, dense and sparse."""

import sys

import numpy as np
import pytest

import tfexp as tf

opt = tf.contrib.opt
START = np.float32([[0.5, -0.25, 1.0], [0.75, 0.5, -1.0], [0.125, -0.5, 0.25], [-0.75, 1.5, 0.5], [0.25, 0.25, -0.125]])
DENSE = [np.random.RandomState(i).uniform(-1, 1, START.shape) for i in range(3)]
ROWS = np.array([1, 3, 1])
SPARSE = [np.random.RandomState(i).uniform(-1, 1, (3, 3)) for i in range(3)]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def trained(optimizer, kind, resource=False):
    """The variable after three steps."""
    variable = tf.Variable(START, name="v", use_resource=resource)
    given = tf.placeholder(tf.float32, [None, 3])
    grad = given if kind == "dense" else tf.IndexedSlices(given, tf.constant(ROWS), tf.constant([5, 3]))
    step = optimizer.apply_gradients([(grad, variable)], tf.train.get_or_create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in DENSE if kind == "dense" else SPARSE:
            session.run(step, {given: value})
        return session.run(variable)


def rows_added(values):
    """The gradient as a dense one, and the rows that have one."""
    grad = np.zeros(START.shape)
    np.add.at(grad, ROWS, values)
    return grad, np.isin(np.arange(5), ROWS)[:, None]


def expected(rule, kind, slots):
    """rule(v, *slots, grad, step, touched rows) -> (v, *slots), in float64."""
    state = [START.astype(np.float64), *(np.zeros(START.shape) for _ in range(slots))]
    for step, values in enumerate(DENSE if kind == "dense" else SPARSE, 1):
        grad, touched = (values, np.ones((5, 1), bool)) if kind == "dense" else rows_added(values)
        state = rule(*state, grad, step, touched)
    return state[0]


def adamax(w, m, v, g, step, touched):
    m_new, v_new = 0.9 * m + 0.1 * g, np.maximum(0.99 * v, abs(g))
    moved = w - 0.1 / (1 - 0.9**step) * m_new / (v_new + 1e-3)
    return np.where(touched, moved, w), np.where(touched, m_new, m), np.where(touched, v_new, v)


def adam(lazy=False, nesterov=False, decay=0.0):
    def rule(w, m, v, g, step, touched):
        w = np.where(touched, w - decay * w, w)
        m_new, v_new = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        rate = 0.1 * np.sqrt(1 - 0.99**step) / (1 - 0.9**step)
        moved = w - rate * (0.9 * m_new + 0.1 * g if nesterov else m_new) / (np.sqrt(v_new) + 1e-3)
        if lazy:
            return np.where(touched, moved, w), np.where(touched, m_new, m), np.where(touched, v_new, v)
        return np.where(touched, moved, w) if nesterov else moved, m_new, v_new

    return rule


def momentum(decay):
    def rule(w, m, g, step, touched):
        m_new = np.where(touched, 0.9 * m + g, m)
        return np.where(touched, w - decay * w - 0.1 * m_new, w), m_new

    return rule


def lars(w, m, g, step, touched):
    length, slope = np.linalg.norm(w), np.linalg.norm(g)
    rate = 0.5 * 0.01 * length / (slope + 0.1 * length + 0.2)
    m = 0.9 * m + rate * (g + 0.1 * w)
    return w - m, m


def signs(scale):
    def rule(w, m, g, step, touched):
        m = 0.9 * m + 0.1 * g
        decay = 1 - (step - 1) / 4
        return w - 0.1 * scale(decay * np.sign(m) * np.sign(g)) * g, m

    return rule


ADAM = {"learning_rate": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-3}
DECAY = {"sign_decay_fn": opt.get_linear_decay_fn(4)}
RULES = {
    "adamax": (lambda: opt.AdaMaxOptimizer(**ADAM), adamax, 2),
    "nadam": (lambda: opt.NadamOptimizer(**ADAM), adam(nesterov=True), 2),
    "lazy": (lambda: opt.LazyAdamOptimizer(**ADAM), adam(lazy=True), 2),
    "step": (lambda: opt.AdamGSOptimizer(tf.train.get_or_create_global_step(), **ADAM), adam(), 2),
    "lazy step": (lambda: opt.LazyAdamGSOptimizer(tf.train.get_or_create_global_step(), **ADAM), adam(lazy=True), 2),
    "adamw": (lambda: opt.AdamWOptimizer(0.01, **ADAM), adam(decay=0.01), 2),
    "momentumw": (lambda: opt.MomentumWOptimizer(0.01, 0.1, 0.9), momentum(0.01), 1),
    "callable": (lambda: opt.MomentumWOptimizer(lambda: 0.01, 0.1, 0.9), momentum(0.01), 1),
    "extended": (
        lambda: opt.extend_with_decoupled_weight_decay(tf.train.MomentumOptimizer)(0.01, learning_rate=0.1, momentum=0.9),
        momentum(0.01),
        1,
    ),
    "addsign": (lambda: opt.AddSignOptimizer(alpha=1.5, **DECAY), signs(lambda agreement: 1.5 + agreement), 1),
    "powersign": (lambda: opt.PowerSignOptimizer(base=2.0, **DECAY), signs(lambda agreement: 2.0**agreement), 1),
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", RULES)
def test_steps_are_the_rules(name, kind, resource):
    make, rule, slots = RULES[name]
    np.testing.assert_allclose(trained(make(), kind, resource), expected(rule, kind, slots), rtol=1e-4, atol=1e-6)


def test_lars_and_its_skip_list():
    def make(**options):
        return opt.LARSOptimizer(0.5, weight_decay=0.1, eeta=0.01, epsilon=0.2, **options)

    np.testing.assert_allclose(trained(make(), "dense"), expected(lars, "dense", 1), rtol=1e-4, atol=1e-6)
    with tf.Graph().as_default():
        skipped = trained(make(skip_list=["v"]), "dense")
    plain = momentum(0)
    np.testing.assert_allclose(skipped, START + 5 * (expected(plain, "dense", 1) - START), rtol=1e-4, atol=1e-5)
    for resource in (False, True):
        with tf.Graph().as_default():
            rows = trained(make(), "sparse", resource)
        np.testing.assert_allclose(rows, START + 5 * (expected(plain, "sparse", 1) - START), rtol=1e-4, atol=1e-5)
    for argument in ("momentum", "weight_decay"):
        with pytest.raises(ValueError, match=f"{argument} should be positive"):
            opt.LARSOptimizer(0.1, **{argument: -1.0})


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_penalties_leave_adagrads_rates_alone(kind, resource):
    optimizer = opt.RegAdagradOptimizer(0.5, 0.25)
    variable = tf.Variable(tf.ones([3, 2]), use_resource=resource)
    grad = tf.ones([3, 2]) if kind == "dense" else tf.IndexedSlices(tf.ones([3, 2]), [0, 1, 2], [3, 2])
    with optimizer.avoid_updating_slots():
        penalty = optimizer.apply_gradients([(grad, variable)])
    step = optimizer.apply_gradients([(grad, variable)])
    slot = optimizer.get_slot(variable, "accumulator")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(penalty)
        np.testing.assert_allclose(session.run([variable, slot]), np.full((2, 3, 2), [[[0.0]], [[0.25]]]))
        session.run(step)
        np.testing.assert_allclose(session.run(slot), np.full((3, 2), 1.25))


def test_slots_and_variables_have_names():
    step = opt.AdaMaxOptimizer(name="Max")
    variable = tf.Variable([1.0], name="v")
    step.minimize(tf.reduce_sum(variable**2))
    assert [v.op.name for v in tf.global_variables()] == ["v", "beta1_power", "v/Max", "v/Max_1"]


def test_only_some_variables_decay():
    first, second = tf.Variable([2.0]), tf.Variable([2.0])
    step = opt.AdamWOptimizer(0.5, learning_rate=0.0)
    train = step.minimize(tf.reduce_sum(first * second), decay_var_list=[second])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([first, second]) == [[2.0], [1.0]]


def test_decays_of_signs():
    step = tf.placeholder(tf.int32, [])
    decays = [
        opt.get_linear_decay_fn(10)(step),
        opt.get_cosine_decay_fn(10, num_periods=1.5)(step),
        opt.get_cosine_decay_fn(10, num_periods=1.0, zero_after=0.5)(step),
        opt.get_restart_decay_fn(10, num_periods=2)(step),
        opt.get_restart_decay_fn(10, num_periods=2, zero_after=1)(step),
    ]
    with tf.Session() as session:
        for now in (0, 3, 7, 10, 12):
            part = min(now / 10, 1)
            wave = [(1 + np.cos(angle)) / 2 for angle in (3 * np.pi * part, 2 * np.pi * part, np.pi * (2 * part % 1))]
            wanted = [1 - part, wave[0], wave[1] * (part < 0.5), wave[2], wave[2] * (part < 0.5)]
            np.testing.assert_allclose(session.run(decays, {step: now}), wanted, atol=1e-5)
    for decay in (opt.get_linear_decay_fn(3), opt.get_cosine_decay_fn(3), opt.get_restart_decay_fn(3)):
        with pytest.raises(ValueError, match="global_step is required"):
            decay(None)
    with pytest.raises(ValueError, match="needs a global_step"):
        opt.AddSignOptimizer(**DECAY).apply_gradients([])


def test_averages_are_saved_in_the_place_of_variables(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    step = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(2.0), average_decay=0.5)
    with pytest.raises(RuntimeError, match="Must call apply_gradients or minimize before"):
        step.swapping_saver()
    train = step.minimize(tf.reduce_sum(v), global_step=tf.train.get_or_create_global_step())
    saver = step.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = saver.save(session, str(tmp_path / "model"))
    reader = tf.train.load_checkpoint(path)
    assert reader.get_tensor("v").tolist() == [0.0, 1.0]  # half way between [1, 2] and [-1, 0]
    assert reader.get_tensor("v/ExponentialMovingAverage").tolist() == [-1.0, 0.0]
    with pytest.raises(ValueError, match="to swap is not part of variables to save"):
        step.swapping_saver([v])
    assert step.get_slot_names() == [] and step.variables() == []


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("dims", "axis"), [([0], 0), ([1], 1)])
def test_norms_are_clipped_after_steps(dims, axis, kind):
    v = tf.Variable(np.full((3, 2), 4.0, np.float32), name="v")
    rows = np.arange(3) if kind == "dense" or dims == [0] else np.array([1])
    grad = (
        tf.constant(np.zeros((3, 2), np.float32))
        if kind == "dense"
        else tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([1]))
    )
    step = opt.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(1.0), {v: dims}, 2.0, colocate_clip_ops_with_vars=True
    )
    train = step.apply_gradients([(grad, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = session.run(v)
    wanted = np.full((3, 2), 4.0)
    wanted[rows] = 2 / np.sqrt(3 if axis == 0 else 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    with pytest.raises(ValueError, match=r"Dims contains an invalid dimension: \[2\] of v:0, of shape \(3, 2\)"):
        opt.VariableClippingOptimizer(step, {v: [2]}, 1.0)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_zero_gradients_leave_momentum_alone(kind):
    v = tf.Variable([[1.0], [2.0]])
    given = tf.placeholder(tf.float32, [2, 1])
    grad = given if kind == "dense" else tf.IndexedSlices(given, tf.constant([0, 1]), tf.constant([2, 1]))
    step = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(1.0, 0.5))
    train = step.apply_gradients([(grad, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for gradient in ([[1.0], [0.0]], [[0.0], [0.0]], [[1.0], [0.0]]):
            session.run(train, {given: gradient})
        assert session.run(v).tolist() == [[-1.5], [2.0]]
    with pytest.raises(TypeError, match="must be an instance of"):
        opt.MultitaskOptimizerWrapper("sgd")


def test_gradients_are_clipped_together():
    clipped = opt.clip_gradients_by_global_norm([(tf.constant([30.0]), "a"), (tf.constant([40.0]), "b")])
    with tf.Session() as session:
        assert [v for _, v in clipped] == ["a", "b"]
        np.testing.assert_allclose(session.run([g for g, _ in clipped]), [[12.0], [16.0]])


def test_stale_gradients_are_dropped():
    step, v = tf.train.get_or_create_global_step(), tf.Variable([1.0])
    given = tf.placeholder(tf.int64, [])
    dropping = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness=2)
    with pytest.raises(ValueError, match="needs the global_step"):
        dropping.apply_gradients([])
    pairs = dropping.compute_gradients(tf.reduce_sum(v))
    train = dropping.apply_gradients(pairs, step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step.assign(given), {given: 10})
        for read_at, value, count in ((8, 0.0, 0.0), (8, 0.0, 1.0), (9, -1.0, 1.0)):
            assert session.run(train, {dropping._computed_at: read_at}) == count
            assert session.run([v[0], step, tf.global_variables()[-1]])[::2] == [value, count]
        assert session.run(step) == 12 and tf.global_variables()[-1].op.name == "stale_counter"


class Newton(opt.ExternalOptimizerInterface):
    """One step of a given rate, with what it was asked noted down."""

    def _minimize(self, initial_val, loss_grad_func, **given):
        self.given = given
        self.loss, gradient = loss_grad_func(initial_val)
        self.constraints = [f(initial_val) for f in given["equality_funcs"] + given["inequality_grad_funcs"]]
        return initial_val - given["optimizer_kwargs"]["rate"] * gradient


def test_an_optimizer_of_ones_own():
    v, w = tf.Variable([[1.0, 2.0]], name="v"), tf.Variable(3.0, dtype=tf.float64)
    x = tf.placeholder(tf.float32, [])
    loss = x * tf.reduce_sum(v**2) + tf.cast(w, tf.float32) ** 2
    equality, inequality = tf.reduce_sum(v) - 1.0, v[0, 1] - 1.0
    newton = Newton(loss, equalities=[equality], inequalities=[inequality], var_to_bounds={v: (-1, [[5.0, 6.0]])}, rate=0.25)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        newton.minimize(session, {x: 2.0}, fetches=[loss, v], loss_callback=lambda *values: seen.append(values))
        with pytest.raises(NotImplementedError, match="implement the _minimize"):
            opt.ExternalOptimizerInterface(tf.reduce_sum(v)).minimize(session)
        assert session.run([v, w])[0].tolist() == [[0.0, 0.0]] and session.run(w) == 1.5
    assert newton.loss == seen[0][0] == 19.0 and seen[0][1].tolist() == [[1.0, 2.0]]
    assert newton.constraints[0] == 2.0 and newton.constraints[1].tolist() == [0.0, 1.0, 0.0]
    assert newton.given["packed_bounds"] == [(-1, 5), (-1, 6), (-np.inf, np.inf)]
    with pytest.raises(ValueError, match="minimize needs a session"):
        newton.minimize()


def test_scipy_is_asked_or_asked_for(monkeypatch):
    v = tf.Variable([7.0, 9.0])
    loss = tf.reduce_sum((v - [1.0, 2.0]) ** 2)
    calls = []

    class Stub:
        @staticmethod
        def minimize(function, start, **options):
            calls.append(options)
            loss, gradient = function(start)
            assert isinstance(loss, float) and loss == 85.0
            return {"x": start - gradient / 2}

    module = type(sys)("scipy.optimize")
    module.minimize = Stub.minimize
    package = type(sys)("scipy")
    package.optimize = module
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "scipy", None)
            with pytest.raises(ImportError, match="pip install scipy"):
                opt.ScipyOptimizerInterface(loss).minimize(session)
        monkeypatch.setitem(sys.modules, "scipy", package)
        monkeypatch.setitem(sys.modules, "scipy.optimize", module)
        opt.ScipyOptimizerInterface(loss, options={"maxiter": 3}).minimize(session)
        assert session.run(v).tolist() == [1.0, 2.0]
        session.run(v.assign([7.0, 9.0]))
        opt.ScipyOptimizerInterface(loss, equalities=[v[0] - 1.0]).minimize(session)
    assert (calls[0]["method"], calls[0]["options"]) == ("L-BFGS-B", {"maxiter": 3})
    assert calls[1]["method"] == "SLSQP" and calls[1]["constraints"][0]["type"] == "eq"


def test_gradients_are_clipped_all_together():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=[3.0, 4.0])
        clipped = tf.contrib.estimator.clip_gradients_by_norm(tf.train.MomentumOptimizer(0.1, 0.9), 0.5)
        train = clipped.minimize(tf.reduce_sum(variable * variable))
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(variable), [3 - 0.1 * 0.3, 4 - 0.1 * 0.4], rtol=1e-6)
        assert clipped.get_name() == "ClipByNormMomentum" and clipped.get_slot(variable, "momentum") is not None


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rms_of_version_2_start_from_zeros(kind):
    expected, rms = START.astype(np.float64), np.zeros(START.shape)
    for values in DENSE if kind == "dense" else SPARSE:
        grad, has = (values, True) if kind == "dense" else rows_added(values)
        rms = np.where(has, 0.9 * rms + 0.1 * grad**2, rms)
        expected -= np.where(has, 0.01 * grad / np.sqrt(rms + 1e-10), 0)
    np.testing.assert_allclose(trained(tf.contrib.optimizer_v2.RMSPropOptimizer(0.01), kind), expected, rtol=1e-5)

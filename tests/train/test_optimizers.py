"""`tf.train.Optimizer`: both halves of minimize, slots, what is refused, subclasses of one's own."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors


def names(elements: Any) -> list[str]:
    return [element.name for element in elements]


# --- compute_gradients, edit, apply_gradients ----------------------------------------------------------------------------


def test_edited_gradients_are_applied() -> None:
    """The notes' clipping: gradients out, changed, and in again."""
    w = tf.Variable([3.0, 4.0], name="w")
    b = tf.Variable(0.5, name="b")
    opt = tf.train.GradientDescentOptimizer(1.0)
    pairs = opt.compute_gradients(tf.reduce_sum(w * w) / 2.0 + b)
    clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
    train = opt.apply_gradients(clipped)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(w), [3.0 - 0.6, 4.0 - 0.8], rtol=1e-6)
        assert session.run(b) == -0.5


def test_global_norm_clipping() -> None:
    v, w = tf.Variable([3.0, 0.0]), tf.Variable([[0.0], [4.0]])
    opt = tf.train.GradientDescentOptimizer(1.0)
    grads, variables = zip(*opt.compute_gradients(tf.reduce_sum(v * v) / 2.0 + tf.reduce_sum(w * w) / 2.0), strict=True)
    clipped, norm = tf.clip_by_global_norm(grads, 1.0)
    train = opt.apply_gradients(zip(clipped, variables, strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(norm) == 5.0
        session.run(train)
        np.testing.assert_allclose(session.run(v), [2.4, 0.0], rtol=1e-6)
        np.testing.assert_allclose(session.run(w), [[0.0], [3.2]], rtol=1e-6)


def test_clipped_values_and_missing_gradients() -> None:
    v, unrelated = tf.Variable([3.0, -0.25]), tf.Variable(1.0)
    opt = tf.train.GradientDescentOptimizer(1.0)
    pairs = opt.compute_gradients(tf.reduce_sum(v * v) / 2.0)
    assert pairs[1][0] is None and pairs[1][1] is unrelated
    train = opt.apply_gradients([(None if g is None else tf.clip_by_value(g, -0.5, 0.5), x) for g, x in pairs])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v).tolist() == [2.5, 0.0]
        assert session.run(unrelated) == 1.0


@pytest.mark.parametrize("gate", [0, 1, 2])
def test_gating_changes_no_value(gate: int) -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    opt = tf.train.GradientDescentOptimizer(0.5)
    pairs = opt.compute_gradients(v * w, gate_gradients=gate)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([g for g, _ in pairs]) == [3.0, 2.0]


def test_gradients_of_tensors_and_scaled_losses() -> None:
    v = tf.Variable(3.0)
    inner = v * 2.0
    opt = tf.train.GradientDescentOptimizer(0.1)
    ((grad, target),) = opt.compute_gradients(inner * inner, var_list=[inner], grad_loss=tf.constant(10.0))
    assert target is inner
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(grad) == 120.0
    with pytest.raises(NotImplementedError) as caught:
        opt.apply_gradients([(grad, inner)])
    assert caught.value.args[0] == "Trying to update a Tensor " and caught.value.args[1] is inner


def test_a_function_trains_what_it_reads() -> None:
    with tf.variable_scope("", use_resource=True):
        a, b, unread = (tf.get_variable(name, initializer=value) for name, value in [("a", 2.0), ("b", 3.0), ("c", 5.0)])
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    pairs = optimizer.compute_gradients(lambda: b * a * a, grad_loss=2.0)
    assert [v for _, v in pairs] == [a, b]  # in the order of their making
    (given, variable), *_ = optimizer.compute_gradients(lambda: a * a, var_list=[unread, a])
    assert given is None and variable is unread
    before = a * b
    assert optimizer.compute_gradients(lambda: before) == []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([g for g, _ in pairs]) == [24, 8]


def test_the_step_counts_after_the_updates() -> None:
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(v * v, global_step=step, name="descend")
    assert train.name == "descend" and train.type == "AssignAdd"
    assert names(train.control_inputs) == [] and train.inputs[0].op.name == "global_step"
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(train)
        assert session.run([step, v]) == [5, 0.0]


def test_constraints_hold_after_the_update() -> None:
    v = tf.Variable([1.0, -1.0], constraint=lambda x: tf.clip_by_value(x, -0.5, 0.5))
    train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(v * 2.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v).tolist() == [0.5, -0.5]
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(v, [1])))


def test_a_rate_of_another_dtype_is_cast() -> None:
    rate = tf.placeholder(tf.float64, [])
    v = tf.Variable(tf.zeros([2], tf.float16))
    train = tf.train.GradientDescentOptimizer(rate).minimize(tf.reduce_sum(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {rate: 0.5})
        assert session.run(v).tolist() == [-0.5, -0.5]


# --- slots -------------------------------------------------------------------------------------------------------------


def test_slots_and_other_variables() -> None:
    v = tf.Variable([1.0, -1.0], name="v")
    opt = tf.train.AdamOptimizer(0.1, name="Mine")
    assert opt.get_slot(v, "m") is None and opt.get_slot_names() == []
    opt.minimize(tf.reduce_sum(v * v))
    assert opt.get_slot_names() == ["m", "v"]
    assert opt.get_slot(v, "m").name == "v/Mine:0" and opt.get_slot(v, "v").name == "v/Mine_1:0"
    assert opt.get_slot(v, "other") is None
    assert names(opt.variables()) == ["beta1_power:0", "beta2_power:0", "v/Mine:0", "v/Mine_1:0"]
    assert names(opt._get_beta_accumulators()) == ["beta1_power:0", "beta2_power:0"]  # as programs get them
    assert opt.get_slot(v, "m") not in tf.trainable_variables()
    with tf.Graph().as_default():
        assert opt.variables() == []


def test_one_optimizer_in_two_graphs() -> None:
    opt = tf.train.AdamOptimizer(0.1)
    for _ in range(2):
        with tf.Graph().as_default():
            v = tf.Variable([1.0], name="v")
            opt.minimize(tf.reduce_sum(v * v))
            assert names(opt.variables()) == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]


def test_slots_of_partitions_are_partitions() -> None:
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [5, 2], initializer=tf.ones_initializer())
    opt = tf.train.MomentumOptimizer(0.1, 0.9)
    opt.minimize(tf.reduce_sum(tf.convert_to_tensor(w) ** 2))
    infos = [v._get_save_slice_info() for v in opt.variables()]
    assert [(i.full_name, i.spec) for i in infos] == [
        ("s/w/Momentum", "5 2 0,3:0,2"),
        ("s/w/Momentum", "5 2 3,2:0,2"),
    ]


def test_slots_of_a_variable_whose_shape_only_the_run_knows() -> None:
    start = tf.placeholder(tf.float32)
    v = tf.Variable(start, validate_shape=False)
    opt = tf.train.AdagradOptimizer(0.5, initial_accumulator_value=1.0)
    train = opt.minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer(), {start: [[1.0, 2.0, 3.0]]})
        session.run(train)
        assert session.run(opt.get_slot(v, "accumulator")).tolist() == [[5.0, 17.0, 37.0]]


def test_a_subclass_needs_one_method() -> None:
    class SignDescent(tf.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "SignDescent")

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return tf.assign_sub(var, 0.5 * tf.sign(grad))

    v = tf.Variable([1.0, -1.0])
    train = SignDescent().minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v).tolist() == [0.5, -0.5]
    with pytest.raises(NotImplementedError):
        SignDescent().minimize(tf.reduce_sum(tf.gather(v, [0])))


# --- refused -----------------------------------------------------------------------------------------------------------


class _Told(tf.train.GradientDescentOptimizer):
    """Says which of its methods were called, and does what gradient descent does."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.told: list[str] = []

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        self.told.append("dense")
        return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        self.told.append("resource dense")
        return super()._resource_apply_dense(grad, handle)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        self.told.append("resource sparse")
        return handle.scatter_sub(tf.IndexedSlices(grad, indices))

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        return tf.train.Optimizer._resource_apply_sparse_duplicate_indices(self, grad, handle, indices)


def test_a_subclass_may_treat_variables_behind_handles_in_its_own_way() -> None:
    plain = tf.get_variable("plain", initializer=[1.0, 2.0], use_resource=False)
    handled = tf.get_variable("handled", initializer=[3.0, 4.0], use_resource=True)
    rows = tf.get_variable("rows", initializer=[5.0, 6.0, 7.0], use_resource=True)
    opt = _Told()
    loss = tf.reduce_sum(plain) + tf.reduce_sum(handled) + tf.reduce_sum(tf.gather(rows, [2, 0, 2]))
    train = opt.minimize(loss)
    assert opt.told == ["dense", "resource dense", "resource sparse"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        for variable, expected in ((plain, [0, 1]), (handled, [2, 3]), (rows, [4, 6, 5])):
            np.testing.assert_array_equal(session.run(variable), expected)


def test_what_a_subclass_says_of_variables_holds_for_those_behind_handles() -> None:
    class Once(tf.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "Once")

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return var.assign_sub(grad * self._call_if_callable(lambda: 2.0))

        def _apply_sparse(self, grad: Any, var: Any) -> Any:
            return var.scatter_sub(grad)

    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    rows = tf.get_variable("rows", initializer=[5.0, 6.0], use_resource=True)
    train = Once().minimize(tf.reduce_sum(v) + tf.reduce_sum(tf.gather(rows, [1, 1])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_array_equal(session.run(v), [-1, 0])
        np.testing.assert_array_equal(session.run(rows), [5, 4])


def test_what_cannot_be_minimized() -> None:
    opt = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match=r"No variables to optimize\."):
        opt.minimize(tf.constant(1.0))
    v, w, n = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w"), tf.Variable(1, name="n", trainable=False)
    with pytest.raises(ValueError, match="No gradients provided for any variable, check your graph"):
        opt.minimize(v * 2.0, var_list=[w])
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        opt.compute_gradients(v * 2.0, gate_gradients=7)
    with pytest.raises(ValueError, match=r"Invalid type tf.int32 for Cast:0, expected: \["):
        opt.compute_gradients(tf.cast(v, tf.int32))
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        opt.minimize(tf.cast(n, tf.float32), var_list=[n])
    with pytest.raises(ValueError, match=r"No variables provided\."):
        opt.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        opt.apply_gradients([(None, v)])
    with pytest.raises(TypeError, match="Gradient must be convertible to a Tensor or IndexedSlices, or None"):
        opt.apply_gradients([(object(), v)])
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.Optimizer(False, "")


def test_gradients_that_do_not_fit() -> None:
    opt = tf.train.GradientDescentOptimizer(0.1)
    v = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
        opt.apply_gradients([([1.0, 2.0, 3.0], v)])
    with pytest.raises(TypeError, match="float64"):
        opt.apply_gradients([(np.array([1.0, 2.0]), v)])
    unknown = tf.placeholder(tf.float32)
    train = opt.apply_gradients([(unknown, v)])
    with tf.Session() as session:
        with pytest.raises(errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
            session.run(train, {unknown: [1.0, 1.0]})
        session.run(v.initializer)
        for _ in range(3):  # interpreted, planned, compiled
            with pytest.raises(errors.InvalidArgumentError, match=r"var and delta do not have the same shape\[2\] \[3\]"):
                session.run(train, {unknown: [1.0, 2.0, 3.0]})
        assert session.run(v).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0),
            "initial_accumulator_value must be positive",
        ),
        (lambda: tf.train.ProximalAdagradOptimizer(0.1, initial_accumulator_value=-1.0), "must be positive"),
        (lambda: tf.train.AdagradDAOptimizer(0.1, None, 0.0), "must be positive"),
        (lambda: tf.train.FtrlOptimizer(0.1, initial_accumulator_value=-1.0), "initial_accumulator_value -1.0"),
        (lambda: tf.train.FtrlOptimizer(0.1, learning_rate_power=1.0), "needs to be negative or zero"),
        (lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0), "l1_regularization_strength -1.0"),
        (lambda: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=-1.0), "l2_regularization_strength -1.0"),
        (lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-1.0), "needs to be positive or zero"),
    ],
)
def test_hyperparameters_out_of_range(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


# --- several threads ---------------------------------------------------------------------------------------------------


def test_threads_that_train_at_once_get_the_numbers_of_training_alone() -> None:
    threads, steps, size = 3, 20, 70_001
    gradients = [np.linspace(-1.0, i, size, dtype=np.float32) for i in range(1, threads + 1)]
    fed = [tf.placeholder(tf.float32, [size]) for _ in gradients]
    variables = [tf.Variable(tf.zeros([size])) for _ in gradients]
    trains = [tf.train.AdamOptimizer(0.01).apply_gradients([(x, v)]) for x, v in zip(fed, variables, strict=True)]

    def train(session: Any, i: int) -> None:
        for _ in range(steps):
            session.run(trains[i], {fed[i]: gradients[i]})

    results = []
    for at_once in (False, True):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            workers = [threading.Thread(target=train, args=[session, i]) for i in range(threads)]
            for worker in workers:
                worker.start()
                if not at_once:
                    worker.join()
            for worker in workers:
                worker.join()
            results.append(session.run(variables))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("what", [3, "a", None])
def test_what_is_no_variable_is_not_optimized(what: object) -> None:
    loss = tf.Variable(1.0) * 2
    with pytest.raises(AttributeError, match="only variables and tensors are"):
        tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, var_list=[what])


@pytest.mark.parametrize(
    ("optimizer", "first"),
    [
        (tf.train.ProximalGradientDescentOptimizer(0.1), [0.8, 1.6]),
        (tf.train.ProximalAdagradOptimizer(0.1), [1 - 0.2 / np.sqrt(4.1), 2 - 0.4 / np.sqrt(16.1)]),
    ],
)
def test_rows_of_doubles_take_proximal_steps(optimizer: Any, first: list[float]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float64, use_resource=True)
        step = optimizer.minimize(tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, [0]))))
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(table), [first, [3, 4]])

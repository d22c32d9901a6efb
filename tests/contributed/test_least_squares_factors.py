"""Factors of sparse matrices: each sweep solves least squares, as NumPy does; an estimator turns from rows to columns."""

import numpy as np
import pytest

import tfexp as tf

factorization = tf.contrib.factorization

pytestmark = pytest.mark.usefixtures("quiet")

random = np.random.default_rng(7)
MATRIX = np.where(random.uniform(size=(5, 7)) > 0.4, random.uniform(1, 3, (5, 7)), 0).astype(np.float32)
U, V = random.normal(size=(5, 2)).astype(np.float32), random.normal(size=(7, 2)).astype(np.float32)
ROW_WEIGHTS, COL_WEIGHTS = [0.3, 0.5, 1.0, 0.2, 0.7], [0.1, 0.9, 0.4, 0.6, 0.5, 0.8, 0.2]
WEIGHTS = 0.05 + np.outer(ROW_WEIGHTS, COL_WEIGHTS) * (MATRIX != 0)


def solved(matrix, weights, v, regularization):
    damping = regularization * np.eye(v.shape[1])
    return np.stack([np.linalg.solve(v.T * w @ v + damping, v.T * w @ a) for a, w in zip(matrix, weights, strict=True)])


def cells(matrix, rows=None):
    at = np.argwhere(matrix)
    at = at if rows is None else at[np.isin(at[:, 0], rows)]
    return tf.SparseTensor(at, matrix[tuple(at.T)], matrix.shape)


def sweep(session, model, row_updates, col_updates):
    session.run(model.row_update_prep_gramian_op)
    session.run(model.initialize_row_update_op)
    for update in row_updates:
        session.run(update[1])
    session.run(model.col_update_prep_gramian_op)
    session.run(model.initialize_col_update_op)
    return [session.run(update) for update in col_updates]


@pytest.mark.parametrize(("shards", "is_cached"), [(1, True), (2, True), (3, False)])
def test_sweeps_solve_least_squares(shards, is_cached):
    with tf.Graph().as_default(), tf.Session() as session:
        first = [np.array_split(factors, shards) for factors in (U, V)]
        weights = [[part.tolist() for part in np.array_split(one, shards)] for one in (ROW_WEIGHTS, COL_WEIGHTS)]
        model = factorization.WALSModel(
            *(5, 7, 2, 0.05, 0.2, *first, shards, shards, *weights),
            use_factors_weights_cache=is_cached,
            use_gramian_cache=is_cached,
        )
        rows = [model.update_row_factors(cells(MATRIX, [0, 3])), model.update_row_factors(cells(MATRIX, [4, 1, 2]))]
        cols = model.update_col_factors(cells(MATRIX.T), transpose_input=True)
        projected = model.project_col_factors(cells(MATRIX), projection_weights=COL_WEIGHTS)
        session.run(model.initialize_op)
        session.run(model.worker_init)
        u, v = U, V
        for _ in range(2):
            [(new, _, loss, regularization, total)] = sweep(session, model, rows, [cols])
            u = solved(MATRIX, WEIGHTS, v, 0.2)
            v = solved(MATRIX.T, WEIGHTS.T, u, 0.2)
        np.testing.assert_allclose(np.concatenate(session.run(model.row_factors)), u, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(np.concatenate(session.run(model.col_factors)), v, rtol=1e-3, atol=1e-4)
        assert loss == pytest.approx(np.sum(WEIGHTS * (MATRIX - u @ v.T) ** 2), rel=1e-3)
        assert regularization == pytest.approx(0.2 * (np.sum(u**2) + np.sum(v**2)), rel=1e-3)
        assert total == pytest.approx(WEIGHTS.sum(), rel=1e-5)
        order = list(dict.fromkeys(np.argwhere(MATRIX)[:, 1]))
        assert new.shape == (7, 2)
        by_place = WEIGHTS.T[order] - 0.05
        by_place *= np.array(COL_WEIGHTS)[:, None] / np.array(COL_WEIGHTS)[order][:, None]
        np.testing.assert_allclose(
            session.run(projected), solved(MATRIX.T[order], 0.05 + by_place, u, 0.2), rtol=1e-3, atol=1e-4
        )


def test_entries_without_weights_of_their_own_count_as_all_others():
    with tf.Graph().as_default(), tf.Session() as session:
        model = factorization.WALSModel(5, 7, 2, 0.3, None, U, V, row_weights=None, col_weights=None)
        rows, cols = model.update_row_factors(cells(MATRIX)), model.update_col_factors(cells(MATRIX))
        session.run(model.initialize_op)
        session.run(model.worker_init)
        sweep(session, model, [rows], [cols])
        expected = solved(MATRIX, np.ones([5, 7]), V, 0)
        np.testing.assert_allclose(session.run(model.row_factors[0]), expected, rtol=1e-3, atol=1e-4)
        assert model.row_weights is None
        assert model.col_weights is None


def test_variables_have_tensorflows_names():
    with tf.Graph().as_default():
        factorization.WALSModel(5, 7, 2, num_col_shards=2, use_scoped_vars=True)
        assert [v.op.name for v in tf.global_variables()] == [
            "row_weights/row_weights_shard_0",
            "col_weights/col_weights_shard_0",
            "col_weights/col_weights_shard_1",
            "row_factors/row_factors_shard_0",
            "col_factors/col_factors_shard_0",
            "col_factors/col_factors_shard_1",
            "row_gramian",
            "col_gramian",
        ]
        assert "transient_vars/row_gramian_cache" in [v.op.name for v in tf.local_variables()]


def test_other_weights_are_refused():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="both None"):
            factorization.WALSModel(5, 7, 2, row_weights=None)
        with pytest.raises(ValueError, match="Invalid weight initialization argument -1"):
            factorization.WALSModel(5, 7, 2, row_weights=-1)
        with pytest.raises(ValueError, match="col_weights: 1 parts are given for 2 shards"):
            factorization.WALSModel(5, 7, 2, num_col_shards=2, col_weights=[COL_WEIGHTS])


def test_an_estimator_sweeps_over_rows_and_columns(tmp_path):
    kind = factorization.WALSMatrixFactorization

    def given(is_row=None):
        features = {kind.INPUT_ROWS: cells(MATRIX), kind.INPUT_COLS: cells(MATRIX.T)}
        return (features if is_row is None else features | {kind.PROJECT_ROW: tf.constant(is_row)}), None

    model = kind(5, 7, 2, 0.05, 0.2, U, V, 1, 1, ROW_WEIGHTS, COL_WEIGHTS, max_sweeps=3, model_dir=str(tmp_path))
    model.fit(input_fn=lambda: given(), steps=20)
    u = solved(MATRIX, WEIGHTS, V, 0.2)
    v = solved(MATRIX.T, WEIGHTS.T, u, 0.2)
    u = solved(MATRIX, WEIGHTS, v, 0.2)
    np.testing.assert_allclose(model.get_row_factors()[0], u, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.get_col_factors()[0], v, rtol=1e-3, atol=1e-4)
    assert model.get_variable_value("completed_sweeps") == model.get_variable_value("global_step") == 3
    by_rows = model.get_projections(lambda: given(True))
    order = list(dict.fromkeys(np.argwhere(MATRIX)[:, 0]))
    weights = 0.05 + np.array(COL_WEIGHTS) * (MATRIX != 0)
    projected = np.stack([next(by_rows) for _ in order])
    np.testing.assert_allclose(projected, solved(MATRIX, weights, v, 0.2)[order], rtol=1e-3, atol=1e-4)
    loss = np.sum(WEIGHTS * (MATRIX - u @ v.T) ** 2) + 0.2 * (np.sum(u**2) + np.sum(v**2))
    assert model.evaluate(input_fn=lambda: given(True), steps=1)["loss"] == pytest.approx(loss, rel=1e-3)

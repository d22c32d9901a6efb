"""tf.contrib.image: what moves where."""

import numpy as np
import pytest

import tfexp as tf

image = tf.contrib.image


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 2), (2, 3, 5, 2)])
def test_images_of_all_ranks_are_moved_and_turned(shape, dtype):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    rows, columns = (0, 1) if len(shape) < 4 else (1, 2)
    moved, turned, same = run(
        image.translate(x, [1.0, -1.0]), image.rotate(x, np.pi), image.transform(x, [1, 0, 0, 0, 1, 0, 0, 0], "BILINEAR")
    )
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(turned, np.flip(x, (rows, columns)))
    wanted = np.roll(x, (-1, 1), (rows, columns))
    wanted[(slice(None),) * rows + (-1,)] = 0
    wanted[(slice(None),) * columns + (0,)] = 0
    np.testing.assert_array_equal(moved, wanted)


def test_a_quarter_turn_is_counterclockwise():
    x = np.arange(9).reshape(3, 3).astype(np.float32)
    turned, each = run(image.rotate(x, np.pi / 2), image.rotate(np.stack([x, x])[..., None], [np.pi / 2, 0.0]))
    np.testing.assert_array_equal(turned, np.rot90(x))
    np.testing.assert_array_equal(each[..., 0], [np.rot90(x), x])


def test_output_shapes_and_composed_transforms():
    x = tf.constant(np.random.RandomState(0).rand(1, 5, 7, 2))
    right, turn = (
        image.translations_to_projective_transforms([2.0, 0.0]),
        image.angles_to_projective_transforms(np.pi, 5.0, 7.0),
    )
    one_by_one = image.transform(image.transform(x, right), turn)
    at_once = image.transform(x, image.compose_transforms(right, turn))
    larger = image.transform(x, right, output_shape=[4, 9])
    assert larger.shape.as_list() == [1, 4, 9, 2] and at_once.shape.as_list() == [1, 5, 7, 2]
    first, second, larger, x = run(one_by_one, at_once, larger, x)
    np.testing.assert_allclose(first, second)
    np.testing.assert_array_equal(larger[:, :, 2:], x[:, :4])


def spline(points, values, queries, order, weight=0.0):
    """By the normal equations, a batch element at a time."""

    def phi(r):
        r = np.maximum(r, 1e-5)
        return r**order if order % 2 else r**order * np.log(r)

    results = []
    for c, f, q in zip(points, values, queries):
        n, d = c.shape
        a = phi(np.linalg.norm(c[:, None] - c, axis=-1)) + weight * np.eye(n)
        b = np.append(c, np.ones((n, 1)), 1)
        matrix = np.block([[a, b], [b.T, np.zeros((d + 1, d + 1))]])
        solved = np.linalg.solve(matrix, np.append(f, np.zeros((d + 1, f.shape[1])), 0))
        bent = phi(np.linalg.norm(q[:, None] - c, axis=-1)) @ solved[:n]
        results.append(bent + np.append(q, np.ones((len(q), 1)), 1) @ solved[n:])
    return np.stack(results)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_splines(order):
    random = np.random.RandomState(order)
    points, values, queries = random.rand(2, 7, 2), random.rand(2, 7, 3), random.rand(2, 5, 2)
    given = [tf.constant(a) for a in (points, values, queries)]
    found, through, near = run(
        image.interpolate_spline(*given, order),
        image.interpolate_spline(given[0], given[1], given[0], order),
        image.interpolate_spline(*given, order, regularization_weight=0.5),
    )
    np.testing.assert_allclose(found, spline(points, values, queries, order), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(through, values, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(near, spline(points, values, queries, order, 0.5), rtol=1e-4, atol=1e-4)


def test_dense_warps_read_between_pixels_and_at_the_edge():
    random = np.random.RandomState(0)
    x, flow = random.rand(2, 4, 5, 3), random.uniform(-2, 2, (2, 4, 5, 2))
    placed, moved = tf.constant(x), tf.constant(flow)
    warped = image.dense_image_warp(placed, moved)
    grads = tf.gradients(warped, [placed, moved])
    found, of_image, of_flow = run(warped, *grads)
    wanted = np.zeros_like(x)
    for n, row, column in np.ndindex(2, 4, 5):
        y = np.clip(row - flow[n, row, column, 0], 0, 3)
        z = np.clip(column - flow[n, row, column, 1], 0, 4)
        top, left = min(int(y), 2), min(int(z), 3)
        for i, j in np.ndindex(2, 2):
            wanted[n, row, column] += (1 - abs(y - top - i)) * (1 - abs(z - left - j)) * x[n, top + i, left + j]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert of_image.sum() == pytest.approx(x.size) and np.isfinite(of_flow).all() and np.abs(of_flow).max() > 0.1


def test_sparse_warps_take_points_where_they_should_go():
    x = np.zeros((1, 9, 9, 1), np.float32)
    x[0, 3, 4] = 1.0
    source, target = tf.constant([[[3.0, 4.0]]]), tf.constant([[[5.0, 6.0]]])
    warped, flow = image.sparse_image_warp(x, source, target, num_boundary_points=2)
    assert warped.shape.as_list() == [1, 9, 9, 1] and flow.shape.as_list() == [1, 9, 9, 2]
    warped, flow = run(warped, flow)
    assert warped[0, 5, 6, 0] == pytest.approx(1, abs=1e-3) and np.unravel_index(warped.argmax(), (9, 9)) == (5, 6)
    np.testing.assert_allclose(flow[0, 5, 6], [2, 2], atol=1e-3)
    np.testing.assert_allclose(flow[0, [0, 0, 8, 4, 0], [0, 8, 8, 0, 4]], 0, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: image.transform(tf.zeros([3]), [1.0] * 8), TypeError, "rank between 2 and 4, but have 1"),
        (lambda: image.transform(tf.placeholder(tf.float32), [1.0] * 8), TypeError, "must be statically known"),
        (lambda: image.transform(tf.zeros([3, 3], tf.bool), [1.0] * 8), TypeError, "Invalid dtype"),
        (lambda: image.transform(tf.zeros([3, 3]), tf.zeros([1, 1, 8])), TypeError, "but got rank 3"),
        (lambda: image.transform(tf.zeros([3, 3]), [1.0] * 8, output_shape=[3]), ValueError, "1-D Tensor of 2 elements"),
        (lambda: image.rotate(tf.zeros([3, 3]), [[1.0]]), TypeError, "Angles should have rank 0 or 1"),
        (lambda: image.translate(tf.zeros([3, 3]), 1.0), TypeError, "Translations should have rank 1 or 2, but have 0"),
        (lambda: image.compose_transforms(), ValueError, "transforms cannot be empty"),
        (lambda: image.dense_image_warp(tf.zeros([1, 1, 3, 1]), tf.zeros([1, 1, 3, 2])), ValueError, "at least 2x2"),
        (
            lambda: image.sparse_image_warp(tf.zeros([1, 3, 3, 1]), [[[1.0, 1]]], [[[1.0, 1]]], num_boundary_points=-1),
            ValueError,
            "must be at least 0",
        ),
    ],
)
def test_what_they_refuse(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_areas_are_numbered_through_the_batch_and_pairs_are_the_nearest():
    pixels = np.int32([[[1, 1, 0, 2], [0, 1, 0, 1], [2, 0, 0, 1]]] * 2)
    numbers = [[1, 1, 0, 2], [0, 1, 0, 3], [4, 0, 0, 3]]
    areas, one, pairs = run(
        image.connected_components(pixels),
        image.connected_components(pixels[0]),
        image.bipartite_match([[0.8, 0.4, 0.5], [0.3, 0.9, 0.1]], 2.0),
    )
    assert one.tolist() == numbers and areas.tolist() == [numbers, np.where(pixels[0], np.add(numbers, 4), 0).tolist()]
    assert pairs.row_to_col_match_indices.tolist() == [1, 2] and pairs.col_to_row_match_indices.tolist() == [-1, 0, 1]
    with pytest.raises(TypeError, match="should have rank 2"):
        image.connected_components([1, 2])

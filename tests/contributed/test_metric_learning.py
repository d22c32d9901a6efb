"""tf.contrib.losses.metric_learning against sums over pairs and triples as the papers write them."""

import itertools

import numpy as np
import pytest

import tfexp as tf

losses = tf.contrib.losses.metric_learning
LABELS = np.array([0, 1, 0, 2, 1, 0, 3])
ANCHORS, POSITIVES = np.random.RandomState(5).randn(2, 7, 3)
PAIRS = [(i, j) for i, j in itertools.permutations(range(7), 2) if LABELS[i] == LABELS[j]]


def value(loss, *inputs):
    """The loss, and whether its gradients are finite."""
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(x, tf.float32) for x in inputs]
        made = loss(*tensors)
        got, gradients = session.run([made, tf.gradients(made, tensors)])
        assert all(np.isfinite(g).all() for g in gradients)
        return got


def distance(i, j):
    return np.linalg.norm(ANCHORS[i] - ANCHORS[j])


def test_contrastive():
    same = np.array([0, 1, 1, 0, 0, 1, 0])
    apart = np.linalg.norm(ANCHORS - POSITIVES, axis=1)
    wanted = np.mean(np.where(same, apart**2, np.maximum(2 - apart, 0) ** 2))
    np.testing.assert_allclose(
        value(lambda a, p: losses.contrastive_loss(same, a, p, 2.0), ANCHORS, POSITIVES), wanted, rtol=1e-5
    )


def test_triplets():
    terms = []
    for a, p in PAIRS:
        others = [distance(a, n) ** 2 for n in range(7) if LABELS[n] != LABELS[a]]
        farther = [d for d in others if d > distance(a, p) ** 2]
        terms.append(max(0.7 + distance(a, p) ** 2 - (min(farther) if farther else max(others)), 0))
    got = value(lambda x: losses.triplet_semihard_loss(LABELS, x, 0.7), ANCHORS)
    np.testing.assert_allclose(got, np.mean(terms), rtol=1e-4)


def test_lifted_structure():
    terms = []
    for i, j in PAIRS:
        near = sum(np.exp(0.7 - distance(k, n)) for k in (i, j) for n in range(7) if LABELS[n] != LABELS[k])
        terms.append(max(np.log(near) + distance(i, j), 0) ** 2)
    got = value(lambda x: losses.lifted_struct_loss(LABELS, x, 0.7), ANCHORS)
    np.testing.assert_allclose(got, np.mean(terms) / 2, rtol=1e-4)


def pairs_loss(shared):
    alike = ANCHORS @ POSITIVES.T
    logs = alike - np.log(np.exp(alike).sum(1, keepdims=True))
    size = (ANCHORS**2).sum(1).mean() + (POSITIVES**2).sum(1).mean()
    return -(shared / shared.sum(1, keepdims=True) * logs).sum(1).mean() + 0.25 * 0.002 * size


def test_pairs_of_one_label_each():
    got = value(lambda a, p: losses.npairs_loss(LABELS, a, p), ANCHORS, POSITIVES)
    np.testing.assert_allclose(got, pairs_loss((LABELS[:, None] == LABELS).astype(float)), rtol=1e-5)


def test_pairs_of_several_labels_each():
    have = [{1, 2}, {2}, {1, 3, 4}, {0}, {2, 3}, {1}, {4}]
    shared = np.array([[len(a & b) for b in have] for a in have], float)

    def loss(a, p):
        labels = [tf.SparseTensor([[k] for k in sorted(one)], [1] * len(one), [5]) for one in have]
        return losses.npairs_loss_multilabel(labels, a, p)

    np.testing.assert_allclose(value(loss, ANCHORS, POSITIVES), pairs_loss(shared), rtol=1e-5)
    with pytest.raises(TypeError, match="list of SparseTensors"):
        losses.npairs_loss_multilabel([[1]], ANCHORS, POSITIVES)

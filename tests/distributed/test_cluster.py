"""`tf.train.ClusterSpec`."""

from __future__ import annotations

from typing import Any

import pytest

import tfexp as tf

ClusterSpec = tf.train.ClusterSpec
DENSE = {"worker": ["c:3", "d:4"], "ps": ["a:1"]}
SPARSE = {"ps": {3: "x:1", 1: "y:2"}, "worker": ["q:3"]}


def test_a_dense_cluster() -> None:
    spec = ClusterSpec(DENSE)
    assert spec.jobs == ["ps", "worker"] and spec.as_dict() == DENSE and spec
    assert repr(spec) == "ClusterSpec({'ps': ['a:1'], 'worker': ['c:3', 'd:4']})"
    assert spec.num_tasks("worker") == 2 and spec.task_indices("worker") == [0, 1]
    assert spec.task_address("worker", 1) == "d:4" and spec.job_tasks("worker") == ["c:3", "d:4"]


def test_a_sparse_cluster() -> None:
    spec = ClusterSpec(SPARSE)
    assert repr(spec) == "ClusterSpec({'ps': {1: 'y:2', 3: 'x:1'}, 'worker': ['q:3']})"
    assert spec.task_indices("ps") == [1, 3] and spec.num_tasks("ps") == 2
    assert spec.job_tasks("ps") == [None, "y:2", None, "x:1"]


@pytest.mark.parametrize("cluster", [DENSE, SPARSE, {}, {"a": ("x:1",)}])
def test_protos_and_copies_are_equal(cluster: Any) -> None:
    spec = ClusterSpec(cluster)
    assert ClusterSpec(spec) == spec == ClusterSpec(spec.as_cluster_def())
    assert hash(ClusterSpec(spec)) == hash(spec)
    assert spec != ClusterSpec({"other": ["a:1"]}) and spec != 3
    assert bool(spec) == bool(cluster)


def test_what_is_not_there() -> None:
    spec = ClusterSpec(DENSE)
    for ask in (spec.num_tasks, spec.task_indices, spec.job_tasks, lambda job: spec.task_address(job, 0)):
        with pytest.raises(ValueError, match=r"No such job in cluster: 'x' \(there are ps, worker\)"):
            ask("x")
    with pytest.raises(ValueError, match="No task with index 5 in job 'ps'"):
        spec.task_address("ps", 5)


@pytest.mark.parametrize(
    ("cluster", "text"),
    [
        (3, "`cluster` must be a dictionary"),
        (None, "`cluster` must be a dictionary"),
        ({"a": 3}, "tasks for job 'a' must be a list or a dictionary"),
        ({"a": "x:1"}, "must be a list or a dictionary"),
        ({3: ["x"]}, "Job name 3 must be a string"),
        ({"a": [3]}, "Task address 3 of /job:a/task:0 must be a string"),
        ({"a": {"0": "x"}}, "Task index '0' of job 'a' must be an integer"),
    ],
)
def test_what_is_no_cluster(cluster: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        ClusterSpec(cluster)

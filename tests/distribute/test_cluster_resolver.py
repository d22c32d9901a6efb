"""Resolvers: which cluster there is, which task this process is, where sessions connect."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf
from tfexp.distribute.cluster_resolver.slurm import expand_hostlist, expand_tasks_per_node

resolvers = tf.distribute.cluster_resolver
Spec = tf.train.ClusterSpec
JOBS = {"worker": ["a:1", "b:2"], "ps": ["p:1"]}


def test_a_cluster_that_the_program_knows() -> None:
    resolver = resolvers.SimpleClusterResolver(Spec(JOBS), task_type="worker", task_id=1, rpc_layer="grpc")
    assert resolver.cluster_spec() == Spec(JOBS)
    assert (resolver.master(), resolver.master("ps", 0), resolver.master("worker", 0, "x")) == ("", "grpc://p:1", "x://a:1")
    assert (resolver.task_type, resolver.task_id, resolver.environment) == ("worker", 1, "")
    assert resolver.num_accelerators() == {}
    assert resolvers.SimpleClusterResolver(Spec({}), master="m", num_accelerators={"GPU": 3}).num_accelerators() == {
        "GPU": 3
    }
    with pytest.raises(ValueError, match="No task with index 5 in job 'ps'"):
        resolver.master("ps", 5)
    with pytest.raises(TypeError, match=r"must be a `tf.train.ClusterSpec`. Given: \{\}"):
        resolvers.SimpleClusterResolver({})


def test_the_environments_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    resolver = resolvers.TFConfigClusterResolver()
    assert (resolver.cluster_spec(), resolver.master(), resolver.task_type, resolver.task_id) == (Spec({}), "", None, None)
    config = {"cluster": JOBS, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert (resolver.cluster_spec(), resolver.master(), resolver.master("ps", 0)) == (Spec(JOBS), "b:2", "p:1")
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer, resolver.environment) == ("worker", 1, None, None)
    given = resolvers.TFConfigClusterResolver("ps", 0, "grpc", "google")
    assert (given.master(), given.task_type, given.task_id, given.environment) == ("grpc://p:1", "ps", 0, "google")
    monkeypatch.setenv("TF_CONFIG", json.dumps({**config, "session_master": "elsewhere"}))
    assert resolver.master() == "elsewhere"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{bad", "TF_CONFIG must be JSON"),
        ("[1]", r'TF_CONFIG must be an object with "cluster" and "task". Given: \[1\]'),
        (json.dumps({"cluster": JOBS}), "does not say which task of its cluster this process is"),
    ],
)
def test_an_environment_that_makes_no_sense(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match=message):
        resolvers.TFConfigClusterResolver().master()


def test_several_clusters_as_one() -> None:
    first = resolvers.SimpleClusterResolver(Spec({"worker": ["a:1"]}), master="m", task_type="worker", task_id=0)
    second = resolvers.SimpleClusterResolver(Spec({"worker": ["c:1"], "ps": ["p:2"]}))
    union = resolvers.UnionResolver(first, second)
    assert union.cluster_spec() == Spec({"worker": ["a:1", "c:1"], "ps": ["p:2"]})
    assert (union.master(), union.master("worker", 1), union.task_type, union.task_id) == ("m", "c:1", "worker", 0)
    sparse = resolvers.UnionResolver(first, resolvers.SimpleClusterResolver(Spec({"worker": {3: "x:1"}})))
    assert sparse.cluster_spec() == Spec({"worker": {0: "a:1", 3: "x:1"}})
    same = resolvers.UnionResolver(first, resolvers.SimpleClusterResolver(Spec({"worker": {0: "x:1", 2: "y:1"}})))
    with pytest.raises(KeyError, match="Duplicate keys detected when merging two ClusterSpecs"):
        same.cluster_spec()
    for wrong, error in (((), ValueError), ((3,), TypeError)):
        with pytest.raises(error):
            resolvers.UnionResolver(*wrong)


@pytest.mark.parametrize(
    ("hostlist", "hosts"),
    [
        ("a", ["a"]),
        ("n[1,08-10],x", ["n1", "n08", "n09", "n10", "x"]),
        ("r[1-2]n[3-4].org", ["r1n3.org", "r1n4.org", "r2n3.org", "r2n4.org"]),
    ],
)
def test_slurms_lists_of_nodes(hostlist: str, hosts: list[str]) -> None:
    assert expand_hostlist(hostlist) == hosts


def test_slurms_counts_of_tasks() -> None:
    assert expand_tasks_per_node("2(x3),1") == [2, 2, 2, 1]


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def set_rank(rank: int) -> None:
        monkeypatch.setenv("SLURM_PROCID", str(rank))

    monkeypatch.setenv("SLURM_STEP_NODELIST", "n[1-2],m")
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "2(x2),1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    set_rank(3)
    return set_rank


def test_the_cluster_of_a_slurm_step(step: Callable[[int], None]) -> None:
    resolver = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4}, port_base=9000, gpus_per_node=2)
    assert resolver.get_task_info() == (None, None)
    assert resolver.cluster_spec().as_dict() == {"ps": ["n1:9000"], "worker": ["n1:9001", "n2:9000", "n2:9001", "m:9000"]}
    assert (resolver.get_task_info(), resolver.master()) == (("worker", 2), "grpc://n2:9001")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"
    step(0)
    one_each = resolvers.SlurmClusterResolver({"worker": 3}, tasks_per_node=1, auto_set_gpu=False)
    assert one_each.cluster_spec().as_dict() == {"worker": ["n1:8888", "n2:8888", "m:8888"]}
    with pytest.raises(RuntimeError, match=r"\{'worker': 6\} are 6 tasks, and the Slurm step has 5"):
        resolvers.SlurmClusterResolver({"worker": 6}).cluster_spec()


def test_outside_of_a_slurm_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    with pytest.raises(RuntimeError, match="SLURM_PROCID not found in environment"):
        resolvers.SlurmClusterResolver({"worker": 1})


@pytest.mark.parametrize("name", ["GCEClusterResolver", "KubernetesClusterResolver"])
def test_services_that_tfexp_does_not_speak_with(name: str) -> None:
    made: Any = getattr(resolvers, name)
    with pytest.raises(NotImplementedError, match=rf"{name} needs .* SimpleClusterResolver"):
        made("project")


def test_tpus_that_are_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME"):
        monkeypatch.delenv(name, raising=False)
    here = resolvers.TPUClusterResolver("", zone=None, project=None)
    assert (here.master(), here.get_job_name(), here.environment, here.rpc_layer) == ("", None, "google", None)
    assert here.num_accelerators() == {"TPU": 0}
    with tf.Graph().as_default():
        assert here.cluster_spec() is None
    there = resolvers.TPUClusterResolver(
        ["grpc://a:1,grpc://b:2"], job_name="tpus", coordinator_name="chief", coordinator_address="c:3"
    )
    assert (there.get_master(), there.master("tpus", 1), there.environment) == ("grpc://a:1", "grpc://a:1", "")
    assert there.cluster_spec() == Spec({"tpus": ["a:1", "b:2"], "chief": ["c:3"]})
    monkeypatch.setenv("TPU_NAME", "grpc://n:4")
    assert resolvers.TPUClusterResolver().cluster_spec() == Spec({"worker": ["n:4"]})


@pytest.mark.parametrize(
    ("tpu", "error", "message"),
    [
        (None, ValueError, "Please provide a TPU name"),
        ([], ValueError, "At least one TPU"),
        (["a", "b"], NotImplementedError, "One session can use one TPU"),
        ("mine", NotImplementedError, r"the TPU 'mine' has, Google's services know.* \(grpc://host:port\)"),
    ],
)
def test_tpus_without_address(tpu: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error, match=message):
        resolvers.TPUClusterResolver(tpu)

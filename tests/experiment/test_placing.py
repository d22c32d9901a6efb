"""`device.placement=dynamic`: what a run keeps of what it measured, and how the next one takes it up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from run_files import numbers

import tfexp as tf

QUICK = ["data=line", "train.steps=20", "train.eval_every=10"]


def test_a_run_keeps_what_it_measured_and_another_starts_from_it(cli: Callable, tmp_path: Path) -> None:
    one, two, plain = tmp_path / "one", tmp_path / "two", tmp_path / "plain"
    ended = cli(*QUICK, "device.placement=dynamic", f"hydra.run.dir={one}")
    assert "placement   a step was estimated at " in ended.out
    assert cli(*QUICK, "device.placement=dynamic", f"device.costs={one}", f"hydra.run.dir={two}").code == 0
    cli(*QUICK, f"hydra.run.dir={plain}")
    known = tf.RunMetadata().step_stats
    known.ParseFromString((one / "step_stats.pb").read_bytes())
    assert {"model/linear/MatMul"} <= {node.node_name for device in known.dev_stats for node in device.node_stats}
    placed = json.loads((two / "result.json").read_text())["placement"]
    assert set(placed) == {"estimated_ms", "without_moves_ms", "took_ms"}
    assert 0 < placed["estimated_ms"] <= placed["without_moves_ms"]
    assert numbers(one) == numbers(two) == numbers(plain)
    assert not (plain / "step_stats.pb").exists()


def test_costs_that_cannot_be_read_are_told(cli: Callable, tmp_path: Path) -> None:
    ended = cli(*QUICK, "device.placement=dynamic", "device.costs=nowhere")
    assert ended.code == 2
    assert "device.costs: nowhere cannot be read (No such file or directory): give the folder of a run" in ended.err
    (tmp_path / "wrong").write_bytes(b"\xff\xff\xff")
    assert (
        "device.costs: wrong holds no step's statistics" in cli(*QUICK, "device.placement=dynamic", "device.costs=wrong").err
    )


def test_with_workers_the_setter_places(cli: Callable) -> None:
    ended = cli(*QUICK, "device.placement=dynamic", "cluster=2workers", "cluster.hosting=process")
    assert ended.code == 2
    assert "device.placement: with workers, replica_device_setter says where things are" in ended.err

"""Device scopes, colocation, control dependencies, grouping."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("X1: device scopes")
def device_scopes(tf: Any) -> Outcome:
    made = []

    def here(name: str) -> None:
        made.append(tf.constant(1.0, name=name))

    with tf.device("/cpu:0"):
        here("cpu")
        with tf.device("/job:ps"):
            here("ps_cpu")
            with tf.device("/task:1/gpu:2"):
                here("ps_task_gpu")
                with tf.device(None):
                    here("cleared")
        with tf.device("/device:GPU:*"):
            here("any_gpu")
    with tf.device("/job:worker/replica:0/task:3/device:CPU:1"):
        here("full")
    with tf.device(tf.DeviceSpec(job="ps", device_type="CPU", device_index=0)):
        here("spec")
    with tf.device(lambda op: "/gpu:1" if op.name.startswith("on") else ""):
        here("on_gpu")
        here("off_gpu")
        with tf.device("/cpu:0"):
            here("on_inner")
    with tf.device("/gpu:0"), tf.device(lambda op: "/task:5"):
        here("merged")
    with tf.device("/GPU:0"):
        here("upper")
    bad = [raised(lambda name=name: tf.device(name).__enter__()) for name in ("/job", "gpu:0:1", "/cpu:x", "/foo:1")]
    return runs(devices=[t.device for t in made], bad=bad)


@program("X1: colocation")
def colocation(tf: Any) -> Outcome:
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    v = tf.Variable(2.0, name="v")
    with tf.colocate_with(a):
        b = tf.add(a, 1.0, name="b")
        with tf.colocate_with(v):
            c = tf.add(b, 1.0, name="c")
        with tf.device("/gpu:0"):
            d = tf.add(b, 1.0, name="d")
    with tf.colocate_with(b, ignore_existing=True):
        e = tf.add(b, 1.0, name="e")
    with tf.get_default_graph().colocate_with(v.op):
        f = tf.Variable(3.0, name="f")
    groups = [[group.decode() for group in t.op.colocation_groups()] for t in (a, b, c, d, e, f)]
    return runs(groups=groups, devices=[t.device for t in (a, b, c, d, e, f)])


@program("G8: control dependencies")
def control_dependencies(tf: Any) -> Outcome:
    v = tf.Variable(1.0, name="v")
    bump = tf.assign_add(v, 1.0, name="bump")
    other = tf.no_op(name="other")
    with tf.control_dependencies([bump]):
        read = tf.identity(v, name="read_after")
        uses = tf.add(bump, 1.0, name="uses")
        with tf.control_dependencies([other]):
            both = tf.constant(1.0, name="both")
            chained = tf.add(both, 1.0, name="chained")
        with tf.control_dependencies(None):
            cleared = tf.constant(2.0, name="cleared")
            w = tf.Variable(5.0, name="w")
    with tf.control_dependencies([v, bump.op, tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0]))]):
        after = tf.no_op(name="after")
    tensors = (read, uses, both, chained, cleared, w)
    controls = [[op.name for op in t.op.control_inputs] for t in tensors] + [[op.name for op in after.control_inputs]]
    return runs(Run(v.initializer), Run(read), Run(uses), Run(chained), controls=controls)


@program("G8: group and tuple across devices")
def groups(tf: Any) -> Outcome:
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
        b = tf.constant(2.0, name="b")
    with tf.device("/cpu:1"):
        c = tf.constant(3.0, name="c")
    made = [
        tf.group(),
        tf.group(a, b),
        tf.group(a, b, c, name="all"),
        tf.group([a, [b, c]], name="nested"),
        *tf.tuple([a, None, b], name="pair"),
        *tf.tuple([a, b], control_inputs=[c]),
    ]
    return runs(names=[None if t is None else t.name for t in made])

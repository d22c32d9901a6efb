"""What leaves a graph: savers, summaries, freezing, importing, MetaGraphs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("T3: savers")
def savers(tf: Any) -> Outcome:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(3, name="scope/b")
    with tf.device("/cpu:0"):
        c = tf.Variable(tf.zeros([2, 3]), name="c")
    made = [
        tf.train.Saver(max_to_keep=7, keep_checkpoint_every_n_hours=2.0),
        tf.train.Saver([c, a], name="mine"),
        tf.train.Saver({"other": a, "b": b}, reshape=True),
        tf.train.Saver([a], restore_sequentially=True, allow_empty=True),
        tf.train.Saver(var_list=[a, b, c], sharded=True),
        tf.train.Saver(sharded=True, filename="my/model"),
        tf.train.Saver(restore_sequentially=True),
    ]
    with tf.name_scope("inside"):
        made.append(tf.train.Saver(filename="elsewhere"))
    protos = [str(saver.as_saver_def()) for saver in made]
    deferred = tf.train.Saver(defer_build=True)
    deferred.build()
    return runs(protos=protos, errors=[raised(lambda: tf.train.Saver([])), raised(lambda: tf.train.Saver([a, a]))])


@program("T3: a sharded saver over devices")
def saver_over_tasks(tf: Any) -> Outcome:
    with tf.device("/job:ps/task:0"):
        tf.Variable([1.0], name="a")
        tf.Variable([2.0], name="b")
    with tf.device("/job:ps/task:1"):
        tf.Variable([3.0], name="c")
    saver = tf.train.Saver(sharded=True)
    tf.train.Saver()
    return runs(proto=str(saver.as_saver_def()))


@program("T3: save, change, restore")
def save_and_restore(tf: Any) -> Outcome:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(3, name="b")
    saver = tf.train.Saver()
    change = tf.group(tf.assign(a, [9.0, 9.0]), tf.assign(b, 9))
    init = tf.global_variables_initializer()
    facts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        path = str(Path(folder) / "model")
        session.run(init)
        saved = [saver.save(session, path, global_step=step) for step in (3, 5)]
        session.run(change)
        saver.restore(session, saved[0])
        facts["restored"] = [value.tolist() for value in session.run([a, b])]
        facts["files"] = sorted(file.name for file in Path(folder).iterdir())
        facts["latest"] = Path(tf.train.latest_checkpoint(folder)).name
        facts["state"] = [Path(p).name for p in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths]
        reader = tf.train.NewCheckpointReader(saved[1])
        facts["shapes"] = reader.get_variable_to_shape_map()
        facts["listed"] = [list(pair) for pair in tf.train.list_variables(saved[1])]
        facts["a"] = tf.train.load_variable(saved[1], "a").tolist()
        facts["exists"] = [tf.train.checkpoint_exists(saved[0]), tf.train.checkpoint_exists(path)]
        facts["missing"] = raised(lambda: saver.restore(session, path + "-7"))
    return runs(**facts)


@program("T6: summaries")
def summaries(tf: Any) -> Outcome:
    with tf.name_scope("train"):
        x = tf.placeholder(tf.float32, [None], name="x")
        scalar = tf.summary.scalar("mean value", tf.reduce_mean(x))
        again = tf.summary.scalar("mean value", tf.reduce_sum(x))
        histogram = tf.summary.histogram("values", x, collections=["mine"])
        family = tf.summary.scalar("loss", tf.reduce_max(x), family="group")
    merged = tf.summary.merge([scalar, histogram], name="both")
    every = tf.summary.merge_all()
    mine = tf.summary.merge_all("mine")
    scoped = tf.summary.merge_all(scope="train")
    nobody = tf.summary.merge_all("nobody") is None
    made = [scalar, again, histogram, family, merged, every, mine, scoped]
    feeds = {x: [1.0, 2.0, 4.0]}
    return runs(Run([scalar, again, family, every], feeds), nobody=nobody, names=[op.name for op in made])


def _import_errors(tf: Any, definition: Any, fed: Any) -> list[str]:
    return [
        raised(lambda: tf.import_graph_def(definition, {"nobody:0": fed})),
        raised(lambda: tf.import_graph_def(definition, return_elements=["nobody:0"])),
        raised(lambda: tf.import_graph_def("text")),
        raised(lambda: tf.import_graph_def(definition, name="")),
    ]


@program("G9: import_graph_def")
def imported_graph(tf: Any) -> Outcome:
    source = tf.Graph()
    with source.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.constant(values("impo", 3, 2), name="w")
        with tf.device("/cpu:0"), tf.control_dependencies([w]):
            y = tf.matmul(x, w, name="y")
        tf.Variable(tf.zeros([2]), name="v")
        tf.split(y, 2, 1, name="parts")
    definition = source.as_graph_def()
    first = tf.import_graph_def(definition, return_elements=["y:0", "x", "parts:1"])
    fed = tf.constant(values("fed", 5, 3), name="fed")
    with tf.name_scope("outer"), tf.device("/device:CPU:0"):
        mapped = tf.import_graph_def(definition, {"x:0": fed}, ["y:0"], name="inner")
    plain = tf.import_graph_def(definition, name="", return_elements=["y:0", "v/Assign"])
    again = tf.import_graph_def(definition, {"x": fed, "w:0": tf.zeros([3, 2])}, ["y:0"], name="import")
    names = [element.name for element in [*first, *mapped, *plain, *again]]
    with tf.Graph().as_default():
        fed_there = tf.zeros([5, 3])
        errors = _import_errors(tf, definition, fed_there)
    return runs(Run([mapped[0], again[0]]), names=names, errors=errors)


@program("G9: freezing")
def frozen_graph(tf: Any) -> Outcome:
    source = tf.Graph()
    with source.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", initializer=tf.constant(values("froz", 3, 2)))
        b = tf.Variable([0.5, -0.5], name="b")
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(session, source.as_graph_def(), ["y"])
    sub = tf.graph_util.extract_sub_graph(source.as_graph_def(), ["layer/w/read"])
    y2, x2 = tf.import_graph_def(frozen, return_elements=["y:0", "x:0"], name="")
    return runs(Run(y2, {x2: values("fx", 5, 3)}), sub=[node.name for node in sub.node])


@program("G9, T3: MetaGraph")
def meta_graph(tf: Any) -> Outcome:
    source = tf.Graph()
    with source.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        frozen = tf.Variable(1.0, name="frozen", trainable=False)
        y = tf.add(tf.matmul(x, w), frozen, name="y")
        step = tf.train.get_or_create_global_step()
        tf.add_to_collection("inputs", x)
        tf.add_to_collection("numbers", 3)
        tf.add_to_collection("texts", "text")
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y), global_step=step)
        tf.summary.scalar("y", tf.reduce_sum(y))
        saver = tf.train.Saver(max_to_keep=2)
        meta = saver.export_meta_graph()
        own = tf.train.export_meta_graph()
    kept = sorted(meta.collection_def)
    text = {key: str(meta.collection_def[key]) for key in kept}
    ops = [op.name for op in meta.meta_info_def.stripped_op_list.op]
    restored = tf.train.import_meta_graph(meta)
    return runs(
        collections=text,
        ops=ops,
        saver=str(meta.saver_def),
        own=own.HasField("saver_def"),
        imported=[v.name for v in tf.global_variables()],
        trainable=[v.name for v in tf.trainable_variables()],
        step=tf.train.get_global_step().name,
        restored=str(restored.as_saver_def()),
    )


@program("G9: output shapes in the GraphDef")
def with_output_shapes(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    y = tf.placeholder(tf.float32, name="y")
    tf.split(x + y, 2, 1)
    tf.matmul(x, tf.ones([6, 5]))
    tf.assign_add(tf.Variable(1.0), 1.0)
    tf.no_op()
    return Outcome(add_shapes=True)

"""Queues, readers and input pipelines: their graphs, what they say of themselves, the orders in which elements come."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("D1: queues, tuples, names, shapes")
def queues(tf: Any) -> Outcome:
    plain = tf.FIFOQueue(10, [tf.float32], shapes=[[2]], name="q", shared_name="shared_q")
    pairs = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [3, 2]])
    named = tf.PaddingFIFOQueue(5, [tf.float32, tf.string], [(None, None), (None,)], names=["x", "words"])
    shapeless = tf.RandomShuffleQueue(5, 1, tf.float32)
    urgent = tf.PriorityQueue(5, [tf.string], [[]])
    a, b = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32)
    with tf.name_scope("use"):
        nodes = [plain.enqueue([[1.0, 2.0]]), plain.enqueue_many([[[1.0, 2.0], [3.0, 4.0]]]), pairs.enqueue((a, b))]
        nodes += [named.enqueue({"x": b, "words": ["a"]}), urgent.enqueue((3, "c")), shapeless.enqueue(1.0, name="mine")]
    taken = [plain.dequeue(), plain.dequeue_many(2), plain.dequeue_up_to(a), *pairs.dequeue(), *pairs.dequeue_many(a)]
    taken += [*named.dequeue_many(3).values(), shapeless.dequeue(), *urgent.dequeue(name="next")]
    asked = [plain.size(), plain.is_closed(), named.size(name="how_many")]
    closing = [plain.close(), pairs.close(cancel_pending_enqueues=True)]
    with tf.control_dependencies([nodes[0]]):
        tf.FIFOQueue(1, [tf.int32], name="free")
        tf.PaddingFIFOQueue(1, [tf.int32], [[]], name="bound")
    with tf.device("/job:ps/task:0"), tf.container("box"):
        tf.FIFOQueue(1, [tf.int32], name="on_ps").enqueue(1)
    with tf.device("/cpu:0"):
        chosen = tf.QueueBase.from_list(a, [plain, tf.FIFOQueue(2, [tf.float32], shapes=[[2]])])
    refused = [
        raised(lambda: pairs.enqueue({"a": 1})),
        raised(lambda: named.enqueue([1.0, "a"])),
        raised(lambda: named.enqueue({"x": 1.0})),
        raised(lambda: plain.enqueue([[1.0, 2.0, 3.0]])),
        raised(lambda: plain.enqueue_many([1.0])),
        raised(lambda: plain.enqueue_many([[1.0, 2.0]])),
        raised(lambda: tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[]])),
        raised(lambda: tf.FIFOQueue(3, [tf.int32, tf.float32], names=["a"])),
        raised(lambda: tf.FIFOQueue(3, [tf.int32], [[None]])),
        raised(lambda: tf.PaddingFIFOQueue(3, [tf.int32], None)),
        raised(lambda: tf.QueueBase.from_list(0, [plain, 1])),
        raised(lambda: tf.QueueBase.from_list(0, [plain, pairs])),
    ]
    return runs(
        shapes=[str(t.get_shape()) for t in (*taken, *asked)],
        names=[t.name for t in (*nodes, *taken, *asked, *closing)],
        queues=[
            [q.name, str(q.dtypes), str(q.shapes), str(q.names)] for q in (plain, pairs, named, shapeless, urgent, chosen)
        ],
        refused=refused,
    )


@program("D1: seeds of shuffling queues")
def shuffled_queues(tf: Any) -> Outcome:
    tf.set_random_seed(7)
    made = [
        tf.RandomShuffleQueue(50, 10, [tf.int32], [[]], name="graph_seed"),
        tf.RandomShuffleQueue(50, 0, [tf.int32], [[]], seed=5, name="both_seeds"),
        tf.RandomShuffleQueue(50, 0, [tf.int32], [[]], shared_name="shared", name="by_name"),
    ]
    steps = []
    for queue in made:
        fill = queue.enqueue_many([list(range(22))])
        steps += [Run(fill), Run(queue.dequeue_many(5)), Run(queue.dequeue()), Run(queue.dequeue_many(3)), Run(queue.size())]
    return runs(*steps)


@program("D2: readers")
def readers(tf: Any) -> Outcome:
    queue = tf.FIFOQueue(10, [tf.string], [[]])
    made = [
        tf.TextLineReader(skip_header_lines=1),
        tf.WholeFileReader(),
        tf.FixedLengthRecordReader(10, header_bytes=2, footer_bytes=1, hop_bytes=5, encoding="ZLIB"),
        tf.TFRecordReader(options=tf.io.TFRecordOptions(compression_type="GZIP")),
        tf.IdentityReader(name="mine"),
    ]
    names = []
    for reader in made:
        key, value = reader.read(queue)
        keys, values = reader.read_up_to(queue, 3, name="several")
        counts = [reader.num_records_produced(), reader.num_work_units_completed(), reader.reset()]
        names += [t.name for t in (key, value, keys, values, *counts)]
        names += [str(t.get_shape()) for t in (key, value, keys, values)]
    last = made[-1]
    work = [Run(queue.enqueue_many([["A", "B"]])), *(Run(list(last.read(queue))) for _ in range(2))]
    text = tf.read_file("name"), tf.matching_files(["a*", "b*"]), tf.write_file("name", "content")
    return runs(*work, names=names, shapes=[str(t.get_shape()) for t in text[:2]])


@program("D4: producers")
def producers(tf: Any) -> Outcome:
    made = [
        tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, seed=3),
        tf.train.string_input_producer(tf.constant(["a", "b"]), shuffle=False, capacity=7, name="files"),
        tf.train.string_input_producer(["a"], shared_name="shared", cancel_op=tf.no_op(name="stop")),
        tf.train.input_producer([[1.0, 2.0], [3.0, 4.0]], num_epochs=1, summary_name="fill"),
        tf.train.input_producer(tf.placeholder(tf.float32), element_shape=[5], shuffle=False),
        tf.train.range_input_producer(5, num_epochs=1, shuffle=False),
    ]
    sliced = tf.train.slice_input_producer(
        [tf.constant([1, 2, 3]), tf.constant([["x"], ["y"], ["z"]])], num_epochs=1, seed=5
    )
    limited = tf.train.limit_epochs(tf.constant([1.0]), 3)
    matched = tf.train.match_filenames_once("no_such_folder/*")
    runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    refused = [
        raised(lambda: tf.train.string_input_producer([])),
        raised(lambda: tf.train.input_producer(tf.placeholder(tf.float32))),
        raised(lambda: tf.train.slice_input_producer([])),
        raised(lambda: tf.train.limit_epochs(tf.constant(1), 0)),
    ]
    return runs(
        queues=[[q.name, str(q.dtypes), str(q.shapes)] for q in made],
        made=[t.name + str(t.get_shape()) for t in (*sliced, limited, matched)],
        runners=[_runner(r) for r in runners],
        collections={k: [v.name for v in tf.get_collection(k)] for k in ("local_variables", "variables", "summaries")},
        refused=refused,
    )


def _runner(runner: Any) -> list[Any]:
    proto = runner.to_proto()
    return [
        runner.name,
        proto.queue_name,
        list(proto.enqueue_op_name),
        proto.close_op_name,
        proto.cancel_op_name,
        list(proto.queue_closed_exception_types),
    ]


@program("D4: batches")
def batches(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.int32, [], name="y")
    rows, labels = tf.placeholder(tf.float32, [None, 3], name="rows"), tf.placeholder(tf.string, [None], name="labels")
    keep = tf.placeholder(tf.bool, [], name="keep")
    made = [
        tf.train.batch([x, y], 5),
        tf.train.batch({"x": x, "y": y}, 5, num_threads=2, capacity=9, allow_smaller_final_batch=True, name="as_dict"),
        tf.train.batch([rows, labels], 4, enqueue_many=True),
        tf.train.batch([rows], 4, dynamic_pad=True, shared_name="shared"),
        tf.train.batch([y], tf.placeholder(tf.int32, [])),
        tf.train.batch_join([[x, y], [x + 1.0, y]], 5),
        tf.train.batch_join([{"x": x}, {"x": x}], 5, enqueue_many=False, allow_smaller_final_batch=True),
        tf.train.shuffle_batch([x, y], 5, 20, 10, seed=3),
        tf.train.shuffle_batch([rows], 5, 20, 10, num_threads=3, enqueue_many=True, allow_smaller_final_batch=True),
        tf.train.shuffle_batch_join([[x, y], [x, y]], 5, 20, 10, seed=3),
        tf.train.maybe_batch([x, y], keep, 5),
        tf.train.maybe_batch([rows, labels], keep, 5, enqueue_many=True),
        tf.train.maybe_batch([rows, labels], tf.equal(labels, "a"), 5, enqueue_many=True),
        tf.train.maybe_batch_join([[x, y], [x, y]], keep, 5),
        tf.train.maybe_shuffle_batch([x, y], 5, 20, 10, keep, seed=3),
        tf.train.maybe_shuffle_batch_join([[x, y], [x, y]], 5, 20, 10, keep, seed=3),
    ]
    refused = [
        raised(lambda: tf.train.batch([], 5)),
        raised(lambda: tf.train.batch([tf.placeholder(tf.float32)], 5)),
        raised(lambda: tf.train.batch_join([], 5)),
        raised(lambda: tf.train.batch_join([[x], [y]], 5)),
        raised(lambda: tf.train.shuffle_batch([x], 5, 10, 10)),
        raised(lambda: tf.train.maybe_batch([x], [True, False], 5)),
    ]
    return runs(
        made=[[f"{t.name} {t.get_shape()}" for t in _listed(m)] for m in made],
        runners=[_runner(r) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)],
        summaries=[t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)],
        refused=refused,
    )


def _listed(made: Any) -> list[Any]:
    if isinstance(made, dict):
        return [made[k] for k in sorted(made)]
    return list(made) if isinstance(made, (list, tuple)) else [made]

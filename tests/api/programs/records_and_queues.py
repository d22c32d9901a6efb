"""Examples in TFRecords through queues and through tf.data; then a served model."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1.saved_model import signature_constants, tag_constants

folder = tempfile.mkdtemp()
path = os.path.join(folder, "examples.tfrecord")
with tf.python_io.TFRecordWriter(path) as writer:
    for i in range(20):
        feature = {
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 1])),
            "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[np.full([2, 2, 3], i, np.uint8).tobytes()])),
        }
        features = tf.train.Features(feature=feature)
        writer.write(tf.train.Example(features=features).SerializeToString())
_, record = tf.TFRecordReader().read(tf.train.string_input_producer([path], num_epochs=1, shuffle=False))
spec = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
parsed = tf.parse_single_example(record, features={**spec, "image": tf.FixedLenFeature([], tf.string)})
image = tf.cast(tf.reshape(tf.decode_raw(parsed["image"], tf.uint8), [2, 2, 3]), tf.float32)
image = tf.image.per_image_standardization(tf.image.random_flip_left_right(image))
batch = tf.train.shuffle_batch([parsed["x"], parsed["y"], image], 5, capacity=50, min_after_dequeue=10, num_threads=2)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator, seen = tf.train.Coordinator(), []
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        while not coordinator.should_stop():
            xs, ys, images = session.run(batch)
            assert (xs[:, 0] == ys).all() and images.shape == (5, 2, 2, 3)
            seen.extend(ys.tolist())
    except tf.errors.OutOfRangeError:
        pass
    finally:
        coordinator.request_stop()
    coordinator.join(threads)
assert sorted(seen) == list(range(20)), seen

dataset = tf.data.TFRecordDataset([path]).map(lambda r: tf.parse_single_example(r, spec)["y"], num_parallel_calls=2)
dataset = dataset.filter(lambda y: tf.equal(y % 2, 0)).shuffle(10).repeat(2).batch(4).prefetch(1)
iterator = dataset.make_initializable_iterator()
numbers, total = iterator.get_next(), 0
with tf.Session() as session:
    session.run(iterator.initializer)
    while True:
        try:
            total += session.run(numbers).sum()
        except tf.errors.OutOfRangeError:
            break
assert total == 180

model = os.path.join(folder, "model")
with tf.Graph().as_default(), tf.Session() as session:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.matmul(x, tf.get_variable("w", initializer=[[2.0], [3.0]]), name="y")
    session.run(tf.global_variables_initializer())
    builder = tf.saved_model.builder.SavedModelBuilder(model)
    infos = [{name: tf.saved_model.utils.build_tensor_info(tensor)} for name, tensor in (("x", x), ("y", y))]
    signature = tf.saved_model.signature_def_utils.build_signature_def(*infos, signature_constants.PREDICT_METHOD_NAME)
    builder.add_meta_graph_and_variables(session, [tag_constants.SERVING], signature_def_map={"predict": signature})
    builder.save()
with tf.Graph().as_default(), tf.Session() as session:
    signature = tf.saved_model.loader.load(session, [tag_constants.SERVING], model).signature_def["predict"]
    assert session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1.0, 1.0]]}) == [[5.0]]

"""Conversions, and runs of what comes out."""

import numpy as np

import tfexp as tf


def converted(inputs, outputs, **settings):
    """The converter's bytes for a graph whose variables start as they do."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        converter = tf.lite.TFLiteConverter.from_session(session, inputs, outputs)
        for name, value in settings.items():
            setattr(converter, name, value)
        return converter.convert()


def run_model(model, *values):
    """The outputs of a model's file for arrays."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]


def random_values(*shapes, seed=5):
    """Arrays of normal numbers in float32."""
    random = np.random.RandomState(seed)
    return [random.randn(*shape).astype(np.float32) for shape in shapes]

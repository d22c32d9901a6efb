"""Bytes that TensorFlow also reads or writes: tensors, records, events, checkpoints, examples."""

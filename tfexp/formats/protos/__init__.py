"""TensorFlow's messages that tensorboard does not ship, one module for each of TensorFlow's files; see
`schema`.
"""

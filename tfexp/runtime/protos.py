"""The messages that configure sessions and steps, as TensorBoard ships them: `tf.ConfigProto` and friends."""

from tensorboard.compat.proto import config_pb2

ConfigProto = config_pb2.ConfigProto
GPUOptions = config_pb2.GPUOptions
GraphOptions = config_pb2.GraphOptions
OptimizerOptions = config_pb2.OptimizerOptions
RunMetadata = config_pb2.RunMetadata
RunOptions = config_pb2.RunOptions

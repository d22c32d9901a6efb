"""`tf.contrib.tensorboard.plugins.projector`: what TensorBoard's embedding projector shows."""

from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo as EmbeddingInfo
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig as ProjectorConfig
from tensorboard.plugins.projector.projector_config_pb2 import SpriteMetadata as SpriteMetadata

from tfexp.contributed.projector import visualize_embeddings as visualize_embeddings
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensorboard.plugins.projector")

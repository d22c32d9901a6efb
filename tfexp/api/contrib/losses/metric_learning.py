"""`tf.contrib.losses.metric_learning`: losses that put examples of one label close together."""

from tfexp.contributed.metric_learning import contrastive_loss as contrastive_loss
from tfexp.contributed.metric_learning import lifted_struct_loss as lifted_struct_loss
from tfexp.contributed.metric_learning import npairs_loss as npairs_loss
from tfexp.contributed.metric_learning import npairs_loss_multilabel as npairs_loss_multilabel
from tfexp.contributed.metric_learning import triplet_semihard_loss as triplet_semihard_loss
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.losses.metric_learning")

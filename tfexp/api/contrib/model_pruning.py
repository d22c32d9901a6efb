"""`tf.contrib.model_pruning`: re-exports."""

from tfexp.contributed.model_pruning.learning import train as train
from tfexp.contributed.model_pruning.masks import MaskedBasicLSTMCell as MaskedBasicLSTMCell
from tfexp.contributed.model_pruning.masks import MaskedLSTMCell as MaskedLSTMCell
from tfexp.contributed.model_pruning.masks import apply_mask as apply_mask
from tfexp.contributed.model_pruning.masks import get_masked_weights as get_masked_weights
from tfexp.contributed.model_pruning.masks import get_masks as get_masks
from tfexp.contributed.model_pruning.masks import get_thresholds as get_thresholds
from tfexp.contributed.model_pruning.masks import get_weights as get_weights
from tfexp.contributed.model_pruning.masks import masked_convolution as masked_conv2d
from tfexp.contributed.model_pruning.masks import masked_convolution as masked_convolution
from tfexp.contributed.model_pruning.masks import masked_fully_connected as masked_fully_connected
from tfexp.contributed.model_pruning.pruning import Pruning as Pruning
from tfexp.contributed.model_pruning.pruning import get_pruning_hparams as get_pruning_hparams
from tfexp.contributed.model_pruning.pruning import get_weight_sparsity as get_weight_sparsity
from tfexp.contributed.model_pruning.stripping import graph_def_from_checkpoint as graph_def_from_checkpoint
from tfexp.contributed.model_pruning.stripping import strip_pruning_vars_fn as strip_pruning_vars_fn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.model_pruning")

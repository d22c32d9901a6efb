"""`tf.distribute.cluster_resolver`: which cluster there is, and which of its tasks this process is."""

from tfexp.core.gone import missing_from
from tfexp.distribute.cluster_resolver.not_here import GCEClusterResolver as GCEClusterResolver
from tfexp.distribute.cluster_resolver.not_here import KubernetesClusterResolver as KubernetesClusterResolver
from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver as ClusterResolver
from tfexp.distribute.cluster_resolver.resolvers import SimpleClusterResolver as SimpleClusterResolver
from tfexp.distribute.cluster_resolver.resolvers import UnionResolver as UnionResolver
from tfexp.distribute.cluster_resolver.slurm import SlurmClusterResolver as SlurmClusterResolver
from tfexp.distribute.cluster_resolver.tf_config import TFConfigClusterResolver as TFConfigClusterResolver
from tfexp.distribute.cluster_resolver.tpu import TPUClusterResolver as TPUClusterResolver

__getattr__ = missing_from("tf.distribute.cluster_resolver")

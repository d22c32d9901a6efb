"""TensorFlow's boosted_trees.proto: trees that are added up, as checkpoints have them."""

from __future__ import annotations

from tfexp.formats.protos.schema import define

_MESSAGES = define(
    "boosted_trees",
    """
    message Leaf
      scalar 3 float
    message NodeMetadata
      gain 1 float
      original_leaf 2 Leaf
    message BucketizedSplit
      feature_id 1 int32
      threshold 2 int32
      left_id 3 int32
      right_id 4 int32
      dimension_id 5 int32
    message Node
      leaf 1 Leaf oneof node
      bucketized_split 2 BucketizedSplit oneof node
      metadata 777 NodeMetadata
    message Tree
      nodes 1 repeated Node
    message PostPruneNodeUpdate
      new_node_id 1 int32
      logit_change 2 repeated float
    message TreeMetadata
      num_layers_grown 2 int32
      is_finalized 3 bool
      post_pruned_nodes_meta 4 repeated PostPruneNodeUpdate
    message GrowingMetadata
      num_trees_attempted 1 int64
      num_layers_attempted 2 int64
      last_layer_node_start 3 int32
      last_layer_node_end 4 int32
    message TreeEnsemble
      trees 1 repeated Tree
      tree_weights 2 repeated float
      tree_metadata 3 repeated TreeMetadata
      growing_metadata 4 GrowingMetadata
    message DebugOutput
      feature_ids 1 repeated int32
      logits_path 2 repeated float
    """,
)

Leaf = _MESSAGES["Leaf"]
Node = _MESSAGES["Node"]
Tree = _MESSAGES["Tree"]
TreeMetadata = _MESSAGES["TreeMetadata"]
TreeEnsemble = _MESSAGES["TreeEnsemble"]
DebugOutput = _MESSAGES["DebugOutput"]

"""TensorFlow's generic_tree_model, fertile_stats and tensor_forest_params: a forest's trees, how they grow, its settings."""

from __future__ import annotations

from google.protobuf import any_pb2, wrappers_pb2

from tfexp.formats.protos.schema import define

_TYPES = define(
    "decision_trees",
    """
    message Value
      float_value 1 float oneof value
      double_value 2 double oneof value
      int32_value 3 int32 oneof value
      int64_value 4 int64 oneof value
    message Vector
      value 1 repeated Value
    message SparseVector
      sparse_value 1 map int64 Value
    message FeatureId
      id 1 StringValue
      additional_data 2 repeated Any
    message InequalityTest
    enum InequalityTest.Type
      LESS_OR_EQUAL 0
      LESS_THAN 1
      GREATER_OR_EQUAL 2
      GREATER_THAN 3
    message InequalityTest
      feature_id 1 FeatureId oneof FeatureSum
      type 2 InequalityTest.Type
      threshold 3 Value
    message MatchingValuesTest
      feature_id 1 FeatureId
      value 2 repeated Value
      inverse 3 bool
    message Leaf
      vector 1 Vector oneof leaf
      sparse_vector 2 SparseVector oneof leaf
      additional_data 3 repeated Any
    message BinaryNode
    enum BinaryNode.Direction
      LEFT 0
      RIGHT 1
    message BinaryNode
      left_child_id 1 Int32Value
      right_child_id 2 Int32Value
      default_direction 3 BinaryNode.Direction
      inequality_left_child_test 4 InequalityTest oneof left_child_test
      custom_left_child_test 5 Any oneof left_child_test
    message TreeNode
      node_id 1 Int32Value
      depth 2 Int32Value
      subtree_size 3 Int32Value
      binary_node 4 BinaryNode oneof node_type
      leaf 5 Leaf oneof node_type
      custom_node_type 6 Any oneof node_type
      additional_data 7 repeated Any
    message DecisionTree
      nodes 1 repeated TreeNode
      additional_data 2 repeated Any
    message Model
      decision_tree 1 DecisionTree oneof model
      custom_model 3 Any oneof model
      additional_data 4 repeated Any
    message TreePath
      nodes_visited 1 repeated TreeNode
    message GiniStats
      square 2 float
    message LeafStat
    message LeafStat.GiniImpurityClassificationStats
      dense_counts 1 Vector oneof counts
      sparse_counts 2 SparseVector oneof counts
      gini 3 GiniStats
    message LeafStat.LeastSquaresRegressionStats
      mean_output 1 Vector
      mean_output_squares 2 Vector
    message LeafStat
      weight_sum 3 float
      classification 1 LeafStat.GiniImpurityClassificationStats oneof leaf_stat
      regression 2 LeafStat.LeastSquaresRegressionStats oneof leaf_stat
    message SplitCandidate
      split 1 BinaryNode
      left_stats 4 LeafStat
      right_stats 5 LeafStat
      unique_id 6 string
    message FertileSlot
      leaf_stats 4 LeafStat
      candidates 1 repeated SplitCandidate
      post_init_leaf_stats 6 LeafStat
      node_id 5 int32
      depth 7 int32
    message FertileStats
      node_to_slot 1 repeated FertileSlot
    enum LeafModelType
      MODEL_DENSE_CLASSIFICATION 0
      MODEL_SPARSE_CLASSIFICATION 1
      MODEL_REGRESSION 2
      MODEL_SPARSE_OR_DENSE_CLASSIFICATION 3
    enum StatsModelType
      STATS_DENSE_GINI 0
      STATS_SPARSE_GINI 1
      STATS_LEAST_SQUARES_REGRESSION 2
      STATS_SPARSE_THEN_DENSE_GINI 3
      STATS_FIXED_SIZE_SPARSE_GINI 4
    enum SplitCollectionType
      COLLECTION_BASIC 0
      GRAPH_RUNNER_COLLECTION 1
    enum SplitPruningStrategyType
      SPLIT_PRUNE_NONE 0
      SPLIT_PRUNE_HALF 1
      SPLIT_PRUNE_QUARTER 2
      SPLIT_PRUNE_10_PERCENT 3
      SPLIT_PRUNE_HOEFFDING 4
    enum SplitFinishStrategyType
      SPLIT_FINISH_BASIC 0
      SPLIT_FINISH_DOMINATE_HOEFFDING 2
      SPLIT_FINISH_DOMINATE_BOOTSTRAP 3
    message LinearParam
      slope 1 float
      y_intercept 2 float
      min_val 3 float
      max_val 4 float
    message ExponentialParam
      bias 1 float
      base 2 float
      multiplier 3 float
      depth_multiplier 4 float
    message ThresholdParam
      on_value 1 float
      off_value 2 float
      threshold 3 float
    message DepthDependentParam
      constant_value 1 float oneof ParamType
      linear 2 LinearParam oneof ParamType
      exponential 3 ExponentialParam oneof ParamType
      threshold 4 ThresholdParam oneof ParamType
    message SplitPruningConfig
      prune_every_samples 1 DepthDependentParam
      type 2 SplitPruningStrategyType
    message SplitFinishConfig
      check_every_steps 1 DepthDependentParam
      type 2 SplitFinishStrategyType
    message TensorForestParams
      leaf_type 1 LeafModelType
      stats_type 2 StatsModelType
      collection_type 3 SplitCollectionType
      pruning_type 4 SplitPruningConfig
      finish_type 5 SplitFinishConfig
      num_trees 6 int32
      max_nodes 7 int32
      num_features 21 int32
      inequality_test_type 19 InequalityTest.Type
      is_regression 8 bool
      drop_final_class 9 bool
      collate_examples 10 bool
      checkpoint_stats 11 bool
      use_running_stats_method 20 bool
      initialize_average_splits 22 bool
      inference_tree_paths 23 bool
      num_outputs 12 int32
      num_splits_to_consider 13 DepthDependentParam
      split_after_samples 14 DepthDependentParam
      dominate_fraction 15 DepthDependentParam
      min_split_samples 18 DepthDependentParam
      graph_dir 16 string
      num_select_features 17 int32
      num_classes_to_track 24 int32
    """,
    imports=(any_pb2, wrappers_pb2),
    package="tfexp.decision_trees",
)

Model = _TYPES["Model"]
TreeNode = _TYPES["TreeNode"]
TreePath = _TYPES["TreePath"]
InequalityTest = _TYPES["InequalityTest"]
FertileStats = _TYPES["FertileStats"]
TensorForestParams = _TYPES["TensorForestParams"]

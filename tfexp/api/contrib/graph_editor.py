"""`tf.contrib.graph_editor`: re-exports."""

from tfexp.contributed.graph_editor.copying import copy as copy
from tfexp.contributed.graph_editor.copying import copy_with_input_replacements as copy_with_input_replacements
from tfexp.contributed.graph_editor.copying import graph_replace as graph_replace
from tfexp.contributed.graph_editor.select import ControlOutputs as ControlOutputs
from tfexp.contributed.graph_editor.select import check_cios as check_cios
from tfexp.contributed.graph_editor.select import compute_boundary_ts as compute_boundary_ts
from tfexp.contributed.graph_editor.select import filter_ops as filter_ops
from tfexp.contributed.graph_editor.select import filter_ops_from_regex as filter_ops_from_regex
from tfexp.contributed.graph_editor.select import filter_ts as filter_ts
from tfexp.contributed.graph_editor.select import filter_ts_from_regex as filter_ts_from_regex
from tfexp.contributed.graph_editor.select import get_backward_walk_ops as get_backward_walk_ops
from tfexp.contributed.graph_editor.select import get_consuming_ops as get_consuming_ops
from tfexp.contributed.graph_editor.select import get_forward_walk_ops as get_forward_walk_ops
from tfexp.contributed.graph_editor.select import get_generating_ops as get_generating_ops
from tfexp.contributed.graph_editor.select import get_name_scope_ops as get_name_scope_ops
from tfexp.contributed.graph_editor.select import get_ops_ios as get_ops_ios
from tfexp.contributed.graph_editor.select import get_tensors as get_tensors
from tfexp.contributed.graph_editor.select import get_unique_graph as get_unique_graph
from tfexp.contributed.graph_editor.select import get_walks_intersection_ops as get_walks_intersection_ops
from tfexp.contributed.graph_editor.select import get_walks_union_ops as get_walks_union_ops
from tfexp.contributed.graph_editor.select import get_within_boundary_ops as get_within_boundary_ops
from tfexp.contributed.graph_editor.select import make_list_of_op as make_list_of_op
from tfexp.contributed.graph_editor.select import make_list_of_t as make_list_of_t
from tfexp.contributed.graph_editor.select import select_ops as ops
from tfexp.contributed.graph_editor.select import select_ops as select_ops
from tfexp.contributed.graph_editor.select import select_ops_and_ts as select_ops_and_ts
from tfexp.contributed.graph_editor.select import select_ts as select_ts
from tfexp.contributed.graph_editor.select import select_ts as ts
from tfexp.contributed.graph_editor.transforming import Transformer as Transformer
from tfexp.contributed.graph_editor.transforming import TransformerInfo as TransformerInfo
from tfexp.contributed.graph_editor.transforming import (
    assign_renamed_collections_handler as assign_renamed_collections_handler,
)
from tfexp.contributed.graph_editor.transforming import copy_op_handler as copy_op_handler
from tfexp.contributed.graph_editor.transforming import keep_t_if_possible_handler as keep_t_if_possible_handler
from tfexp.contributed.graph_editor.transforming import (
    replace_t_with_placeholder_handler as replace_t_with_placeholder_handler,
)
from tfexp.contributed.graph_editor.transforming import transform_op_if_inside_handler as transform_op_if_inside_handler
from tfexp.contributed.graph_editor.view import SubGraphView as SubGraphView
from tfexp.contributed.graph_editor.view import make_view as make_view
from tfexp.contributed.graph_editor.view import make_view as sgv
from tfexp.contributed.graph_editor.view import make_view_from_scope as make_view_from_scope
from tfexp.contributed.graph_editor.view import make_view_from_scope as sgv_scope
from tfexp.contributed.graph_editor.wiring import add_control_inputs as add_control_inputs
from tfexp.contributed.graph_editor.wiring import bypass as bypass
from tfexp.contributed.graph_editor.wiring import connect as connect
from tfexp.contributed.graph_editor.wiring import detach as detach
from tfexp.contributed.graph_editor.wiring import detach_control_inputs as detach_control_inputs
from tfexp.contributed.graph_editor.wiring import detach_control_outputs as detach_control_outputs
from tfexp.contributed.graph_editor.wiring import detach_inputs as detach_inputs
from tfexp.contributed.graph_editor.wiring import detach_outputs as detach_outputs
from tfexp.contributed.graph_editor.wiring import (
    make_placeholder_from_dtype_and_shape as make_placeholder_from_dtype_and_shape,
)
from tfexp.contributed.graph_editor.wiring import make_placeholder_from_tensor as make_placeholder_from_tensor
from tfexp.contributed.graph_editor.wiring import ph as ph
from tfexp.contributed.graph_editor.wiring import placeholder_name as placeholder_name
from tfexp.contributed.graph_editor.wiring import remove_control_inputs as remove_control_inputs
from tfexp.contributed.graph_editor.wiring import reroute_inputs as reroute_inputs
from tfexp.contributed.graph_editor.wiring import reroute_ios as reroute_ios
from tfexp.contributed.graph_editor.wiring import reroute_outputs as reroute_outputs
from tfexp.contributed.graph_editor.wiring import reroute_ts as reroute_ts
from tfexp.contributed.graph_editor.wiring import swap_inputs as swap_inputs
from tfexp.contributed.graph_editor.wiring import swap_ios as swap_ios
from tfexp.contributed.graph_editor.wiring import swap_outputs as swap_outputs
from tfexp.contributed.graph_editor.wiring import swap_ts as swap_ts
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.graph_editor")

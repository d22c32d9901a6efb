"""`tf.contrib.image`: re-exports."""

from tfexp.contributed.image.geometry import angles_to_projective_transforms as angles_to_projective_transforms
from tfexp.contributed.image.geometry import compose_transforms as compose_transforms
from tfexp.contributed.image.geometry import rotate as rotate
from tfexp.contributed.image.geometry import transform as transform
from tfexp.contributed.image.geometry import translate as translate
from tfexp.contributed.image.geometry import translations_to_projective_transforms as translations_to_projective_transforms
from tfexp.contributed.image.warp import dense_image_warp as dense_image_warp
from tfexp.contributed.image.warp import interpolate_spline as interpolate_spline
from tfexp.contributed.image.warp import sparse_image_warp as sparse_image_warp
from tfexp.core.gone import missing_from
from tfexp.ops.bipartite_match import bipartite_match as bipartite_match
from tfexp.ops.connected_components import connected_components as connected_components
from tfexp.ops.image_transform import flat_transforms_to_matrices as flat_transforms_to_matrices
from tfexp.ops.image_transform import matrices_to_flat_transforms as matrices_to_flat_transforms

__getattr__ = missing_from("tf.contrib.image")

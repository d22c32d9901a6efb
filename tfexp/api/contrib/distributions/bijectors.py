"""`tf.contrib.distributions.bijectors`: invertible functions, which make distributions of others."""

from tfexp.contributed.batch_norm_bijector import BatchNormalization as BatchNormalization
from tfexp.contributed.flow_templates import masked_autoregressive_default_template as masked_autoregressive_default_template
from tfexp.contributed.flow_templates import masked_dense as masked_dense
from tfexp.contributed.flow_templates import real_nvp_default_template as real_nvp_default_template
from tfexp.core.gone import missing_from
from tfexp.distributions.bijectors.affine import Affine as Affine
from tfexp.distributions.bijectors.affine import AffineLinearOperator as AffineLinearOperator
from tfexp.distributions.bijectors.bijector import Bijector as Bijector
from tfexp.distributions.bijectors.composed import Chain as Chain
from tfexp.distributions.bijectors.composed import Invert as Invert
from tfexp.distributions.bijectors.curves import Gumbel as Gumbel
from tfexp.distributions.bijectors.curves import Kumaraswamy as Kumaraswamy
from tfexp.distributions.bijectors.curves import SinhArcsinh as SinhArcsinh
from tfexp.distributions.bijectors.curves import Softsign as Softsign
from tfexp.distributions.bijectors.curves import Square as Square
from tfexp.distributions.bijectors.elementwise import AbsoluteValue as AbsoluteValue
from tfexp.distributions.bijectors.elementwise import AffineScalar as AffineScalar
from tfexp.distributions.bijectors.elementwise import Exp as Exp
from tfexp.distributions.bijectors.elementwise import Identity as Identity
from tfexp.distributions.bijectors.elementwise import Inline as Inline
from tfexp.distributions.bijectors.elementwise import PowerTransform as PowerTransform
from tfexp.distributions.bijectors.elementwise import Sigmoid as Sigmoid
from tfexp.distributions.bijectors.elementwise import Softplus as Softplus
from tfexp.distributions.bijectors.flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from tfexp.distributions.bijectors.flows import RealNVP as RealNVP
from tfexp.distributions.bijectors.ordered import Ordered as Ordered
from tfexp.distributions.bijectors.shapes import Permute as Permute
from tfexp.distributions.bijectors.shapes import Reshape as Reshape
from tfexp.distributions.bijectors.shapes import SoftmaxCentered as SoftmaxCentered
from tfexp.distributions.bijectors.triangular import CholeskyOuterProduct as CholeskyOuterProduct
from tfexp.distributions.bijectors.triangular import FillTriangular as FillTriangular
from tfexp.distributions.bijectors.triangular import MatrixInverseTriL as MatrixInverseTriL
from tfexp.distributions.bijectors.triangular import ScaleTriL as ScaleTriL
from tfexp.distributions.bijectors.triangular import TransformDiagonal as TransformDiagonal

__getattr__ = missing_from("tf.contrib.distributions.bijectors")

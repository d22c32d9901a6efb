"""`tf.contrib.distributions.bijectors`: invertible functions, which make distributions of others."""

from tfexp.core.gone import missing_from
from tfexp.distributions.bijectors.affine import Affine as Affine
from tfexp.distributions.bijectors.affine import AffineLinearOperator as AffineLinearOperator
from tfexp.distributions.bijectors.bijector import Bijector as Bijector
from tfexp.distributions.bijectors.composed import Chain as Chain
from tfexp.distributions.bijectors.composed import Invert as Invert
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
from tfexp.distributions.bijectors.shapes import Permute as Permute
from tfexp.distributions.bijectors.shapes import Reshape as Reshape
from tfexp.distributions.bijectors.shapes import SoftmaxCentered as SoftmaxCentered

__getattr__ = missing_from("tf.contrib.distributions.bijectors")

"""`tf.random`: random tensors, by seed as TensorFlow has them."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.api import random_experimental as experimental
    from tfexp.graph.random_seed import get_seed as get_seed
    from tfexp.graph.random_seed import set_random_seed as set_random_seed
    from tfexp.ops.candidate_sampling import all_candidate_sampler as all_candidate_sampler
    from tfexp.ops.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from tfexp.ops.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
    from tfexp.ops.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
    from tfexp.ops.candidate_unigram import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from tfexp.ops.random import categorical as categorical
    from tfexp.ops.random import multinomial as multinomial
    from tfexp.ops.random import random_normal as normal
    from tfexp.ops.random import random_shuffle as shuffle
    from tfexp.ops.random import random_uniform as uniform
    from tfexp.ops.random import truncated_normal as truncated_normal
    from tfexp.ops.random_gamma import random_gamma as gamma
    from tfexp.ops.random_gamma import random_poisson as poisson
    from tfexp.ops.random_stateless import stateless_categorical as stateless_categorical
    from tfexp.ops.random_stateless import stateless_multinomial as stateless_multinomial
    from tfexp.ops.random_stateless import stateless_normal as stateless_normal
    from tfexp.ops.random_stateless import stateless_truncated_normal as stateless_truncated_normal
    from tfexp.ops.random_stateless import stateless_uniform as stateless_uniform

__getattr__, __dir__ = namespace("tf.random", __name__)

"""`tf.random`: random tensors, by seed as TensorFlow has them."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.graph.random_seed": "get_seed set_random_seed",
        "tfexp.ops.candidate_sampling": (
            "learned_unigram_candidate_sampler log_uniform_candidate_sampler uniform_candidate_sampler"
        ),
        "tfexp.ops.candidate_unigram": "fixed_unigram_candidate_sampler",
        "tfexp.ops.random": (
            "categorical multinomial normal=random_normal shuffle=random_shuffle uniform=random_uniform truncated_normal"
        ),
        "tfexp.ops.random_gamma": "gamma=random_gamma poisson=random_poisson",
        "tfexp.ops.random_stateless": "stateless_normal stateless_uniform",
    },
)

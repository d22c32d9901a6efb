"""`tf.nn`: layers' ops: convolutions, activations, losses, recurrence, embeddings."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.layers.rnn_dynamic": "bidirectional_dynamic_rnn dynamic_rnn",
        "tfexp.layers.rnn_static": "static_bidirectional_rnn static_rnn static_state_saving_rnn",
        "tfexp.ops.batch_norm": "fused_batch_norm",
        "tfexp.ops.candidate_sampling": (
            "compute_accidental_hits learned_unigram_candidate_sampler log_uniform_candidate_sampler "
            "uniform_candidate_sampler"
        ),
        "tfexp.ops.candidate_unigram": "fixed_unigram_candidate_sampler",
        "tfexp.ops.elementwise_unary": "sigmoid tanh",
        "tfexp.ops.embedding": "embedding_lookup",
        "tfexp.ops.embedding_sparse": "embedding_lookup_sparse",
        "tfexp.ops.lrn": "local_response_normalization lrn",
        "tfexp.ops.nn_activation": "crelu elu leaky_relu relu relu6 selu softplus softsign",
        "tfexp.ops.nn_bias": "bias_add relu_layer xw_plus_b",
        "tfexp.ops.nn_conv": (
            "atrous_conv2d conv1d conv2d conv3d convolution depthwise_conv2d depthwise_conv2d_native separable_conv2d"
        ),
        "tfexp.ops.nn_conv_transpose": "conv2d_transpose conv3d_transpose",
        "tfexp.ops.nn_cross_entropy": (
            "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
            "softmax_cross_entropy_with_logits_v2 sparse_softmax_cross_entropy_with_logits "
            "weighted_cross_entropy_with_logits"
        ),
        "tfexp.ops.nn_dropout": "dropout",
        "tfexp.ops.nn_norm": "batch_normalization l2_loss l2_normalize moments zero_fraction",
        "tfexp.ops.nn_pool": "avg_pool avg_pool2d avg_pool3d max_pool max_pool2d max_pool3d max_pool_with_argmax pool",
        "tfexp.ops.nn_sampled": "nce_loss sampled_softmax_loss",
        "tfexp.ops.nn_softmax": "log_softmax softmax",
        "tfexp.ops.nn_topk": "in_top_k top_k",
    },
    modules={
        "tfexp.api": "rnn_cell",
    },
)

"""What a session's ConfigProto says: where ops may run, how many threads, how much of a GPU.

2017/3/27 note 1 and 2017/4/17 notes 3 to 5.

Prints:

    42.0
    True True 0.7
"""

import tfexp as tf

config = tf.ConfigProto(
    log_device_placement=False,
    allow_soft_placement=True,
    inter_op_parallelism_threads=2,
    intra_op_parallelism_threads=1,
    gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.7, allow_growth=True),
)
with tf.device("/gpu:0"):
    product = tf.constant(6.0) * 7.0
with tf.Session(config=config) as sess:
    print(sess.run(product))
print(
    config.allow_soft_placement, config.gpu_options.allow_growth, f"{config.gpu_options.per_process_gpu_memory_fraction:.1f}"
)

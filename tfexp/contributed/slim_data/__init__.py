"""Examples from files of records, through queues and decoders: the data library of `tf.contrib.slim`. Source: TF 1.15."""

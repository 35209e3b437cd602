"""TensorFlow: graphs of `tf.cond` and `tf.while_loop`; NumPy programs compute with `Array`."""

from lsp_ad.staging.backends.tensorflow.backend import BACKEND

__all__ = ["BACKEND"]

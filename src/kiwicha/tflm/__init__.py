"""Models for TensorFlow Lite Micro: what is supported is one custom operator with a Program."""

from kiwicha.tflm.files import tflm_files
from kiwicha.tflm.model import OPERATOR, write_model
from kiwicha.tflm.partitions import Partition, Partitioned, divide

__all__ = ["OPERATOR", "Partition", "Partitioned", "divide", "tflm_files", "write_model"]

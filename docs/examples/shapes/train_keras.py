"""Train a small network in Keras and convert it: ``python train_keras.py``.

It writes shapes_int8.tflite.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from shapes import CLASSES, SIZE, draw

BATCH, STEPS = 64, 150
layers = tf.keras.layers


def images(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return pictures [count, SIZE, SIZE, 1] and their classes."""
    pictures, classes = draw(count, seed)
    return pictures.reshape(count, SIZE, SIZE, 1), classes


def block(outputs: int) -> list[tf.keras.layers.Layer]:
    """Return a depthwise and a pointwise convolution, which halve the image."""
    return [
        layers.DepthwiseConv2D(3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv2D(outputs, 1, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(max_value=6),
    ]


tf.keras.utils.set_random_seed(0)
network = tf.keras.Sequential([
    layers.Input((SIZE, SIZE, 1), batch_size=1),
    layers.Conv2D(16, 3, padding="same", use_bias=False),
    layers.BatchNormalization(momentum=0.9),
    layers.ReLU(),
    *block(32),
    *block(64),
    layers.GlobalAveragePooling2D(),
    layers.Dense(len(CLASSES)),
])
optimizer = tf.keras.optimizers.Adam(3e-3)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for step in range(STEPS):
    pictures, classes = images(BATCH, seed=step)
    with tf.GradientTape() as tape:
        loss = loss_of(classes, network(pictures, training=True))
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))


def examples() -> Iterator[list[NDArray[np.float32]]]:
    """Yield typical inputs, from which the scales are taken."""
    for picture in images(64, seed=1000)[0]:
        yield [picture[None]]


converter = tf.lite.TFLiteConverter.from_keras_model(network)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = examples
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
converter.inference_input_type = converter.inference_output_type = tf.int8
Path("shapes_int8.tflite").write_bytes(converter.convert())

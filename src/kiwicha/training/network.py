"""The float network and its training."""

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from kiwicha.training.augmentation import Composer
from kiwicha.training.dataset import Labelled
from kiwicha.training.quantize import INPUT
from kiwicha.training.topology import LAYERS, POOL_SIZE, Convolution

__all__ = ["NORM_EPSILON", "build_network", "predict", "to_input", "train"]

BATCH = 32
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 1e-2
LABEL_SMOOTHING = 0.02
NORM_EPSILON = 1e-5


def build_network() -> nn.Sequential:
    """Build the untrained network.

    Returns
    -------
    torch.nn.Sequential
        One block per entry of ``topology.LAYERS``, average pooling before the last, then a
        flattening; float32 ``[N, 1, 96, 96]`` to logits ``[N, 2]``.
    """
    *features, logits = (_block(layer) for layer in LAYERS)
    return nn.Sequential(*features, nn.AvgPool2d(POOL_SIZE), logits, nn.Flatten())


def _block(layer: Convolution) -> nn.Sequential:
    """Build padding, convolution, and batch normalisation with ReLU6 if the layer has them."""
    before, after = layer.padding
    convolution = nn.Conv2d(
        layer.in_channels,
        layer.out_channels,
        layer.kernel,
        layer.stride,
        groups=layer.in_channels if layer.is_depthwise else 1,
        bias=not layer.has_activation,
    )
    modules: OrderedDict[str, nn.Module] = OrderedDict()
    modules["padding"] = nn.ZeroPad2d((before, after, before, after))
    modules["convolution"] = convolution
    if layer.has_activation:
        modules["norm"] = nn.BatchNorm2d(layer.out_channels, eps=NORM_EPSILON)
        modules["activation"] = nn.ReLU6()
    return nn.Sequential(modules)


def to_input(pictures: Tensor) -> Tensor:
    """Convert pixels (float32, 0 to 255) to the real numbers that the int8 input stands for."""
    real = (pictures - 128 - INPUT.zero_point) * INPUT.scale
    return real.contiguous(memory_format=torch.channels_last)


def train(
    patches: Labelled, *, steps: int, seed: int, report: Callable[[int, float], None]
) -> nn.Sequential:
    """Train a network on pictures composed from patches.

    Parameters
    ----------
    patches : Labelled
        uint8 ``[N, 25, 25]``, both classes.
    steps : int
        Number of batches.
    seed : int
        Seed of the initial weights and of the pictures.
    report : callable
        Called with the step's number and its loss after each step.

    Returns
    -------
    torch.nn.Sequential
        The trained network in evaluation mode.
    """
    torch.manual_seed(seed)
    network = build_network()
    # With the channels last, here and in ``to_input``, a step takes two thirds of the time.
    nn.utils.convert_conv2d_weight_memory_format(network, torch.channels_last)
    composer = Composer.of(patches, seed)
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    network.train()
    for step in range(steps):
        pictures, labels = composer.compose(BATCH)
        loss = functional.cross_entropy(
            network(to_input(pictures)), labels, label_smoothing=LABEL_SMOOTHING
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        report(step, loss.item())
    return network.eval()


def predict(network: nn.Sequential, pictures: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Classify pictures (uint8 ``[N, 96, 96]``) with the float network."""
    with torch.no_grad():
        logits = network(to_input(torch.from_numpy(pictures[:, None].astype(np.float32))))
    result: NDArray[np.int64] = logits.argmax(1).numpy()
    return result

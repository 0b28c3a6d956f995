"""The language of architectures: what single layers write."""

from typing import Any

import numpy as np
import tflite

from kiwicha.gallery.network import Network
from kiwicha.gallery.ranges import Ranges
from kiwicha.gallery.tensors import Tensor
from tests.support.oracle import oracle


def network(ranges: Ranges | None = None, **options: Any) -> Network:
    return Network(
        size=8, width=1.0, description="layers", seed=1, ranges=ranges or Ranges(),
        **({"is_unsigned": False, "sample_size": 8} | options),
    )  # fmt: skip


def answers(net: Network, outputs: list[Tensor], x: Tensor) -> tuple[Any, ...]:
    """Give the interpreter's outputs for the first image of the samples."""
    case = oracle.Case(net.file(outputs), (x.sample[:1],))
    (found,) = oracle.ask([case])
    assert found.outputs is not None, found.error
    return found.outputs


def check(net: Network, x: Tensor, outputs: list[Tensor], most: int = 1) -> None:
    """Compare the samples with the interpreter: rounding apart, they are what it computes."""
    for y, given in zip(outputs, answers(net, outputs, x), strict=True):
        assert given.shape == y.shape
        difference = np.abs(given.astype(int) - y.sample[:1].reshape(given.shape).astype(int))
        assert difference.max() <= most


def test_samples_are_what_the_interpreter_computes() -> None:
    net = network()
    x = net.input(8, 8, 6)
    outputs = [
        net.conv(x, 8, kernel=3, stride=2, activation="relu"),
        net.conv(x, 4, groups=2, activation="relu6"),
        net.depthwise(x, kernel=(3, 5)),
        net.transpose_conv(x, 5),
        net.max_pool(x, 3, stride=2),
        net.average_pool(x, 3, stride=1),
        net.mean(x),
        net.upsample(x),
        net.shuffle(x, 3),
        net.softmax(x),
        net.dense(net.reshape(x, 1, 384), 7),
        net.transpose(net.reshape(x, 1, 64, 6), 0, 2, 1),
        net.concat([x, net.max_pool(x, 5, stride=1)]),
        *net.split(x, [1, 2, 3]),
        *net.split(x, [3, 3]),
        net.add(x, x, activation="relu"),
        net.mul(x, x),
        net.activation(x, "hard_swish"),
        net.activation(x, "relu"),
    ]
    check(net, x, outputs)


def test_layers_of_several_operators_round_several_times() -> None:
    net = network()
    x = net.input(8, 8, 6)
    y = net.conv(x, 8, kernel=3)
    activations = [net.activation(y, name) for name in ("silu", "hard_sigmoid")]
    check(net, x, [*activations, net.normalize(x, activation="relu")], most=3)


def test_images_of_the_file_may_be_larger_than_the_samples() -> None:
    net = network(sample_size=8)
    x = net.input(32, 16, 3)
    assert (x.shape, x.sample.shape) == ((1, 32, 16, 3), (4, 8, 8, 3))
    y = net.conv(x, 5, kernel=3, stride=2)
    assert (y.shape, y.sample.shape) == ((1, 16, 8, 5), (4, 4, 4, 5))
    flat = net.reshape(y, 1, 640)
    assert (flat.shape, flat.sample.shape) == ((1, 640), (4, 640))


def test_joined_tensors_get_one_quantization() -> None:
    ranges = Ranges()
    for _ in range(2):
        net = network(ranges)
        x = net.input(8, 8, 4)
        small, large = net.conv(x, 4), net.mul(net.conv(x, 4), net.conv(x, 4))
        probabilities = net.logistic(x)
        y = net.concat([small, large, probabilities])
        ranges.settle()
    assert (small.scale, small.zero_point) == (large.scale, large.zero_point)
    assert (y.scale, y.zero_point) == (small.scale, small.zero_point)
    graph = tflite.Model.GetRootAs(net.file([y]), 0).Subgraphs(0)
    # The interpreter prescribes the scale of probabilities: they are rescaled.
    assert graph.OperatorsLength() == 6 + 1
    check(net, x, [y])


def test_probabilities_are_not_clipped_by_what_they_are_joined_with() -> None:
    ranges = Ranges()
    for _ in range(2):
        net = network(ranges)
        means = net.mean(net.input(8, 8, 4), keep=True)
        probabilities = net.logistic(means)
        y = net.concat([means, probabilities])
        ranges.settle()
    assert means.values.max() < probabilities.values.max()
    assert abs(y.values.max() - probabilities.values.max()) < y.scale


def test_unsigned_numbers_are_the_same_plus_128() -> None:
    for is_unsigned, dtype in ((False, np.int8), (True, np.uint8)):
        net = network(is_unsigned=is_unsigned)
        x = net.input(8, 8, 3)
        y = net.dense(net.reshape(x, 1, 192), 10)
        z = net.conv(x, 10, kernel=3)
        values = (x.sample[:1].astype(int) + 128 * is_unsigned).astype(dtype)
        interpreter = oracle.LITERT if is_unsigned else oracle.MICRO
        (found,) = oracle.ask([oracle.Case(net.file([y, z]), (values,))], interpreter)
        assert found.outputs is not None, found.error
        dense, convolved = (given.astype(int) - 128 * is_unsigned for given in found.outputs)
        assert np.abs(dense - y.sample[:1]).max() <= 1
        # Weights of uint8 have one scale: those of weak channels are rounded.
        assert np.abs(convolved - z.sample[:1]).max() <= (3 if is_unsigned else 1)


def test_channels_at_another_width_are_groups_of_8() -> None:
    net = Network(
        size=8, width=0.3, description="", seed=0, is_unsigned=False, ranges=Ranges(), sample_size=8
    )
    assert [net.wide(channels) for channels in (3, 64, 100)] == [8, 16, 32]
    assert network().wide(3) == 3

"""Random networks, and random layers with others around them, with inputs for them."""

import random

from tests.support.models.random_layers import UNARIES, RandomModel
from tests.support.oracle.oracle import Case

__all__ = [
    "depthwise_pairs",
    "engine_network",
    "long_sums",
    "network",
    "network_of_types",
    "pools",
    "separate_channels",
    "transposed",
]


def network(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with branches, as image classifiers have them, and its input."""
    rng = random.Random(f"network{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    size, channels = rng.randint(5, 20), rng.randint(1, 6)
    x = model.input((1, size, rng.randint(5, 20), channels))
    x = _steps(model, x, rng.randint(2, 6))
    x = model.mean(x, axes=[1, 2], keep=False) if rng.random() < 0.5 else model.flatten(x)
    x = model.fully_connected(x, outputs=rng.randint(2, 12))
    model.softmax(x)
    return model.case()


def network_of_types(seed: int, *, parts: int, is_unsigned: bool) -> Case:
    """Return a model whose parts are of int8 and uint8 in turn, with a QUANTIZE between two.

    The first and the last part are nothing but the model's input and output.
    """
    rng = random.Random(f"types{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    x = model.input((1, rng.randint(5, 12), rng.randint(5, 12), rng.choice([1, 3, 8])))
    for _ in range(parts - 2):
        x = _steps(model, model.other_type(x), rng.randint(1, 3))
    model.other_type(x)
    return model.case()


def separate_channels(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with a convolution of many channels that are computed apart from each other.

    Of several outputs each, of kernels with more than 8 columns, or in groups; others may follow.
    """
    rng = random.Random(f"separate{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    channels = rng.choice([32, 48, 96])
    x = model.input((rng.choice([1, 1, 2]), rng.randint(10, 14), rng.randint(10, 14), channels))
    kind = rng.choice(["multiplier", "wide", "groups"])
    if kind == "multiplier":
        x = model.depthwise(x, multiplier=rng.choice([2, 3, 5]), kernel=rng.choice([3, 4]))
    elif kind == "wide":
        x = model.depthwise(x, multiplier=1, kernel=rng.choice([9, 10]))
    else:
        groups = channels // rng.choice([1, 4, 8])
        outputs = groups * rng.choice([4, 8])
        x = model.conv(x, kernel=rng.choice([1, 3, 5]), channels=outputs, groups=groups)
    if rng.random() < 0.3:
        x = model.unary("RELU", x)
    if rng.random() < 0.3:
        model.conv(x, kernel=1, channels=16)
    return model.case()


def long_sums(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with a layer of thousands of products per output; others may be around it."""
    rng = random.Random(f"long{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    images, outputs = rng.choice([1, 1, 2]), rng.choice([3, 8, 20, 40, 72])
    kind = rng.choice(["rows", "columns", "channels", "groups", "dense", "transposed"])
    size = rng.randint(3, 9), rng.randint(3, 9)
    if kind == "dense":
        x = model.input((images, rng.randint(2049, 7000)))
        model.fully_connected(x, outputs)
        return model.case()
    kernel, low, high = {
        "rows": (3, 230, 420),
        "columns": (rng.choice([3, 5]), 700, 1100),
        "channels": (rng.choice([1, 1, 2]), 2049, 3000),
        "groups": (3, 480, 640),
        "transposed": (3, 600, 1200),
    }[kind]
    channels = rng.randint(low, high) if rng.random() < 0.5 else rng.randint(low, high) // 8 * 8
    channels = channels // 2 * 2
    x = model.input((images, *size, channels))
    if kind == "transposed":
        x = model.transpose_conv(x)
    elif kind == "groups":
        x = model.conv(x, kernel=kernel, channels=-(-outputs // 2) * 2, groups=2)
    else:
        x = model.conv(x, kernel=kernel, channels=outputs)
    if rng.random() < 0.3:
        model.unary("RELU", x)
    return model.case()


def transposed(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with transposed convolutions, behind and in front of others perhaps."""
    rng = random.Random(f"transposed{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    x = model.input((rng.choice([1, 1, 2]), rng.randint(1, 9), rng.randint(1, 9), 8))
    if rng.random() < 0.5:
        x = model.conv(x, kernel=1, channels=rng.choice([8, 24, 5]))
    x = model.transpose_conv(x)
    if rng.random() < 0.5:
        x = model.conv(x, kernel=rng.choice([1, 3]), channels=8)
    if rng.random() < 0.3:
        model.transpose_conv(x)
    return model.case()


def _steps(model: RandomModel, x: int, count: int) -> int:
    """Add a few layers on images, as image classifiers have them."""
    rng = model.rng
    for _ in range(count):
        kind = rng.choice(["conv", "conv", "depthwise", "residual", "pool", "pad"])
        if kind == "conv":
            x = model.conv(x)
        elif kind == "depthwise":
            x = model.conv(model.depthwise(x), kernel=1)
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True)
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB", "MUL"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        else:
            x = model.pad(x)
    return x


def engine_network(seed: int, *, images: int = 1) -> Case:
    """Return a model most of whose layers the engine can do, and its input.

    Between its layers are tensors of any number of channels; it ends with a single pixel of each
    image.
    """
    rng, pools = random.Random(f"engine{seed}"), random.Random(f"engine pools{seed}")
    model = RandomModel(rng, dead_share=rng.choice([0, 0, 0.3, 0.9]))
    are_whole = rng.random() < 0.6

    def channels() -> int:
        return rng.choice([8, 16, 24, 40]) if are_whole else rng.randint(1, 36)

    size = (rng.randint(6, 24), rng.randint(6, 24), rng.choice([1, 3, 8, channels()]))
    x = model.input((images, *size))
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice([
            "conv",
            "conv",
            "depthwise",
            "depthwise",
            "residual",
            "pool",
            "scalar",
            "scales",
            "unary",
        ])
        if kind == "conv":
            x = model.conv(x, kernel=rng.choice([None, 1, 1, 3, 6]), channels=channels())
        elif kind == "depthwise":
            multiplier = rng.choice([1, 1, 1, 2])
            x = model.depthwise(x, multiplier=multiplier, kernel=rng.choice([None, 3, 6, 8]))
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True, channels=channels())
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB", "MUL"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool(pools.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        elif kind == "scales":
            x = _scaled_channels(model, x)
        elif kind == "unary":
            x = model.unary(rng.choice(UNARIES), x)
        else:
            operator = rng.choice(["ADD", "SUB", "MUL"])
            shape = (model.channels(x),) if rng.random() < 0.5 else (1,)
            x = model.elementwise(operator, x, model.constant(shape))
    x = model.mean(x, axes=[1, 2], keep=False)
    model.fully_connected(x, outputs=rng.randint(1, 30))
    return model.case()


def depthwise_pairs(
    seed: int,
    *,
    pairs: int | None = None,
    size: int | None = None,
    channels: tuple[int, ...] | None = None,
) -> Case:
    """Return a model of pointwise and depthwise layers in turn, and its input.

    Of few channels or of many, unless it is said which, and of kernels up to 7x7; a pool or a
    residual may be between them. Of 16 and more a convolution can have packed products.
    """
    rng = random.Random(f"pairs{seed}")
    few, many = channels or (1, 3, 8, 16), channels or (8, 12, 24, 64)
    model = RandomModel(rng)
    side = rng.randint(6, 40) if size is None else size
    x = model.input((1, side, rng.randint(6, 40), rng.choice(few)))
    for _ in range(rng.randint(1, 4) if pairs is None else pairs):
        kind = rng.choice(["pair"] * 6 + ["pool", "residual"])
        x = model.conv(x, kernel=rng.choice([1, 1, 1, 3]), channels=rng.choice(many))
        if kind == "pool":
            x = model.pool("AVERAGE_POOL_2D", x)
        x = model.depthwise(x, multiplier=1, kernel=rng.choice([3, 3, 3, 2, 5, 7]))
        if kind == "residual":
            branch = model.conv(x, kernel=1, is_same=True, channels=16)
            x = model.elementwise("ADD", branch, model.conv(x, kernel=1, like=branch))
    model.conv(x, kernel=1, channels=rng.choice([4, 16, 40]))
    return model.case()


def pools(seed: int) -> Case:
    """Return a model of pools, and perhaps convolutions between them, of whole groups of 8."""
    rng = random.Random(f"pools{seed}")
    model = RandomModel(rng)
    x = model.input((1, rng.randint(4, 24), rng.randint(4, 24), rng.choice([8, 16, 24])))
    for _ in range(rng.randint(1, 3)):
        x = model.pool(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        if rng.random() < 0.3:
            x = model.conv(x, kernel=3, is_same=True, channels=rng.choice([8, 16]))
    return model.case()


def _scaled_channels(model: RandomModel, x: int) -> int:
    """Add squeeze and excitation, or something like it."""
    rng = model.rng
    scales = model.mean(x, axes=[1, 2], keep=True)
    scales = model.conv(scales, kernel=1, channels=model.channels(x))
    if rng.random() < 0.5:
        scales = model.unary(rng.choice(UNARIES), scales)
    operands = rng.sample([x, scales], 2)
    return model.elementwise(rng.choice(["ADD", "SUB", "MUL", "MUL"]), *operands)

"""Data, pictures, network and conversion: the parts that need the optional extra ``train``."""

import importlib
from typing import Any

import numpy as np
import pytest
from tflite_micro import runtime

from kiwicha.training.topology import LAYERS

for package in ("torch", "skimage", "ai_edge_litert"):
    pytest.importorskip(package, reason="the optional extra 'train' is not installed")
torch = importlib.import_module("torch")
# More threads wait for each other when other tests run beside this one.
torch.set_num_threads(1)
augmentation = importlib.import_module("kiwicha.training.augmentation")
convert = importlib.import_module("kiwicha.training.convert")
dataset = importlib.import_module("kiwicha.training.dataset")
network = importlib.import_module("kiwicha.training.network")


def test_patches_are_half_faces() -> None:
    patches = dataset.load_patches()
    assert patches.images.shape == (200, 25, 25)
    assert patches.images.dtype == np.uint8
    assert patches.labels.tolist() == [1] * 100 + [0] * 100
    assert patches.images.max() == 255


@pytest.mark.parametrize("seed", range(2))
def test_folds_hold_out_each_patch_once_and_never_train_on_it(seed: int) -> None:
    # Each patch carries its own number, so that it is known again.
    numbers = np.arange(200, dtype=np.uint8).reshape(200, 1, 1)
    splits = dataset.split_folds(dataset.Labelled(numbers, np.arange(200) % 2), seed=seed)
    held_out = [set(split.held_out.images.ravel().tolist()) for split in splits]
    assert sorted(number for part in held_out for number in part) == list(range(200))
    for split, part in zip(splits, held_out, strict=True):
        assert set(split.train.images.ravel().tolist()) == set(range(200)) - part
        for patches in (split.train, split.held_out):
            assert (patches.images.ravel() % 2 == patches.labels).all()
        assert split.held_out.labels.sum() == 20
    others = dataset.split_folds(dataset.Labelled(numbers, np.arange(200) % 2), seed=seed + 1)
    assert held_out[0] != set(others[0].held_out.images.ravel().tolist())


def test_pictures_are_enlarged_patches() -> None:
    patches = np.full((2, 25, 25), 77, np.uint8)
    patches[1, :, 13:] = 200
    pictures = dataset.enlarge(dataset.Labelled(patches, np.array([0, 1])))
    assert pictures.images.shape == (2, 96, 96)
    assert (pictures.images[0] == 77).all()
    assert pictures.images[1, 0, 0] == 77
    assert pictures.images[1, -1, -1] == 200
    assert pictures.labels.tolist() == [0, 1]


def make_composer(seed: int) -> Any:
    faces = torch.linspace(0, 1, 3 * 625).reshape(3, 1, 25, 25)
    generator = torch.Generator().manual_seed(seed)
    return augmentation.Composer(faces, 1 - faces, generator)


@pytest.mark.parametrize("seed", range(2))
def test_composed_pictures_are_pixels_and_follow_the_seed(seed: int) -> None:
    pictures, labels = make_composer(seed).compose(8)
    assert pictures.shape == (8, 1, 96, 96)
    assert labels.tolist() == [1] * 4 + [0] * 4
    assert torch.equal(pictures, pictures.round())
    assert 0 <= pictures.min() < pictures.max() <= 255
    assert torch.equal(pictures, make_composer(seed).compose(8)[0])
    assert not torch.equal(pictures, make_composer(seed + 1).compose(8)[0])


def test_composer_tells_faces_from_others() -> None:
    images = np.repeat(np.array([51, 255, 0], np.uint8), 625).reshape(3, 25, 25)
    patches = dataset.Labelled(images, np.array([1, 0, 1]))
    composer = augmentation.Composer.of(patches, 5)
    np.testing.assert_allclose(composer.faces[:, 0, 0, 0].numpy(), [0.2, 0.0])
    np.testing.assert_allclose(composer.others[:, 0, 0, 0].numpy(), [1.0])
    made = composer.compose_labelled(6)
    expected, labels = augmentation.Composer.of(patches, 5).compose(6)
    np.testing.assert_array_equal(made.images, expected[:, 0].numpy())
    np.testing.assert_array_equal(made.labels, labels.numpy())


def test_scrambling_keeps_blocks_and_moves_them() -> None:
    patch = torch.arange(625.0).reshape(1, 1, 25, 25)
    scrambled = make_composer(0)._scramble(patch)
    assert not torch.equal(scrambled, patch)
    assert sorted(scrambled.ravel().tolist()) == sorted(patch.ravel().tolist())
    corner = scrambled[0, 0, :5, :5]
    steps = torch.arange(5.0)
    assert torch.equal(corner - corner[0, 0], steps[:, None] * 25 + steps)


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_patch_lands_where_it_is_sent(mirror: float) -> None:
    # White left half; half the frame's size; shifted to the lower right corner.
    patch = torch.zeros(1, 1, 24, 24)
    patch[..., :12] = 1
    half, zero = torch.full((1, 1, 1, 1), 0.5), torch.zeros(1, 1, 1, 1)
    frames, masks = augmentation._warp(patch, half, half, half, zero, zero + mirror)
    assert masks[0, 0, 72, 72] == 1
    assert masks[0, 0, 24, 72] == masks[0, 0, 72, 24] == 0
    left, right = frames[0, 0, 72, 60].item(), frames[0, 0, 72, 84].item()
    assert (left, right) == ((1.0, 0.0) if mirror > 0 else (0.0, 1.0))


def test_network_has_the_shapes_of_the_topology() -> None:
    built = network.build_network().eval()
    values = torch.zeros(1, 1, 96, 96)
    blocks = iter(LAYERS)
    for module in built:
        values = module(values)
        if isinstance(module, torch.nn.Sequential):
            layer = next(blocks)
            assert values.shape == (1, layer.out_channels, layer.out_size, layer.out_size)
    assert values.shape == (1, 2)


@pytest.mark.parametrize("seed", range(2))
def test_converted_network_answers_like_the_float_network(seed: int) -> None:
    torch.manual_seed(seed)
    built = network.build_network()
    for module in built.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.8, 1.6)
            torch.nn.init.normal_(module.bias, 0.5, 0.5)
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (8, 6, 6), np.uint8)
    pictures = coarse.repeat(16, 1).repeat(16, 2)
    values = network.to_input(torch.from_numpy(pictures[:, None].astype(np.float32)))
    with torch.no_grad():
        for _ in range(30):
            built.train()(values)
        # Spread the logits: an untrained network says nearly the same about every picture.
        logits = built.eval()(values)
        built[-2].convolution.weight *= 0.5 / logits.std(0).max()
        built[-2].convolution.bias -= built(values).mean(0)
        expected = torch.softmax(built(values), 1).numpy()
    model = convert.convert(built, pictures)
    assert model == convert.convert(built, pictures)
    interpreter = runtime.Interpreter.from_bytes(model)
    errors = []
    for picture, probabilities in zip(pictures, expected, strict=True):
        stored = (picture.astype(np.int16) - 128).astype(np.int8)
        interpreter.set_input(stored[None, :, :, None], 0)
        interpreter.invoke()
        errors.append((interpreter.get_output(0)[0] + 128.0) / 256 - probabilities)
    assert expected.max() - expected.min() > 0.3
    # Rounding in 28 untrained layers costs 0.02 to 0.035; a wrong sign, axis or scale 0.12 or more.
    assert np.abs(errors).mean() < 0.06

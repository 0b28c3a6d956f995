"""Files as input tensors."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType
from kiwicha.errors import UsageError
from kiwicha.pictures import tensor_bytes
from kiwicha.program.parts import IoTensor


def tensor(*shape: int, dtype: DType = DType.INT8) -> IoTensor:
    size = int(np.prod(shape)) * dtype.size_bytes
    return IoTensor("image", Ref(0, size), dtype, shape, scale=0.5, zero_point=3)


def save(path: Path, pixels: list[list[int | tuple[int, ...]]]) -> Path:
    array = np.array(pixels).astype(np.uint8)
    Image.fromarray(array).save(path)
    return path


def values(raw: bytes) -> list[int]:
    return np.frombuffer(raw, np.int8).tolist()


def test_raw_bytes_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "tensor.bin"
    path.write_bytes(bytes(range(6)))
    assert tensor_bytes(tensor(2, 3), path) == bytes(range(6))


def test_pixels_span_the_whole_int8_range(tmp_path: Path) -> None:
    path = save(tmp_path / "grey.png", [[0, 1, 127], [128, 254, 255]])
    assert values(tensor_bytes(tensor(1, 2, 3, 1), path)) == [-128, -127, -1, 0, 126, 127]


def test_colours_are_interleaved_red_first(tmp_path: Path) -> None:
    path = save(tmp_path / "rgb.bmp", [[(255, 0, 128), (1, 2, 3)]])
    assert values(tensor_bytes(tensor(1, 1, 2, 3), path)) == [127, -128, 0, -127, -126, -125]


def test_colour_becomes_grey_by_luma(tmp_path: Path) -> None:
    path = save(tmp_path / "rgb.png", [[(255, 0, 0), (0, 255, 0), (0, 0, 255)]])
    # 0.299, 0.587 and 0.114 of 255.
    assert values(tensor_bytes(tensor(1, 1, 3, 1), path)) == [76 - 128, 150 - 128, 29 - 128]


def test_grey_becomes_three_equal_channels_and_transparency_is_dropped(tmp_path: Path) -> None:
    grey = save(tmp_path / "grey.png", [[200]])
    assert values(tensor_bytes(tensor(1, 1, 1, 3), grey)) == [72, 72, 72]
    clear = save(tmp_path / "clear.png", [[(200, 100, 50, 0)]])
    assert values(tensor_bytes(tensor(1, 1, 1, 3), clear)) == [72, -28, -78]


def test_resizing_is_bilinear_to_height_by_width(tmp_path: Path) -> None:
    path = save(tmp_path / "wide.png", [[0, 0, 200, 200]] * 2)
    # Halving widens the triangle to weights 3/7, 3/7, 1/7 for the pair and its neighbour.
    assert values(tensor_bytes(tensor(1, 1, 2, 1), path)) == [29 - 128, 171 - 128]
    assert len(tensor_bytes(tensor(1, 5, 3, 1), path)) == 15


def test_a_picture_of_the_tensors_size_is_still_a_picture(tmp_path: Path) -> None:
    path = save(tmp_path / "small.bmp", [[9] * 8] * 8)
    size = path.stat().st_size
    assert values(tensor_bytes(tensor(1, 1, size, 1), path)) == [9 - 128] * size
    renamed = path.rename(tmp_path / "small.bin")
    assert tensor_bytes(tensor(1, 1, size, 1), renamed) == renamed.read_bytes()
    assert values(tensor_bytes(tensor(1, 8, 8, 1), renamed)) == [9 - 128] * 64


def test_the_wrong_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tensor.bin"
    path.write_bytes(bytes(5))
    with pytest.raises(UsageError) as caught:
        tensor_bytes(tensor(1, 3, dtype=DType.INT32), path)
    assert str(caught.value) == (
        f"input 'image' must be int32 1x3, 12 bytes, or a picture, not 5 bytes ({path})"
    )


@pytest.mark.parametrize(
    ("unfit", "text"),
    [
        (tensor(1, 4), "int8 1x4, 4 bytes"),
        (tensor(1, 2, 2, 2), "int8 1x2x2x2, 8 bytes"),
        (tensor(2, 2, 2, 1), "int8 2x2x2x1, 8 bytes"),
        (tensor(1, 2, 2, 1, dtype=DType.INT32), "int32 1x2x2x1, 16 bytes"),
    ],
)
def test_a_tensor_that_takes_no_picture(tmp_path: Path, unfit: IoTensor, text: str) -> None:
    path = save(tmp_path / "grey.png", [[1]])
    with pytest.raises(UsageError) as caught:
        tensor_bytes(unfit, path)
    assert str(caught.value) == (
        "input 'image' must be int8 or uint8 1xHxWx1 or 1xHxWx3 to take a picture, "
        f"or the same with the channels first, not {text} ({path}); give its raw bytes"
    )


def test_channels_can_come_first(tmp_path: Path) -> None:
    path = tmp_path / "colours.png"
    pixels = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    Image.fromarray(pixels).save(path)
    raw = tensor_bytes(tensor(1, 3, 2, 4, dtype=DType.UINT8), path)
    assert raw == pixels.transpose(2, 0, 1).tobytes()


@pytest.mark.parametrize("name", ["large.png", "large"])
def test_a_large_picture_is_taken_without_a_warning(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path / "large.png", [[7] * 30] * 30).rename(tmp_path / name)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)
    assert values(tensor_bytes(tensor(1, 1, 1, 1), path)) == [7 - 128]
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 400)
    with pytest.raises(UsageError, match=r"exceeds limit of 800 pixels|or a picture, not "):
        tensor_bytes(tensor(1, 1, 1, 1), path)


@pytest.mark.parametrize("keep", [0, 4, 40, 90])
def test_a_damaged_picture_is_refused(tmp_path: Path, keep: int) -> None:
    path = save(tmp_path / "noise.png", np.arange(4096).reshape(64, 64).tolist())
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UsageError, match=r"^input must be a whole picture: "):
        tensor_bytes(tensor(1, 8, 8, 1), path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^input must be a readable file: No such file"):
        tensor_bytes(tensor(1), tmp_path / "no.bin")

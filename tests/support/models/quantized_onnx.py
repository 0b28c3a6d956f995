"""Networks of float32 that onnxruntime quantizes, as its users do."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.gallery.catalogue import find
from tests.support.models.onnx_of_graph import float_model
from tests.support.requirements import module

__all__ = ["images", "quantized", "quantized_network"]


def images(name: str, shape: tuple[int, ...], count: int, seed: int) -> list[dict[str, Any]]:
    """Return random images with large areas of one colour, by the input's name."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        coarse = rng.normal(0, 1, (*shape[:2], 4, 4))
        factors = shape[2] // 4, shape[3] // 4
        image = np.kron(coarse, np.ones((1, 1, *factors))) + rng.normal(0, 0.2, shape)
        found.append({name: image.astype(np.float32)})
    return found


def quantized(
    model: bytes, samples: list[dict[str, NDArray[Any]]], folder: Path, **how: Any
) -> bytes:
    """Return what ``quantize_static`` makes of a model.

    Parameters
    ----------
    model : bytes
        ONNX of float32.
    samples : list of dict
        Inputs, by name.
    folder : Path
        For files.
    **how : Any
        Further arguments.
    """
    quantization = module("onnxruntime.quantization", "onnxruntime")
    rest = iter(samples)

    methods = {"get_next": lambda self: next(rest, None)}
    reader = type("Reader", (quantization.CalibrationDataReader,), methods)()
    source, target = folder / "float.onnx", folder / "int8.onnx"
    source.write_bytes(model)
    settings = {
        "quant_format": quantization.QuantFormat.QDQ,
        "activation_type": quantization.QuantType.QInt8,
        "weight_type": quantization.QuantType.QInt8,
        "per_channel": True,
        **how,
    }
    quantization.quantize_static(str(source), str(target), reader, **settings)
    return target.read_bytes()


def quantized_network(name: str, folder: Path, **how: Any) -> tuple[bytes, list[dict[str, Any]]]:
    """Return a model of the gallery that onnxruntime has quantized, and further inputs."""
    model = float_model(find(name).content())
    shape, key = _input(model)
    calibration, inputs = images(key, shape, 6, 1), images(key, shape, 8, 2)
    return quantized(model, calibration, folder, **how), inputs


def _input(model: bytes) -> tuple[tuple[int, ...], str]:
    onnx = module("onnx", "onnx")
    edge = onnx.load_model_from_string(model).graph.input[0]
    return tuple(size.dim_value for size in edge.type.tensor_type.shape.dim), edge.name

"""Small files that are right, from which hostile ones are made."""

import json

from kiwicha.compiler import compile_model
from kiwicha.zoo import models as zoo
from tests.support.commands.example_runs import example_run, example_study
from tests.support.models import random_models, random_networks, random_onnx
from tests.support.programs.every_kernel import every_kernel

__all__ = ["every_kernel_program", "network_program", "seeds", "small_program", "zoo_program"]

_TFLITE = ("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "SOFTMAX", "RESHAPE", "MAX_POOL_2D")
_ONNX = ("Conv", "Gemm", "MatMul", "Softmax", "MaxPool", "Reshape")


def every_kernel_program() -> bytes:
    """Return a Program of ``simd`` with a step of every kernel of the firmware."""
    return bytes(every_kernel().program().to_bytes())


def small_program() -> bytes:
    """Return a Program of ``simd`` with a convolution."""
    program = compile_model(random_models.single_operator("CONV_2D", 1).model, "simd")
    return bytes(program.to_bytes())


def network_program() -> bytes:
    """Return a Program of ``64`` with lists of the engine, and steps of the CPU between them."""
    return bytes(compile_model(random_networks.network(3).model, "64").to_bytes())


def zoo_program(name: str, config: str = "simd") -> bytes:
    """Return the Program of a public model."""
    return bytes(compile_model(zoo.resolve(name)[1], config).to_bytes())


def seeds(reader: str) -> list[bytes]:
    """Return the files that the fuzzer of a reader begins with.

    Parameters
    ----------
    reader : str
        One of `tools.fuzz.readers.READERS`.
    """
    if reader == "answers":
        return [bytes(300), bytes([0, 0, *[130, 7, 0, 9] * 9]), bytes([0, 0, 0, 161, 190, 224] * 9)]
    if reader == "page":
        runs = [example_run(layers=2), example_run(layers=1)]
        return [json.dumps(value).encode() for value in (runs, runs[0], example_study())]
    if reader == "onnx":
        return [random_onnx.single_operator(name, 1).model for name in _ONNX]
    models = [random_models.single_operator(name, 1).model for name in _TFLITE]
    models.append(random_networks.network(1).model)
    if reader == "tflite":
        return models
    programs = [
        compile_model(model, config).to_bytes() for model in models[:2] for config in ("simd", "64")
    ]
    return [every_kernel_program(), *programs]

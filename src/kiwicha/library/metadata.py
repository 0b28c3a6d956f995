"""What a project needs to know of a model before it links it."""

import hashlib
from importlib.metadata import version
from typing import Any

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.bounds import worst_cycles
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.reasons import on_cpu
from kiwicha.detection.files import detection_metadata
from kiwicha.kernels.stack import stack_bytes
from kiwicha.library.names import file_name
from kiwicha.program.parts import IoTensor

__all__ = ["METADATA_NAME", "metadata"]

METADATA_NAME = "metadata.json"
_FORMAT = 1


def metadata(name: str, compilation: Compilation, source: bytes) -> dict[str, Any]:
    """Return what a project needs to know before it links a model.

    Returns
    -------
    dict
        ``format``, ``kiwicha`` (version), ``model``, ``source_sha256``, ``config``,
        ``config_hash``; ``memory`` in bytes (``program``, of it ``constants``, ``arena``,
        ``stack``, and with a double buffer ``shift``, the distance of the two places of inputs and
        outputs); ``macs``; ``predicted_cycles`` of an inference, null for a configuration without
        an engine; ``worst_cycles``, what an inference takes at most; ``inputs`` and ``outputs``;
        ``states``, what is kept between inferences; ``operators``, how many by name and by what
        executes them; ``on_cpu``, layers of operators that the engine has, and why they are not on
        it; ``last_step``, what the host does with a detector's outputs, null if there is nothing.
    """
    program, detection = compilation.program, compilation.detection
    operators: dict[str, dict[str, int]] = {}
    for layer in program.layers:
        places = operators.setdefault(layer.operator, {})
        places[layer.where.text] = places.get(layer.where.text, 0) + 1
    return {
        "format": _FORMAT,
        "kiwicha": version("kiwicha"),
        "model": name,
        "source_sha256": hashlib.sha256(source).hexdigest(),
        "config": program.config.name,
        "config_hash": f"{program.config_hash:08x}",
        "memory": {
            "program": len(program.to_bytes()),
            "constants": len(program.constants),
            "arena": program.arena_bytes,
            "stack": stack_bytes(step.kernel for step in program.steps),
            **({"shift": program.shift_bytes} if program.shift_bytes else {}),
        },
        "macs": sum(layer.macs for layer in program.layers),
        "predicted_cycles": (predict_program(program)[0] if program.config.engine_macs else None),
        "worst_cycles": worst_cycles(program),
        "inputs": [_described(tensor) for tensor in program.inputs],
        "outputs": [_described(tensor) for tensor in program.outputs],
        "states": [{"name": item.name, "bytes": item.ref.bytes} for item in program.states],
        "operators": operators,
        "on_cpu": on_cpu(compilation),
        "last_step": None if detection is None else detection_metadata(file_name(name), detection),
    }


def _described(tensor: IoTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "dtype": tensor.dtype.name.lower(),
        "shape": list(tensor.shape),
        "scale": tensor.scale,
        "zero_point": tensor.zero_point,
        "bytes": tensor.ref.bytes,
        "offset": tensor.ref.offset,
    }

"""Layers with int4 weights against TensorFlow Lite Micro, which unpacks them too."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
from kiwicha.contract.program import Kernel
from kiwicha.program.engine_list import read_list
from kiwicha.sim.reference import executor as reference
from tests.support.models.int4_layers import LAYERS, Int4Layer
from tests.support.oracle import oracle


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_int4_weights(layer: Int4Layer) -> None:
    case = layer.case()
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    for config in ("baseline", "simd", "64", "64-blocks"):
        program = compile_model(layer.model(), config)
        (got,) = reference.run(program, case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0], err_msg=config)


def test_blocks_of_int4_weights_have_four_planes() -> None:
    """Per 8 weights a nibble for their widths, and 4 bits each."""
    layer = Int4Layer("FULLY_CONNECTED", (1, 512), (128, 512), (1, 128))
    program = compile_model(layer.model(), "64-blocks", optimize="size")
    (step,) = program.steps
    assert step.kernel is Kernel.ENGINE
    call = step.params
    assert isinstance(call, EngineCall)
    (job,) = read_list(call, program.constants[call.image.offset :][: call.image.bytes]).jobs
    assert isinstance(job, EngineJob)
    assert job.flags & JobFlag.CODED
    weights = layer.values().size
    parameters, rest = 12 * 128, 256
    assert job.weights_bytes <= 4.5 / 8 * weights + parameters + rest

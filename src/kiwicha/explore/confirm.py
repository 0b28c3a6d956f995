"""A point of the search on the real thing: simulated gateware, and a synthesised CFU."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.boards.synthesis import synth_xilinx_resources
from kiwicha.compiler import compile_model
from kiwicha.gateware.cfu import verilog
from kiwicha.gateware.engine.multiply_accumulate import Vendor
from kiwicha.isa import Config
from kiwicha.sim import reference
from kiwicha.sim.system import run_program

__all__ = ["Confirmed", "confirm"]

_TOP = "Cfu"
_INFERENCES = 2


@dataclass(frozen=True)
class Confirmed:
    """What was measured.

    Parameters
    ----------
    cycles : tuple of int
        Of the second inference of each model.
    bit_exact : bool
        All outputs equal those of the reference executor.
    resources : dict of str to float
        As `synth_xilinx_resources` counts them.
    """

    cycles: tuple[int, ...]
    bit_exact: bool
    resources: dict[str, float]


def confirm(models: Sequence[bytes], config: Config) -> Confirmed:
    """Simulate models on a configuration, on random inputs, and synthesise its CFU.

    Raises
    ------
    KiwichaError
        If a tool is missing or fails.
    """
    cycles = []
    is_exact = True
    for model in models:
        program = compile_model(model, config)
        rng = np.random.default_rng(0)
        inputs = [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]
        result = run_program(program, inputs, inferences=_INFERENCES)
        expected = tuple(output.tobytes() for output in reference.run(program, inputs))
        is_exact = is_exact and result.outputs == expected
        cycles.append(result.last_cycles)
    counts = synth_xilinx_resources(verilog(config, Vendor.XILINX7), _TOP)
    return Confirmed(tuple(cycles), is_exact, counts)

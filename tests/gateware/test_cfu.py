"""The custom function unit as a whole, in cocotb on Verilator."""

import dataclasses
import re
from pathlib import Path

import pytest

from kiwicha.gateware.cfu import verilog
from kiwicha.isa import (
    CONFIGS,
    AccumulatorOp,
    ConfigOp,
    Group,
    RequantizeOp,
    function_id,
)
from kiwicha.sim import bench

BENCHES = "kiwicha.sim.tb_cfu"
PORTS = {
    "clk": "input",
    "reset": "input",
    "cmd_valid": "input",
    "cmd_ready": "output",
    "cmd_payload_function_id": "input [9:0]",
    "cmd_payload_inputs_0": "input [31:0]",
    "cmd_payload_inputs_1": "input [31:0]",
    "rsp_valid": "output",
    "rsp_ready": "input",
    "rsp_payload_outputs_0": "output [31:0]",
}


SEQUENTIAL = dataclasses.replace(CONFIGS["simd"], name="sequential", multipliers=1)
"""What configurations with an engine have beside it."""


@pytest.fixture(scope="module")
def simulators() -> dict[str, Path]:
    configs = [*CONFIGS.values(), SEQUENTIAL]
    return {config.name: bench.build(verilog(config), "Cfu") for config in configs}


@pytest.mark.parametrize("config", CONFIGS)
def test_verilog_has_exactly_the_ports_of_litex_and_is_reproducible(config: str) -> None:
    text = verilog(CONFIGS[config])
    module = re.search(r"^module Cfu\((.*?)\);\n(.*?)^endmodule", text, re.MULTILINE | re.DOTALL)
    assert module is not None
    assert set(module[1].split(", ")) == set(PORTS)
    for name, declaration in PORTS.items():
        assert f"  {declaration} {name};\n" in module[2]
    assert ".py:" not in text, "no path of a source file"
    assert verilog(CONFIGS[config]) == text


@pytest.mark.verilator
@pytest.mark.parametrize("command_stall", [0, 0.6])
@pytest.mark.parametrize("response_stall", [0, 0.3, 0.8])
@pytest.mark.parametrize(("config", "seed"), [("simd", 0), ("simd", 1), ("sequential", 2)])
def test_random_instructions_equal_the_model(
    simulators: dict[str, Path],
    tmp_path: Path,
    config: str,
    seed: int,
    response_stall: float,
    command_stall: float,
) -> None:
    values = {
        "seed": seed,
        "count": 1500,
        "command_stall": command_stall,
        "response_stall": response_stall,
    }
    bench.run(simulators[config], "Cfu", f"{BENCHES}.random_streams", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_every_function_id_is_answered(
    simulators: dict[str, Path], tmp_path: Path, config: str, seed: int
) -> None:
    values = {"seed": seed, "config": config}
    bench.run(simulators[config], "Cfu", f"{BENCHES}.every_function_id", values, tmp_path)


def _word(value: int) -> int:
    return value & 0xFFFF_FFFF


MAC = (function_id(Group.MAC, index=5), 0x7F80_0102, 0x817F_FF80)
MAC_LANES = (function_id(Group.MAC_LANES, index=1), 0x7F80_0102, 0x817F_FF80)
START = (function_id(Group.ACCUMULATOR, AccumulatorOp.START), 0, 0)
READ = (function_id(Group.ACCUMULATOR, AccumulatorOp.READ, 5), 0, 0)
WRITE = (function_id(Group.ACCUMULATOR, AccumulatorOp.WRITE, 5), 0x8000_0000, 0)
PUSH = (function_id(Group.REQUANTIZE, RequantizeOp.PUSH, 1), 0, 0)
POP = (function_id(Group.REQUANTIZE, RequantizeOp.POP), 0, 0)
VALUE = (function_id(Group.REQUANTIZE, RequantizeOp.VALUE, 3), 12345, 0)
RESCALE = (function_id(Group.REQUANTIZE, RequantizeOp.RESCALE, 3), 123456789, 0)
OFFSET = (function_id(Group.CONFIG, ConfigOp.INPUT_OFFSET), 77, 0)
OUTPUT = (function_id(Group.CONFIG, ConfigOp.OUTPUT), 9, 0x7F80)
OTHER_OUTPUT = (function_id(Group.CONFIG, ConfigOp.OUTPUT), _word(-9), 0x10F0)
BIASES = [
    (function_id(Group.ACCUMULATOR, AccumulatorOp.BIAS, lane), _word(1000 * lane - 1500), 0)
    for lane in range(4)
]
SCALES = [
    (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 2**30 + 99 * lane, _word(-4))
    for lane in range(4)
]
OTHER_SCALES = [
    (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 2**30 + 7, _word(lane))
    for lane in range(4)
]
SET_UP = [*BIASES, *SCALES, OUTPUT, OFFSET, START]

Step = tuple[tuple[int, int, int], int]


@pytest.mark.verilator
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([(MAC, 1)] * 20 + [(READ, 4)], id="mac"),
        pytest.param([(MAC_LANES, 1)] * 20 + [(READ, 4)], id="mac-lanes"),
        pytest.param([(WRITE, 1), (MAC, 1), (READ, 4), (START, 1), (READ, 4)], id="write"),
        pytest.param([(START, 1), (BIASES[0], 1), (MAC, 1), (START, 1), (READ, 4)], id="start"),
        pytest.param([(OFFSET, 1), (MAC, 1), (SET_UP[-2], 1), (MAC, 1), (READ, 4)], id="offset"),
        pytest.param([(POP, 1), (POP, 1)], id="pop-of-nothing"),
        pytest.param([(VALUE, 7), (RESCALE, 7), (OUTPUT, 1), (VALUE, 7)], id="value"),
        pytest.param([(scale, 1) for scale in SCALES] * 3, id="scales"),
        pytest.param([(PUSH, 1), (POP, 13)], id="push-pop"),
        pytest.param([(PUSH, 1), (PUSH, 4), (PUSH, 4), (PUSH, 4), (POP, 1)], id="pushes"),
        pytest.param([(PUSH, 1), *[(MAC, 1)] * 3, (PUSH, 1), (START, 1)], id="push-every-4th"),
        pytest.param([(PUSH, 1), *[(MAC, 1)] * 12, (POP, 1)], id="pop-when-it-is-there"),
        pytest.param([(PUSH, 1), (START, 1), (POP, 12)], id="push-start"),
        pytest.param([(MAC_LANES, 1), (PUSH, 1), (MAC_LANES, 1), (POP, 12)], id="mac-push"),
        pytest.param([(PUSH, 1), (OTHER_SCALES[3], 7), (POP, 6)], id="push-scale"),
        pytest.param([(PUSH, 1), (OTHER_SCALES[0], 7), (POP, 6)], id="push-scale-0"),
        pytest.param([(PUSH, 1), (OTHER_OUTPUT, 13), (POP, 1)], id="push-output"),
        pytest.param([(PUSH, 1), (VALUE, 13), (POP, 1)], id="push-value"),
        pytest.param([(PUSH, 1), (RESCALE, 13), (POP, 1)], id="push-rescale"),
        pytest.param(
            [
                *[(PUSH, 1), (PUSH, 4), (PUSH, 4), (PUSH, 4), (PUSH, 1)],
                *[(POP, 1), (POP, 3), (POP, 4), (POP, 4), (POP, 1)],
            ],
            id="fifth-push-is-refused",
        ),
    ],
)
def test_order_and_latency(simulators: dict[str, Path], tmp_path: Path, steps: list[Step]) -> None:
    """Each step is an instruction and the cycles to its answer; the answers are the model's."""
    instructions = [*SET_UP, *(instruction for instruction, _ in steps)]
    latencies = [1] * len(SET_UP) + [latency for _, latency in steps]
    values = {"instructions": instructions, "latencies": latencies}
    bench.run(simulators["simd"], "Cfu", f"{BENCHES}.program", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([(MAC, 1, 4)] * 5 + [(READ, 4, 4)], id="mac"),
        pytest.param([(MAC_LANES, 1, 4), (WRITE, 1, 1), (READ, 4, 4)], id="mac-lanes"),
        pytest.param([(VALUE, 15, 15), (RESCALE, 15, 15), (OUTPUT, 1, 1)], id="value"),
    ],
)
def test_latency_with_one_multiplier(
    simulators: dict[str, Path], tmp_path: Path, steps: list[tuple[tuple[int, int, int], int, int]]
) -> None:
    """Each step is an instruction, the cycles to its answer, and to the instruction after it."""
    instructions = [*SET_UP, *(instruction for instruction, _, _ in steps)]
    latencies = [1] * len(SET_UP) + [latency for _, latency, _ in steps]
    distances = [1] * len(SET_UP) + [distance for _, _, distance in steps]
    values = {"instructions": instructions, "latencies": latencies, "distances": distances}
    bench.run(simulators["sequential"], "Cfu", f"{BENCHES}.program", values, tmp_path)

"""The custom function unit as a whole, in cocotb on Verilator."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract.configs import CONFIGS
from kiwicha.gateware.cfu import verilog
from kiwicha.sim.reference.cfu_orders import ORDERS, SEQUENTIAL_ORDERS, SET_UP, Instruction
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

BENCHES = "tests.gateware.bench_cfu"
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


@pytest.mark.slow
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
@pytest.mark.parametrize(
    ("command_stall", "response_stall"),
    [(0, 0), (0.6, 0.3), *map(at_night, [(0, 0.3), (0, 0.8), (0.6, 0), (0.6, 0.8)])],
)
@pytest.mark.parametrize(
    ("config", "seed"), [("simd", 0), at_night(("simd", 1)), at_night(("sequential", 2))]
)
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
@pytest.mark.parametrize("config", by_day("simd", "sequential"))
def test_resets_at_any_time(simulators: dict[str, Path], tmp_path: Path, config: str) -> None:
    values = {"seed": 3, "count": 40, "instructions": 60}
    bench.run(simulators[config], "Cfu", f"{BENCHES}.resets", values, tmp_path)


@pytest.mark.verilator
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", by_day(0, 1))
def test_every_function_id_is_answered(
    simulators: dict[str, Path], tmp_path: Path, config: str, seed: int
) -> None:
    values = {"seed": seed, "config": config}
    bench.run(simulators[config], "Cfu", f"{BENCHES}.every_function_id", values, tmp_path)


@pytest.mark.verilator
def test_order_and_latency(simulators: dict[str, Path], tmp_path: Path) -> None:
    """The answers are the model's, and come when `ORDERS` says."""
    values = {name: order([(*step, step[1]) for step in steps]) for name, steps in ORDERS.items()}
    bench.run(simulators["simd"], "Cfu", f"{BENCHES}.orders", values, tmp_path)


@pytest.mark.verilator
def test_latency_with_one_multiplier(simulators: dict[str, Path], tmp_path: Path) -> None:
    """The answers are the model's; they and the next instruction come when the orders say."""
    values = {name: order(steps) for name, steps in SEQUENTIAL_ORDERS.items()}
    bench.run(simulators["sequential"], "Cfu", f"{BENCHES}.orders", values, tmp_path)


def order(steps: Sequence[tuple[Instruction, int, int]]) -> dict[str, Any]:
    """Give an order to the bench: instructions with latencies and distances, behind `SET_UP`."""
    instructions, latencies, distances = zip(*steps, strict=True)
    ones = [1] * len(SET_UP)
    return {
        "instructions": [*SET_UP, *instructions],
        "latencies": [*ones, *latencies],
        "distances": [*ones, *distances],
    }

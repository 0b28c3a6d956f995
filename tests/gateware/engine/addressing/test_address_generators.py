"""The address generators against their order of work, operation by operation, on the cycle."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract.engine import (
    DEEP_MACS,
    ELEMENT_KINDS,
    INPUT_LANES,
    READ_BYTES,
    JobKind,
    has_gathered,
)
from kiwicha.gateware.engine.addressing.convolution import ConvAddressGenerator
from kiwicha.gateware.engine.addressing.depthwise import DepthwiseAddressGenerator
from kiwicha.gateware.engine.addressing.elementwise import ElementwiseAddressGenerator
from tests.support.choices import at_night, by_day
from tests.support.gateware import bench

TOP = "address_generator"
BENCH = "tests.gateware.engine.addressing.bench_address_generators.groups"
GENERATORS: dict[JobKind, type[Any]] = {
    JobKind.CONV: ConvAddressGenerator,
    JobKind.DEPTHWISE: DepthwiseAddressGenerator,
    JobKind.ADD: ElementwiseAddressGenerator,
    JobKind.TABLE: ElementwiseAddressGenerator,
    JobKind.MUL: ElementwiseAddressGenerator,
    JobKind.MAX: ConvAddressGenerator,
}


def generate(kind: JobKind, folder: Path, **values: int) -> None:
    generator = GENERATORS[kind]
    fields: dict[str, Any] = {}
    if generator is ConvAddressGenerator:
        fields["deep_lanes"] = READ_BYTES if values["macs"] == DEEP_MACS else INPUT_LANES
        fields["has_gathered"] = has_gathered(values["macs"])
    component = generator(**fields)
    simulator = bench.build(bench.component_verilog(component, TOP), TOP)
    bench.run(simulator, TOP, BENCH, {"kind": int(kind), **values}, folder)


@pytest.mark.verilator
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize(
    ("kind", "macs"),
    [
        (JobKind.CONV, 64),
        (JobKind.DEPTHWISE, 64),
        (JobKind.MAX, 64),
        at_night((JobKind.CONV, 32)),
        at_night((JobKind.CONV, 128)),
        at_night((JobKind.CONV, 256)),
        at_night((JobKind.MAX, 256)),
        at_night((JobKind.DEPTHWISE, 32)),
        at_night((JobKind.MAX, 32)),
    ],
)
def test_operations_of_windows(kind: JobKind, seed: int, macs: int, tmp_path: Path) -> None:
    generate(kind, tmp_path, seed=seed, macs=macs, count=60)


@pytest.mark.verilator
@pytest.mark.parametrize("macs", by_day(64, 32))
@pytest.mark.parametrize("kind", sorted(ELEMENT_KINDS))
def test_operations_of_tensors(kind: JobKind, macs: int, tmp_path: Path) -> None:
    generate(kind, tmp_path, seed=1, macs=macs, count=15)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize(
    ("kind", "macs"),
    [
        (JobKind.CONV, 64),
        (JobKind.CONV, 128),
        (JobKind.CONV, 256),
        (JobKind.DEPTHWISE, 64),
        (JobKind.MAX, 64),
    ],
)
def test_operations_of_many_windows(kind: JobKind, macs: int, seed: int, tmp_path: Path) -> None:
    generate(kind, tmp_path, seed=seed, macs=macs, count=300)

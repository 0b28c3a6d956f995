"""Bench of the multiply-accumulate unit, against `CfuModel`."""

import random
from typing import Any

import cocotb

from kiwicha.gateware.mac import MAC_COMMAND, MAC_RESULT
from kiwicha.isa import (
    CONFIGS,
    LANES,
    AccumulatorOp,
    ConfigOp,
    Group,
    RequantizeOp,
    function_id,
)
from kiwicha.sim import bench, stream_drivers
from kiwicha.sim.cfu_model import CfuModel

__all__ = ["random_commands"]

_LATENCY = 3

# Name, group, op, number of indexes, weight.
_COMMANDS = (
    ("mac", Group.MAC, 0, 16, 10),
    ("mac_lanes", Group.MAC_LANES, 0, 4, 10),
    ("bias", Group.ACCUMULATOR, AccumulatorOp.BIAS, 4, 3),
    ("start", Group.ACCUMULATOR, AccumulatorOp.START, 1, 2),
    ("read", Group.ACCUMULATOR, AccumulatorOp.READ, 16, 8),
    ("write", Group.ACCUMULATOR, AccumulatorOp.WRITE, 16, 3),
    ("push", Group.REQUANTIZE, RequantizeOp.PUSH, 4, 6),
)
_WEIGHTS = [weight for *_, weight in _COMMANDS]
_EXTREMES = (0x8080_8080, 0x7F7F_7F7F, 0x807F_807F, 0, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


@cocotb.test()
async def random_commands(dut: Any) -> None:
    """Mix commands that collide often; compare all that is read, and when."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    model = CfuModel(CONFIGS["simd"])
    offset = values["input_offset"]
    model.execute(function_id(Group.CONFIG, ConfigOp.INPUT_OFFSET), offset & 0xFFFF_FFFF)
    items, expected, readers = [], [], []
    for number in range(values["count"]):
        name, group, op, indexes, _ = rng.choices(_COMMANDS, _WEIGHTS)[0]
        index = rng.randrange(indexes)
        a, b = (
            rng.choice(_EXTREMES) if rng.random() < 0.4 else rng.getrandbits(32) for _ in range(2)
        )
        fields = {name: 1, "index": index, "inputs_0": a, "inputs_1": b}
        items.append({"i": MAC_COMMAND.const(fields).as_bits()})
        if name in {"read", "push"}:
            pixel, lane = (index, None) if name == "push" else divmod(index, LANES)
            expected.append((list(model.accumulators[pixel]), lane))
            readers.append(number)
        else:
            model.execute(function_id(group, op, index), a, b)

    dut.input_offset.value = offset
    await stream_drivers.reset(dut.clk, dut.rst)
    source = stream_drivers.Source(
        dut.i__valid, None, {"i": dut.i__payload}, items, rng, values["stall"]
    )
    sink = stream_drivers.Sink(dut.o__valid, None, dut.o__payload, rng, 0)
    await stream_drivers.run_until(
        dut.clk,
        [source, sink],
        lambda: source.is_done and len(sink.taken) == len(expected),
        limit_cycles=int(100 + 2 * len(items) / (1 - values["stall"])),
    )
    for bits, (accumulators, lane) in zip(sink.taken, expected, strict=True):
        result = MAC_RESULT.from_bits(bits)
        assert [result.accumulators[k] for k in range(LANES)] == accumulators
        assert (result.lane if not result.is_push else None) == lane
    taken = [source.taken_cycles[number] + _LATENCY for number in readers]
    assert sink.taken_cycles == taken
    if values["stall"] == 0:
        assert source.taken_cycles[-1] - source.taken_cycles[0] == len(items) - 1

"""Bench of the multiply-accumulate unit, against `CfuModel`."""

import itertools
import random
from typing import Any

import cocotb

from kiwicha.contract.cfu import LANES, AccumulatorOp, ConfigOp, Group, RequantizeOp, function_id
from kiwicha.contract.configs import CONFIGS
from kiwicha.gateware.instructions.mac import MAC_COMMAND, mac_result
from kiwicha.sim.reference.cfu_model import CfuModel
from tests.support.gateware import bench, stream_drivers

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
    """Mix commands that collide often; compare all that is read, and when.

    Parameters: ``multipliers``, ``input_offset``, ``count``, ``seed``, ``stall`` of the commands
    and ``output_stall`` of the results, 0 with a multiplier per lane.
    """
    values = bench.parameters()
    multipliers = values["multipliers"]
    passes = LANES // multipliers
    rng = random.Random(values["seed"])
    model = CfuModel(CONFIGS["simd"])
    offset = values["input_offset"]
    model.execute(function_id(Group.CONFIG, ConfigOp.INPUT_OFFSET), offset & 0xFFFF_FFFF)
    items: list[dict[str, int]] = []
    cycles: list[int] = []
    expected: list[tuple[list[int], int | None]] = []
    readers: list[tuple[int, int]] = []
    for number in range(values["count"]):
        name, group, op, indexes, _ = rng.choices(_COMMANDS, _WEIGHTS)[0]
        index = rng.randrange(indexes)
        a, b = (
            rng.choice(_EXTREMES) if rng.random() < 0.4 else rng.getrandbits(32) for _ in range(2)
        )
        fields = {name: 1, "index": index, "inputs_0": a, "inputs_1": b}
        items.append({"i": MAC_COMMAND.const(fields).as_bits()})
        cycles.append(passes if name in {"mac", "mac_lanes", "push"} else 1)
        if name == "push":
            for step in range(passes):
                first = step * multipliers
                expected.append((list(model.accumulators[index][first:][:multipliers]), None))
                readers.append((number, step))
        elif name == "read":
            pixel, lane = divmod(index, LANES)
            first = lane // multipliers * multipliers
            those = list(model.accumulators[pixel][first:][:multipliers])
            expected.append((those, lane % multipliers))
            readers.append((number, 0))
        else:
            model.execute(function_id(group, op, index), a, b)

    dut.input_offset.value = offset
    await stream_drivers.reset(dut.clk, dut.rst)
    is_full = passes == 1
    source = stream_drivers.Source(
        dut.i__valid,
        None if is_full else dut.i__ready,
        {"i": dut.i__payload},
        items,
        rng,
        values["stall"],
    )
    sink = stream_drivers.Sink(
        dut.o__valid,
        None if is_full else dut.o__ready,
        dut.o__payload,
        rng,
        values["output_stall"],
    )
    busiest = max(values["stall"], values["output_stall"])
    await stream_drivers.run_until(
        dut.clk,
        [source, sink],
        lambda: source.is_done and len(sink.taken) == len(expected),
        limit_cycles=int(100 + 2 * passes * len(items) / (1 - busiest)),
    )
    layout = mac_result(multipliers)
    for bits, (accumulators, its_lane) in zip(sink.taken, expected, strict=True):
        result = layout.from_bits(bits)
        assert [result.accumulators[k] for k in range(multipliers)] == accumulators
        assert (result.lane if not result.is_push else None) == its_lane
    if values["output_stall"] == 0:
        taken = [source.taken_cycles[number] + step + _LATENCY for number, step in readers]
        assert sink.taken_cycles == taken
    if busiest == 0:
        steps = itertools.pairwise(source.taken_cycles)
        assert [after - before for before, after in steps] == cycles[:-1]

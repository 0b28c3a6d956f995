"""Each fill goes to one side, which alone answers."""

from amaranth.sim import Simulator, SimulatorContext

from kiwicha.gateware.engine.depthwise.fill_switch import FillSwitch


def test_a_fill_goes_to_its_side_alone() -> None:
    dut = FillSwitch(outputs=8)
    found: dict[bool, list[tuple[int, ...]]] = {False: [], True: []}

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.fill.commands.payload.words, 21)
        ctx.set(dut.fill.beats.payload, 0x1234)
        ctx.set(dut.reduced[15], -200)
        ctx.set(dut.fill.zero_point, -77)
        ctx.set(dut.fill.parameters, 0x5678)
        for is_unit in (False, True):
            ctx.set(dut.fill.is_unit, is_unit)
            for flag in range(3):
                flags = [flag == number for number in range(3)]
                for name, value in zip(
                    ("is_unsigned", "is_table", "is_packed"), flags, strict=True
                ):
                    ctx.set(getattr(dut.fill, name), value)
                await ctx.delay(1e-6)
                array = dut.array
                passed = (array.is_unsigned, array.is_table, array.is_packed)
                assert [ctx.get(one) for one in passed] == flags
                assert (ctx.get(array.zero_point), ctx.get(array.parameters)) == (-77, 0x5678)
            for number in range(8):
                has_command, has_beat, answers = number & 1, number >> 1 & 1, number >> 2
                ctx.set(dut.fill.commands.valid, has_command)
                ctx.set(dut.fill.beats.valid, has_beat)
                sides = ((dut.array.commands, dut.array.beats), (dut.unit, dut.unit))
                for side, (commands, beats) in enumerate(sides):
                    answer = answers == (side == is_unit)
                    ctx.set(commands.ready, answer)
                    ctx.set(beats.takes if side else beats.ready, answer)
                    ctx.set((dut.array, dut.unit)[side].is_idle, answer)
                await ctx.delay(1e-6)
                array = (ctx.get(dut.array.commands.valid), ctx.get(dut.array.beats.valid))
                unit = (ctx.get(dut.unit.command), ctx.get(dut.unit.beat))
                assert (unit if is_unit else array) == (has_command, has_beat)
                assert (array if is_unit else unit) == (0, 0)
                ready = (dut.fill.commands.ready, dut.fill.beats.ready, dut.fill.is_idle)
                assert [ctx.get(one) for one in ready] == [answers] * 3
            found[is_unit].append((
                ctx.get(dut.array.commands.payload.words),
                ctx.get(dut.array.beats.payload),
                ctx.get(dut.unit.passes),
                ctx.get(dut.unit.words[1][7]),
            ))

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == {False: [(21, 0x1234, 21, -200)], True: [(21, 0x1234, 21, -200)]}

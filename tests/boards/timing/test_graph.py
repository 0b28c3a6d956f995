"""Delays of small netlists: each is a sum of known times of cells and wires."""

import random
from functools import cache

import pytest

from kiwicha.boards.timing.graph import Graph, build_graph
from kiwicha.boards.timing.netlist import read_netlist
from kiwicha.boards.timing.paths import trace
from kiwicha.errors import ToolError
from tests.boards.timing.netlists import Design

# Picoseconds of a -1 part; a wire with one load takes 550.
CLOCK_TO_Q = 456
WIRE = 550
LUT = 124
SETUP_FROM_FAR = 81
SETUP_BEHIND_LUT = -29
SETUP_BEHIND_SUM = -62


def worst(design: Design) -> int:
    graph = build_graph(design.netlist())
    return max(map(graph.delay_ps, graph.ends))


def ends(graph: Graph) -> dict[str, int]:
    """Give the delays by type and port of the cells where paths end."""
    found = {}
    for end in graph.ends:
        assert end.cell is not None
        found[f"{end.cell.kind}.{end.pin[0]}"] = graph.delay_ps(end)
    assert len(found) == len(graph.ends)
    return found


@pytest.mark.parametrize("luts", [1, 2, 5])
def test_a_chain_of_luts(luts: int) -> None:
    design = Design()
    net = design.flip_flop()
    for _ in range(luts):
        net = design.lut(net)
    design.flip_flop(net)
    assert worst(design) == CLOCK_TO_Q + luts * (WIRE + LUT) + SETUP_BEHIND_LUT


def test_a_wire_alone() -> None:
    design = Design()
    design.flip_flop(design.flip_flop())
    assert worst(design) == CLOCK_TO_Q + WIRE + SETUP_FROM_FAR


@pytest.mark.parametrize("seed", range(3))
def test_the_longest_of_many_ways_counts(seed: int) -> None:
    draw = random.Random(seed)
    design = Design()
    nets = [design.flip_flop() for _ in range(4)]
    inputs = {}
    for _ in range(40):
        chosen = draw.sample(nets, draw.randint(1, 4))
        nets.append(design.lut(*chosen))
        inputs[nets[-1]] = chosen
    for net in nets:
        design.output(f"o{net}", net)
    graph = build_graph(design.netlist(), net_ps=1000)
    loads = {net: 1 + sum(net in chosen for chosen in inputs.values()) for net in nets}
    assert graph.loads == loads

    @cache
    def arrival(net: int) -> int:
        before = inputs.get(net)
        if before is None:
            return CLOCK_TO_Q
        wires = {n: round(1000 * growth(loads[n])) for n in before}
        return max(arrival(n) + wires[n] + LUT for n in before)

    assert {net: graph.arrivals[net] for net in nets} == {net: arrival(net) for net in nets}


def growth(loads: int) -> float:
    doublings = loads.bit_length() - 1
    part = loads / 2**doublings
    # A logarithm to base 2, without the function that is under test.
    return 1 + 0.1 * (doublings + _log2(part)) + 0.02 * (loads**0.5 - 1)


def _log2(value: float) -> float:
    found, step = 0.0, 0.5
    for _ in range(40):
        value *= value
        if value >= 2:
            value /= 2
            found += step
        step /= 2
    return found


def adder(design: Design, first: int, *, width: int) -> list[int]:
    """Add a carry chain whose lowest bit reads a LUT, and return the sum."""
    sums, carry = [], 0
    for start in range(0, width, 4):
        total, carries = [design.net() for _ in range(4)], [design.net() for _ in range(4)]
        s = [first if start == 0 else 0, 0, 0, 0]
        design.cell("CARRY4", {"S": s, "DI": [0] * 4, "CI": carry, "O": total, "CO": carries})
        sums += total
        carry = carries[3]
    return sums


@pytest.mark.parametrize(("width", "between"), [(8, 0), (12, 1), (32, 6)])
def test_a_carry_chain(width: int, between: int) -> None:
    design = Design()
    design.flip_flop(adder(design, design.lut(design.flip_flop()), width=width)[-1])
    s0_to_co3, ci_to_co3, ci_to_o3 = 508, 114, 313
    chain = s0_to_co3 + between * ci_to_co3 + ci_to_o3
    assert worst(design) == CLOCK_TO_Q + WIRE + LUT + chain + SETUP_BEHIND_SUM


def test_a_sum_that_leaves_its_slice_takes_longer() -> None:
    design = Design()
    total = adder(design, design.lut(design.flip_flop()), width=4)[0]
    design.flip_flop(design.lut(total))
    s0_to_o0, out_of_slice = 223, 182
    way = WIRE + LUT + s0_to_o0 + out_of_slice + WIRE + LUT
    assert worst(design) == CLOCK_TO_Q + way + SETUP_BEHIND_LUT


def test_a_register_reaches_a_carry_chain_through_a_lut() -> None:
    design = Design()
    design.flip_flop(adder(design, design.flip_flop(), width=4)[0])
    assert worst(design) == CLOCK_TO_Q + WIRE + LUT + 223 + SETUP_BEHIND_SUM


def test_multiplexers_of_a_slice_have_no_wires() -> None:
    design = Design()
    luts = [design.lut(design.flip_flop()) for _ in range(2)]
    output = design.net()
    select = design.flip_flop()
    design.cell("MUXF7", {"I0": luts[0], "I1": luts[1], "S": select, "O": output})
    design.flip_flop(output)
    # From LUT to multiplexer 24, through it 223.
    assert worst(design) == CLOCK_TO_Q + WIRE + LUT + 24 + 223 - 64


def test_enable_and_reset_end_paths() -> None:
    design = Design()
    design.flip_flop(ce=design.flip_flop(), r=design.flip_flop())
    found = ends(build_graph(design.netlist()))
    assert found == {"FDRE.CE": CLOCK_TO_Q + WIRE + 205, "FDRE.R": CLOCK_TO_Q + WIRE + 429}


def test_a_register_behind_its_lut_is_one_of_many() -> None:
    """Of two registers that store a LUT's output, neither is sure of the place behind it."""
    design = Design()
    output = design.lut(design.flip_flop())
    for _ in range(2):
        design.flip_flop(output)
    wire = round(WIRE * (1 + 0.1 + 0.02 * (2**0.5 - 1)))
    assert worst(design) == CLOCK_TO_Q + WIRE + LUT + wire + SETUP_FROM_FAR


def test_ports_count_as_registers() -> None:
    design = Design()
    design.output("o", design.lut(design.input("i")))
    assert worst(design) == CLOCK_TO_Q + WIRE + LUT + WIRE + SETUP_FROM_FAR


def multiplier(design: Design, a: int, *, name: str = "", **registers: int | str) -> list[int]:
    output = [design.net() for _ in range(3)]
    stages = {"AREG": 0, "BREG": 0, "MREG": 0, "PREG": 0, **registers}
    connections: dict[str, int | list[int]] = {"CLK": design.clock, "A": a, "P": output}
    design.cell("DSP48E1", connections, name=name, **stages)
    return output


@pytest.mark.parametrize(
    ("registers", "to_input", "from_output"),
    [
        ({"AREG": 1, "MREG": 1, "PREG": 1}, 362, 434),
        ({"MREG": 1, "PREG": 1}, 1928, 434),
        ({"PREG": 1}, 3722, 434),
        ({"MREG": 1}, 1928, 2305),
        ({"AREG": 1}, 362, 4009),
        ({"PREG": 1, "USE_DPORT": "TRUE", "ADREG": 0}, 5081, 434),
        ({"PREG": 1, "USE_DPORT": "TRUE", "ADREG": 1}, 1756, 434),
        ({"PREG": 1, "USE_MULT": "NONE"}, 1958, 434),
    ],
)
def test_a_multiplier_with_registers(
    registers: dict[str, int | str], to_input: int, from_output: int
) -> None:
    design = Design()
    design.flip_flop(multiplier(design, design.flip_flop(), **registers)[0])
    assert ends(build_graph(design.netlist())) == {
        "DSP48E1.A": CLOCK_TO_Q + WIRE + to_input,
        "FDRE.D": from_output + WIRE + SETUP_FROM_FAR,
    }


def test_a_multiplier_without_registers() -> None:
    design = Design()
    design.flip_flop(multiplier(design, design.flip_flop())[2])
    assert worst(design) == CLOCK_TO_Q + WIRE + 3841 + WIRE + SETUP_FROM_FAR


def test_every_input_of_a_product_reaches_every_output() -> None:
    """Through one knot, which is seen in no path."""
    design = Design()
    inputs = [design.flip_flop(name=f"a{n}") for n in range(2)]
    outputs = [design.net() for _ in range(3)]
    late = [inputs[0], design.lut(inputs[1])]
    stages = {"AREG": 0, "MREG": 0, "PREG": 0}
    design.cell("DSP48E1", {"CLK": design.clock, "A": late, "P": outputs}, **stages)
    for net in outputs:
        design.output(f"o{net}", net)
    graph = build_graph(design.netlist())
    assert {graph.arrivals[net] for net in outputs} == {CLOCK_TO_Q + 2 * WIRE + LUT + 3841}
    path = trace(graph, graph.ends[-1])
    assert [step.cell.kind for step in path.steps if step.cell] == ["LUT1", "DSP48E1"]
    assert path.delay_ps == graph.delay_ps(graph.ends[-1])
    assert path.blocks == ("DSP48E1",)


def test_a_cascade_of_multipliers() -> None:
    design = Design()
    link = design.net()
    clock = {"CLK": design.clock}
    design.cell("DSP48E1", {**clock, "PCOUT": link}, PREG=1)
    design.cell("DSP48E1", {**clock, "PCIN": link, "P": design.net()}, PREG=1)
    assert worst(design) == 478 + 55 + 1400


@pytest.mark.parametrize(("register", "clock_to_output"), [(0, 2454), (1, 882)])
def test_a_block_ram(register: int, clock_to_output: int) -> None:
    design = Design()
    data = design.net()
    design.cell(
        "RAMB36E1",
        {
            **{"CLKBWRCLK": design.clock, "CLKARDCLK": design.clock},
            **{"ADDRBWRADDR": design.flip_flop(), "DIADI": design.flip_flop(), "DOBDO": [0, data]},
        },
        DOB_REG=register,
        WRITE_MODE_A="READ_FIRST",
        WRITE_MODE_B="READ_FIRST",
    )
    design.flip_flop(data)
    assert ends(build_graph(design.netlist())) == {
        "RAMB36E1.ADDRBWRADDR": CLOCK_TO_Q + WIRE + 566,
        "RAMB36E1.DIADI": CLOCK_TO_Q + WIRE + 241,
        "FDRE.D": clock_to_output + WIRE + SETUP_FROM_FAR,
    }


def test_a_memory_of_luts_is_read_and_written() -> None:
    design = Design()
    output = design.net()
    address, data = design.lut(design.flip_flop()), design.flip_flop()
    design.cell(
        "RAM32M",
        {"WCLK": design.clock, "ADDRA": address, "DIA": data, "WE": 1, "DOA": output, "ADDRD": 0},
    )
    design.flip_flop(output)
    graph = build_graph(design.netlist())
    # From clock to output it takes 1346, less than from the address.
    address_to_output = LUT
    read = CLOCK_TO_Q + WIRE + LUT + WIRE + address_to_output
    assert ends(graph) == {
        "RAM32M.DIA": CLOCK_TO_Q + WIRE + 335,
        "FDRE.D": read + WIRE + SETUP_FROM_FAR,
    }


def test_a_shift_register() -> None:
    design = Design()
    output = design.net()
    design.cell("SRL16E", {"CLK": design.clock, "D": design.flip_flop(), "CE": 1, "Q": output})
    design.flip_flop(output)
    assert ends(build_graph(design.netlist())) == {
        "SRL16E.D": CLOCK_TO_Q + WIRE + 52,
        "FDRE.D": 1637 + WIRE + SETUP_FROM_FAR,
    }


def test_constants_begin_no_path() -> None:
    design = Design()
    design.flip_flop(design.lut(0))
    assert build_graph(design.netlist()).ends == ()


def test_a_loop_is_refused() -> None:
    design = Design()
    first = design.net()
    second = design.lut(first)
    design.cell("LUT2", {"I0": second, "I1": design.flip_flop(), "O": first}, name="back")
    design.flip_flop(first)
    with pytest.raises(
        ToolError, match=r"^loop must have a register, but .* none: .*back"
    ) as error:
        build_graph(design.netlist())
    assert "LUT1_0" in str(error.value)


def test_a_second_clock_is_refused() -> None:
    design = Design()
    other = design.input("other")
    design.signal("other", other)
    design.flip_flop()
    design.cell("FDRE", {"C": other, "D": 0, "Q": design.net()})
    with pytest.raises(ToolError, match=r"^design must have one clock, not clk, other$"):
        build_graph(design.netlist())


def test_a_clock_may_have_a_buffer() -> None:
    design = Design()
    buffered = design.net()
    design.cell("BUFG", {"I": design.clock, "O": buffered})
    q = design.flip_flop()
    design.cell("FDRE", {"C": buffered, "D": q, "Q": design.net()})
    assert worst(design) == CLOCK_TO_Q + WIRE + SETUP_FROM_FAR


def test_cells_and_ports_that_are_not_known_are_refused() -> None:
    design = Design()
    design.cell("ISERDESE2", {"D": design.input("pad")}, name="pad")
    with pytest.raises(ToolError, match=r"^type of a cell must be .*, not ISERDESE2 \(pad\)$"):
        build_graph(design.netlist())
    design = Design()
    design.cell("DSP48E1", {"CLK": design.clock, "ACIN": design.flip_flop()}, name="product")
    with pytest.raises(ToolError, match=r"^port of a DSP48E1 must .*, not ACIN \(product\)$"):
        build_graph(design.netlist())


def test_the_top_module_must_be_there() -> None:
    with pytest.raises(ToolError, match=r"^netlist must have module Cfu, not top$"):
        read_netlist(Design().to_json(), "Cfu")

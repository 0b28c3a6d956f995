"""What wires take: more with more loads."""

import itertools

from kiwicha.boards.timing.wires import NET_PS, route_ps


def test_a_wire_with_one_load_takes_what_it_is_said_to() -> None:
    assert route_ps(1) == NET_PS
    assert route_ps(1, 700) == 700


def test_more_loads_take_longer_but_not_as_many_times() -> None:
    loads = (1, 2, 4, 16, 64, 256, 1024, 4096)
    times = [route_ps(count) for count in loads]
    assert times == sorted(set(times))
    for (few, fast), (many, slow) in itertools.pairwise(zip(loads, times, strict=True)):
        assert slow / fast < many / few


def test_routed_wires_of_other_designs_take_about_as_long() -> None:
    """Means of wires that public Vivado reports of -1 parts show, by the number of loads."""
    measured = {1: 0.59, 2.5: 0.62, 6: 0.77, 45: 0.89, 130: 0.90}
    for loads, ns in measured.items():
        assert abs(route_ps(loads) / 1000 / ns - 1) < 0.2

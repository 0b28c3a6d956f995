"""What a run's cycles went into, in a few lines."""

from typing import Any

from kiwicha.html_report.summary import summary


def run(*layers: tuple[str, int], config: str = "64") -> dict[str, Any]:
    """Return a run whose layers have an operator and MACs; cycles are in their splits."""
    records = [
        {"index": number, "op": op, "macs": macs, "cycles": 0}
        for number, (op, macs) in enumerate(layers)
    ]
    return {"config": config, "layers": records, "profile": {"macs_per_cycle": 64}}


def lines(run: dict[str, Any], *splits: dict[str, int]) -> list[str]:
    run["cycles"] = sum(sum(split.values()) for split in splits)
    return summary(run, splits)


def test_kinds_of_layers_are_taken_together_the_most_expensive_first() -> None:
    found = lines(
        run(("DEPTHWISE_CONV_2D", 640), ("CONV_2D", 64 * 480), ("CONV_2D", 64 * 480)),
        {"arithmetic": 30},
        {"arithmetic": 480},
        {"arithmetic": 490},
    )
    assert found == [
        "97 % convolution, at the multipliers' limit",
        "3 % depthwise convolution, with 33 % of the multipliers",
        (
            "Next: depthwise convolution loses 2 % of all cycles to idle multipliers: 64-depthwise "
            "has a unit for it."
        ),
    ]


def test_what_is_at_its_limit_has_no_remedy_but_more_of_it() -> None:
    found = lines(run(("CONV_2D", 64 * 1000)), {"arithmetic": 1000, "overhead": 5})
    assert found[-1] == "Next: only more multipliers, or a smaller model, would save much."


def test_waiting_is_named_with_its_remedy() -> None:
    found = lines(
        run(("CONV_2D", 64 * 500), ("FULLY_CONNECTED", 6400), ("SOFTMAX", 0)),
        {"arithmetic": 500},
        {"arithmetic": 100, "weights": 300},
        {"cpu": 100},
    )
    assert found == [
        "50 % convolution, at the multipliers' limit",
        "40 % fully connected, 75 % of that waits for weights from DRAM",
        "10 % SOFTMAX, on the CPU",
        (
            "Next: fully connected loses 30 % of all cycles to memory: weights: fewer weights, or "
            "faster memory."
        ),
    ]


def test_a_run_without_profile_says_so() -> None:
    plain = run(("CONV_2D", 64))
    del plain["profile"]
    assert lines(plain | {"model": "kws"}, {"unknown": 100}) == [
        "100 % convolution, not split by causes",
        (
            "Next: the file has no profile, so cycles have no causes and no charts: "
            "kiwicha bench kws --config 64 --json FILE writes it."
        ),
    ]

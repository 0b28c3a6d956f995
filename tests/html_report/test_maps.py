"""What maps of memories say."""

from typing import Any

from kiwicha.html_report.maps import memory

LAYERS = [{"label": "0 CONV_2D", "cycles": 100}, {"label": "1 SOFTMAX", "cycles": 300}]


def tensor(name: str, offset: int, size: int, start: int, end: int) -> dict[str, Any]:
    return {"name": name, "offset": offset, "bytes": size, "start": start, "end": end}


def test_the_fullest_moment_is_named() -> None:
    tensors = [tensor("input", 0, 100, 0, 400), tensor("a/b", 100, 600, 120, 200)]
    found = memory({"bytes": 1000, "tensors": tensors}, LAYERS)
    assert found["text"] == (
        "At most 700 of 1,000 bytes (70 %) hold tensors, first while layer 1 SOFTMAX is computed: "
        "b (600), input (100). Half of the time it is 100 or fewer."
    )
    assert found["capacity"] == {"bytes": 1000, "text": "capacity: 1,000 bytes"}


def test_a_memory_that_stays_full_says_so() -> None:
    found = memory({"bytes": 100, "tensors": [tensor("input", 0, 100, 0, 400)]}, LAYERS)
    assert found["text"].endswith(": input (100). It is as full most of the time.")


def test_an_empty_memory_says_so() -> None:
    found = memory({"bytes": 100, "tensors": [tensor("never", 0, 100, 5, 5)]}, LAYERS)
    assert found["text"] == "None of its 100 bytes are in use."
    assert found["tensors"] == []


def test_names_are_as_short_as_tells_them_apart() -> None:
    names = ["net/a/Relu", "net/b/Relu", "net/b/Softmax", "input", "net/a/Relu"]
    tensors = [tensor(name, 0, 1, k, k + 1) for k, name in enumerate(names)]
    found = memory({"bytes": 8, "tensors": tensors}, LAYERS)
    assert [item["short"] for item in found["tensors"]] == [
        "a/Relu",
        "b/Relu",
        "Softmax",
        "input",
        "a/Relu",
    ]

"""Runs as ``kiwicha run --json`` writes them, made up."""

from typing import Any

__all__ = ["example_run", "example_study"]


def example_run(
    *, layers: int = 4, model: str = "toy", config: str = "64", factor: float = 1.0
) -> dict[str, Any]:
    """Return a run whose layer k takes (1000 + 170 k mod 900) cycles times a factor."""
    records, details, tensors = [], [], []
    start = 0
    for k in range(layers):
        cycles = int((1000 + 170 * k % 900) * factor)
        records.append({
            "index": k,
            "op": "CONV_2D" if k % 2 else "DEPTHWISE_CONV_2D",
            "where": "engine",
            "cycles": cycles,
            "macs": 40_000,
        })
        split = {"arithmetic": cycles - 60, "requantizer": 10, "weights": 20, "transfers": 0}
        details.append({
            "shape": [1, 4, 4, 8],
            "why": "CONV on the engine </script><b>",
            "split": {**split, "overhead": 30, "cpu": 0},
            "dram": {"weights": 64 * (k + 1), "loads": 0, "stores": 0}
            | {"cpu_reads": 0, "cpu_writes": 0},
            "predicted": cycles + 5,
        })
        end = start + cycles
        tensors.append({
            "name": f"a/tensor {k}",
            "offset": 512 * (k % 2),
            "bytes": 512,
            "start": start,
            "end": end,
        })
        start = end
    return {
        "model": model,
        "config": config,
        "target": "sim",
        "cycles": start,
        "cycles_first": start + 100,
        "macs": 40_000 * layers,
        "utilization": 0.5,
        "bit_exact": True,
        "clock_hz": 100_000_000,
        "layers": records,
        "predicted": start + 5 * layers,
        "counters": {},
        "profile": {
            "layers": details,
            "memory": {
                "arena": {"bytes": 1024, "tensors": tensors},
                "scratchpad": {"bytes": 1024, "tensors": tensors},
            },
            "macs_per_cycle": 64,
            "dram_bytes_per_cycle": 14.2,
        },
    }


def example_study() -> dict[str, Any]:
    """Return a study of two configurations, and of one that does not fit."""
    costs = {"lut": 9000.0, "dsp": 80.0, "by_model": [100]}
    return {
        "models": ["toy"],
        "objectives": ["cycles"],
        "configurations": [
            {
                "config": "64",
                "front": True,
                "cycles": 100,
                "bram": 20.5,
                **costs,
                "confirmed": {"cycles": [101], "bit_exact": True, "resources": {}},
            },
            {"config": "32", "front": False, "cycles": 150, "bram": 20.5, **costs},
        ],
        "misfits": {"64-256k": "bram 72.5 of 37"},
    }

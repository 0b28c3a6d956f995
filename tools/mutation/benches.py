"""Faults in netlists of components: ``python -m tools.mutation.benches`` runs their benches.

Yosys' ``mutate`` puts faults into the netlist that a component's own bench simulates. The bench's
fast tests run with one fault after the other; a fault that none of them shows has survived.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutation.bench_faults import CHOICE, netlist_of
from tools.mutation.fault_rows import read_rows
from tools.mutation.netlist_faults import SELECTED, Fault, FaultyNetlist
from tools.mutation.netlist_rows import Mode, prove_faults, survivors, try_faults
from tools.mutation.trial import REPOSITORY, Result
from tools.verification import record

__all__ = ["BENCHES", "RECORDS", "main"]

RECORDS = Path("docs/results/verification/netlist_faults")
"""Folder of the results."""
_ENGINE = "tests/gateware/engine"
_ADDRESSES = f"{_ENGINE}/addressing/test_address_generators.py"
_DECODERS = f"{_ENGINE}/weights/test_decompressor.py"
_INSTRUCTIONS = "tests/gateware/instructions"
_SERIAL = "tests/gateware/bringup"
_AT_NIGHT = ("-m", "verilator")
"""By day other tests use them, in larger designs."""
_SLOWER, _LEAST_SECONDS = 4, 30.0
"""Times that tests may take as long as without a fault, and what they may take in any case."""


@dataclass(frozen=True)
class Bench:
    """A component and its own fast tests.

    Parameters
    ----------
    component : str
        Class of what is simulated.
    tests : tuple of str
        Arguments of pytest.
    part : str
        Submodule that has faults, if not all of it has.
    design : int
        Which of the designs of that class that the tests ask for.
    title : str
        Name of its row, if another component has the same class.
    """

    component: str
    tests: tuple[str, ...]
    part: str = ""
    design: int = 0
    title: str = ""

    @property
    def name(self) -> str:
        """Name of its row."""
        return self.title or self.component


BENCHES = {
    item.name: item
    for item in (
        Bench("MacArray", (f"{_ENGINE}/array/test_mac_array.py",)),
        Bench("Requantizer", (f"{_ENGINE}/requantize/test_requantizer.py",)),
        Bench("WeightBuffer", (f"{_ENGINE}/weights/test_weight_buffer.py",)),
        Bench("BlockDecoder", (_DECODERS,)),
        Bench(
            "Decompressor",
            (_DECODERS, *_AT_NIGHT, "-k", "False and (2-0.2 or 6-0.3 or throughput)"),
        ),
        Bench("RawStreams", (_DECODERS, *_AT_NIGHT, "-k", "without_a_codec")),
        Bench("ConvAddressGenerator", (_ADDRESSES, "-k", "windows and not 2-64")),
        Bench("DepthwiseAddressGenerator", (_ADDRESSES, "-k", "windows and 2-64")),
        Bench("ElementwiseAddressGenerator", (_ADDRESSES, "-k", "tensors")),
        Bench("StandInEngine", (f"{_ENGINE}/control/test_controller.py",), "controller"),
        Bench("Scratchpad", (f"{_ENGINE}/memory/test_scratchpad.py",)),
        Bench("DmaHarness", (f"{_ENGINE}/memory/test_dma.py",)),
        Bench("Mac", (f"{_INSTRUCTIONS}/test_mac.py",), design=1),
        Bench("RequantizeUnit", (f"{_INSTRUCTIONS}/test_requantize_unit.py",)),
        Bench(
            "Requantizer",
            (f"{_INSTRUCTIONS}/test_requantize.py",),
            title="instructions.Requantizer",
        ),
        Bench("FrameEncoder", (f"{_SERIAL}/test_frames.py", *_AT_NIGHT, "-k", "encoder and 1-0.5")),
        Bench("FrameDecoder", (f"{_SERIAL}/test_frames.py", *_AT_NIGHT, "-k", "decoder and 1-0.5")),
        Bench(
            "UartReceiver", (f"{_SERIAL}/test_uart.py", *_AT_NIGHT, "-k", "stop_bit or tolerance")
        ),
        Bench("UartTransmitter", (f"{_SERIAL}/test_uart.py", *_AT_NIGHT, "-k", "transmitter")),
        Bench("Bridge", (f"{_SERIAL}/test_bridge.py", *_AT_NIGHT)),
    )
}
"""By name, in the order in which they are tried."""


def _run(bench: Bench, choice: Path, number: int, seconds: float | None) -> tuple[int, str]:
    command = [
        *(
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--tb=no",
            "-p",
            "tools.mutation.bench_faults",
        ),
        *("-p", "no:cacheprovider", "-m", "not nightly"),
        *bench.tests,
    ]
    paths = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": paths, CHOICE: str(choice), SELECTED: str(number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout


def _measure(bench: Bench, *, count: int, seed: int, mode: Mode, deadline: float) -> None:
    path = RECORDS / f"{bench.name}.jsonl"
    if mode != Mode.NEW and not survivors(read_rows(path)):
        return
    with tempfile.TemporaryDirectory(prefix="kiwicha-bench-") as name:
        choice = Path(name) / "choice.json"
        chosen: dict[str, Any] = {"part": bench.part, "count": count, "seed": seed}
        fields = {"component": bench.component, "designs": [], "number": bench.design}
        choice.write_text(json.dumps(fields | chosen), encoding="utf-8")
        # The first run compiles simulators; the second one says how long tests take.
        for _ in range(1 if mode == Mode.PROOFS else 2):
            start = time.monotonic()
            code, text = _run(bench, choice, 0, None)
            seconds = time.monotonic() - start
            if code:
                raise RuntimeError(f"tests must pass without a fault ({bench.name}):\n{text}")
        found = json.loads(choice.read_text(encoding="utf-8"))
        if len(found["designs"]) <= bench.design:
            raise RuntimeError(f"tests must simulate a {bench.component}")
        netlist: FaultyNetlist = netlist_of(found["designs"][bench.design], found["top"], **chosen)
        record.say(f"{bench.name}: {len(netlist.faults)} faults, tests take {seconds:.1f} s")

        def is_over() -> bool:
            return time.monotonic() > deadline

        def found_by(fault: Fault) -> tuple[Result, str]:
            limit = max(_LEAST_SECONDS, _SLOWER * seconds)
            try:
                code, _ = _run(bench, choice, fault.number, limit)
            except subprocess.TimeoutExpired:
                return Result.HANGS, bench.tests[0]
            return (Result.KILLED, bench.tests[0]) if code else (Result.SURVIVED, "")

        if mode == Mode.PROOFS:
            prove_faults(path, netlist, netlist.faults, is_over=is_over)
        else:
            try_faults(path, netlist.faults, found_by, mode=mode, is_over=is_over)


def main(arguments: list[str] | None = None) -> int:
    """Try faults until time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="COMPONENT", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=24, help="faults of each component")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all of them together")
    parser.add_argument("--mode", type=Mode, default=Mode.NEW, choices=[*Mode])
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHES))
    if unknown:
        parser.error(f"COMPONENT must be one of {', '.join(BENCHES)}, not {', '.join(unknown)}")
    deadline = time.monotonic() + 60 * options.minutes
    for name in options.names or BENCHES:
        if time.monotonic() < deadline:
            _measure(
                BENCHES[name],
                count=options.count,
                seed=options.seed,
                mode=options.mode,
                deadline=deadline,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())

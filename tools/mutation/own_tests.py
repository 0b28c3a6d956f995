"""Faults of the engine that its lists do not show: ``python -m tools.mutation.own_tests``.

The rest of the suite tests parts of the engine alone: by benches and by proofs. Each test of a part
runs with the fault at the same place of that part.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.list_batches import CONFIG
from tools.mutation.component_faults import CHOICE, Choice
from tools.mutation.engine import RECORD, engine_netlist, in_turn
from tools.mutation.fault_rows import read_rows
from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.mutation.netlist_rows import Mode, try_faults
from tools.mutation.trial import REPOSITORY, Result
from tools.verification import record
from tools.verification.component_classes import component_classes

__all__ = ["TESTS", "main"]

_TESTS = "tests/gateware/engine"
_MEMORY = f"{_TESTS}/memory/test_proofs.py"
_CONTROL = f"{_TESTS}/control/test_proofs.py"
TESTS: dict[str, tuple[str, ...]] = {
    "CommandUnit": (f"{_TESTS}/control/test_command_unit.py", _CONTROL),
    "Counters": (_CONTROL,),
    "Sequencer": (
        f"{_TESTS}/control/test_sequencer.py",
        f"{_TESTS}/control/test_sequencer_model.py",
        _CONTROL,
    ),
    "MemoryPort": (f"{_TESTS}/memory/test_memory_path.py", _MEMORY, f"{_TESTS}/memory/test_dma.py"),
    "ProtectionRanges": (f"{_TESTS}/memory/test_protection.py", _MEMORY),
    "DmaReader": (
        f"{_TESTS}/memory/test_bursts.py",
        f"{_TESTS}/memory/test_memory_path.py",
        _MEMORY,
        f"{_TESTS}/memory/test_dma.py",
    ),
    "DmaWriter": (
        f"{_TESTS}/memory/test_bursts.py",
        f"{_TESTS}/memory/test_memory_path.py",
        _MEMORY,
        f"{_TESTS}/memory/test_dma.py",
    ),
    "JobFetcher": (_CONTROL,),
    "JobCheck": (f"{_TESTS}/control/test_job_check.py", _CONTROL),
    "TransferFetcher": (_CONTROL, f"{_TESTS}/control/test_job_check.py"),
    "TransferUnit": (_MEMORY,),
    "FloatConverter": (_MEMORY,),
    "WeightLoader": (f"{_TESTS}/weights/test_proofs.py",),
    "Controller": (f"{_TESTS}/control/test_controller.py",),
    "FusedAdder": (f"{_TESTS}/fused/test_fused_adder.py",),
    "MoveUnit": (f"{_TESTS}/moves/test_move_unit.py",),
    "SoftmaxUnit": (f"{_TESTS}/softmax/test_softmax_unit.py",),
    "Quotients": (f"{_TESTS}/softmax/test_quotients.py",),
    "WeightBuffer": (
        f"{_TESTS}/weights/test_weight_buffer.py",
        f"{_TESTS}/weights/test_proofs.py",
    ),
    "MacArray": (f"{_TESTS}/array/test_mac_array.py",),
    "SumMemory": (f"{_TESTS}/array/test_sum_memory.py", f"{_TESTS}/array/test_proofs.py"),
    "Requantizer": (f"{_TESTS}/requantize/test_requantizer.py",),
    "GroupController": (f"{_TESTS}/addressing/test_group_controller.py",),
    "ElementwiseAddressGenerator": (f"{_TESTS}/addressing/test_address_generators.py",),
}
"""Tests of classes of the engine."""
_SLOWER, _LEAST_SECONDS = 10, 300.0
"""Times that tests may take as long as without a fault, and what they may take in any case."""


@dataclasses.dataclass(frozen=True)
class _Part:
    """A component that a fault is in: its class, and the name of its module in the netlist."""

    module: str
    component: str
    instance: str


def _parts(classes: dict[str, type], fault: Fault) -> Iterator[_Part]:
    """Give the components that a fault is in and that have tests, from the inside."""
    names = fault.cell_module.split(".")
    paths = [fault.module.split(".")[:count] for count in range(len(names) - 1, 0, -1)]
    for path in paths:
        kind = classes.get(".".join(path))
        if kind is not None and kind.__name__ in TESTS:
            instance = ".".join(names[: len(path) + 1])
            yield _Part(kind.__module__, kind.__name__, instance)


class _Runs:
    """Runs of tests with a fault, after one without."""

    def __init__(self, netlist: FaultyNetlist, folder: Path) -> None:
        self._netlist = netlist
        self._folder = folder
        self._usual: dict[tuple[_Part, str], float | None] = {}

    def found_by(self, part: _Part, fault: Fault) -> tuple[Result, str]:
        """Return what tests of a component make of a fault in it, and which one."""
        for tests in TESTS[part.component]:
            usual = self._usual_seconds(part, tests)
            if usual is None:
                continue
            limit = max(_LEAST_SECONDS, _SLOWER * usual)
            code, is_placed = self._run(part, tests, fault.command, limit)
            if code and is_placed:
                return (Result.HANGS if code < 0 else Result.KILLED), tests
        return Result.SURVIVED, ""

    def _usual_seconds(self, part: _Part, tests: str) -> float | None:
        """Return what tests take with the netlist, but no fault; None if they do not pass then."""
        key = dataclasses.replace(part, instance=""), tests
        if key not in self._usual:
            # The first run compiles simulators.
            for _ in range(2):
                start = time.monotonic()
                code, _ = self._run(part, tests, "", None)
                self._usual[key] = None if code else time.monotonic() - start
            if code:
                record.say(f"{tests} look into a {part.component}: not tried")
        return self._usual[key]

    def _run(
        self, part: _Part, tests: str, command: str, seconds: float | None
    ) -> tuple[int, bool]:
        placed, path = self._folder / "placed", self._folder / "choice.json"
        placed.unlink(missing_ok=True)
        choice = Choice(
            part.module,
            part.component,
            str(self._netlist.good),
            part.instance,
            command,
            str(placed),
        )
        path.write_text(json.dumps(dataclasses.asdict(choice)), encoding="utf-8")
        paths = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
        options = ["-x", "-q", "--tb=no", "-p", "tools.mutation.component_faults"]
        options += ["-p", "no:cacheprovider", "-m", "not nightly"]
        try:
            code = subprocess.run(
                [sys.executable, "-m", "pytest", *options, tests],
                cwd=REPOSITORY,
                env={**os.environ, "PYTHONPATH": paths, CHOICE: str(path)},
                capture_output=True,
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
        return code, placed.exists()


def main(arguments: list[str] | None = None) -> int:
    """Try faults that survived until time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--components", nargs="+", choices=TESTS, help="those of these classes")
    parser.add_argument("--numbers", nargs="+", type=int, help="of faults")
    options = parser.parse_args(arguments)
    deadline: float = time.monotonic() + 60 * options.minutes
    classes = component_classes(
        Engine(
            macs=CONFIG.engine_macs,
            scratchpad_bytes=CONFIG.scratchpad_bytes,
            has_softmax=CONFIG.has_softmax,
        )
    )
    netlist = engine_netlist()
    rows = read_rows(RECORD)
    left = {number for number, row in rows.items() if row["result"] == Result.SURVIVED}
    left &= set(options.numbers or left)

    def chosen(fault: Fault) -> list[_Part]:
        wanted = options.components or TESTS
        return [part for part in _parts(classes, fault) if part.component in wanted]

    with tempfile.TemporaryDirectory(prefix="kiwicha-parts-") as name:
        runs = _Runs(netlist, Path(name))

        def found_by(fault: Fault) -> tuple[Result, str]:
            for part in chosen(fault):
                result, found = runs.found_by(part, fault)
                if result != Result.SURVIVED:
                    return result, found
            return Result.SURVIVED, ""

        try_faults(
            RECORD,
            [fault for fault in in_turn(netlist.faults) if fault.number in left and chosen(fault)],
            found_by,
            mode=Mode.RECHECK,
            is_over=lambda: time.monotonic() > deadline,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What is mutated, and the tests that must see it."""

from dataclasses import dataclass, field

__all__ = ["TARGETS", "Target"]

_MEMORY = "tests/gateware/engine/memory"
_CONTROL = "tests/gateware/engine/control"


@dataclass(frozen=True)
class Target:
    """A module and its own fast tests.

    Parameters
    ----------
    module : str
        What is mutated.
    tests : tuple of str
        Arguments of pytest: the tests, those that see most first.
    component : str
        Class of a component in it, of which netlists are compared; empty if there is none.
    parameters : dict
        Of the component.
    """

    module: str
    tests: tuple[str, ...]
    component: str = ""
    parameters: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the module without the package."""
        return self.module.removeprefix("kiwicha.")


def _proofs(folder: str, *ids: str) -> tuple[str, ...]:
    return tuple(f"{folder}/test_proofs.py::{name}" for name in ids)


TARGETS = {
    target.name: target
    for target in (
        Target(
            "kiwicha.gateware.engine.memory.memory_port",
            (
                f"{_MEMORY}/test_memory_path.py",
                *_proofs(_MEMORY, "test_each_reader_gets_the_words_of_its_addresses[2]"),
            ),
            "MemoryPort",
            {"readers": 2},
        ),
        Target(
            "kiwicha.gateware.engine.memory.dma_reader",
            (f"{_MEMORY}/test_memory_path.py", *_proofs(_MEMORY, "test_holds_for_ever[reader]")),
            "DmaReader",
            {"depth": 8},
        ),
        Target(
            "kiwicha.gateware.engine.memory.dma_writer",
            (f"{_MEMORY}/test_memory_path.py", *_proofs(_MEMORY, "test_holds_for_ever[writer]")),
            "DmaWriter",
            {"depth": 16},
        ),
        Target(
            "kiwicha.gateware.engine.memory.protection",
            (f"{_MEMORY}/test_protection.py", *_proofs(_MEMORY, "test_holds_for_ever[ranges]")),
            "ProtectionRanges",
            {"clients": 2},
        ),
        Target(
            "kiwicha.gateware.engine.control.sequencer",
            (
                f"{_CONTROL}/test_sequencer.py",
                *_proofs(_CONTROL, "test_lists_end_quietly[]", "test_lists_end_quietly[pauses]"),
            ),
            "Sequencer",
        ),
        Target(
            "kiwicha.gateware.engine.control.command_unit",
            (
                f"{_CONTROL}/test_command_unit.py",
                *_proofs(_CONTROL, "test_windows_change_between_lists[False]"),
            ),
            "CommandUnit",
        ),
        Target(
            "kiwicha.gateware.engine.control.job_check",
            (
                f"{_CONTROL}/test_job_check.py",
                *_proofs(_CONTROL, "test_jobs_that_are_not_refused_are_sound[64-False]"),
            ),
            "JobCheck",
            {"scratchpad_bytes": 65536, "macs": 64},
        ),
        Target("kiwicha.numerics.integers", ("tests/numerics/test_integers.py",)),
        Target(
            "kiwicha.numerics.requantization",
            ("tests/numerics/test_requantization.py", "tests/numerics/test_activations.py"),
        ),
        Target("kiwicha.numerics.activations", ("tests/numerics/test_activations.py",)),
        Target("kiwicha.numerics.logarithm", ("tests/numerics/test_logarithm.py",)),
        Target("kiwicha.numerics.long_sums", ("tests/numerics/test_long_sums.py",)),
        Target("kiwicha.numerics.float_edges", ("tests/numerics/test_float_edges.py",)),
        Target("kiwicha.program.codec.code_table", ("tests/program/test_codec.py",)),
        Target("kiwicha.program.codec.streams", ("tests/program/test_codec.py",)),
        Target("kiwicha.program.codec.widths", ("tests/program/test_blocks.py",)),
        Target("kiwicha.program.codec.blocks", ("tests/program/test_blocks.py",)),
    )
}
"""By name, in the order of the page."""

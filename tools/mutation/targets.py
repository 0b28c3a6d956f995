"""What is mutated, and the tests that must see it."""

from dataclasses import dataclass, field

__all__ = ["TARGETS", "Target"]

_MEMORY = "tests/gateware/engine/memory"
_CONTROL = "tests/gateware/engine/control"
_LONG = ("any_wrong_bit", "any_changed_bit", "a_changed_word", "round_trip_is_exact", "other_bytes")
_BRIEFLY = ("-k", " and ".join(f"not {name}" for name in _LONG))
"""Without tests that take seconds."""
_MOVES = ("move_unit", "address_generator", "piece_lines", "loops", "tile_queue", "tile_buffer")
_RECURRENT = ("recurrent_unit", "gate_reader", "cell_state", "hidden_state", "activation")
_SOFTMAX = ("softmax_unit", "row_reader", "row_maximum", "output_bytes")


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
                f"{_MEMORY}/test_bursts.py",
                f"{_MEMORY}/test_memory_path.py",
                *_proofs(_MEMORY, "test_each_reader_gets_the_words_of_its_addresses[2]"),
            ),
            "MemoryPort",
            {"readers": 2},
        ),
        Target(
            "kiwicha.gateware.engine.memory.dma_reader",
            (
                f"{_MEMORY}/test_bursts.py",
                f"{_MEMORY}/test_memory_path.py",
                *_proofs(_MEMORY, "test_holds_for_ever[reader]"),
            ),
            "DmaReader",
            {"depth": 8},
        ),
        Target(
            "kiwicha.gateware.engine.memory.dma_writer",
            (
                f"{_MEMORY}/test_bursts.py",
                f"{_MEMORY}/test_memory_path.py",
                *_proofs(_MEMORY, "test_holds_for_ever[writer]"),
            ),
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
                f"{_CONTROL}/test_sequencer_model.py",
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
        *(
            Target(f"kiwicha.gateware.{name}", (f"tests/gateware/{tests}.py",))
            for name, tests in (
                ("engine.control.pause", "engine/control/test_pause"),
                ("engine.control.job_dispatcher", "engine/control/test_job_dispatcher"),
                ("engine.depthwise.unit_fills", "engine/depthwise/test_unit_fills"),
                ("engine.depthwise.array_watch", "engine/depthwise/test_array_watch"),
                ("engine.depthwise.patience", "engine/depthwise/test_patience"),
                ("engine.depthwise.fill_switch", "engine/depthwise/test_fill_switch"),
                (
                    "engine.short_elements.element_reader",
                    "engine/short_elements/test_element_reader",
                ),
                ("engine.short_elements.function_line", "engine/short_elements/test_function_line"),
                *((f"engine.moves.{name}", "engine/moves/test_move_unit") for name in _MOVES),
                ("engine.fused.fused_adder", "engine/fused/test_fused_adder"),
                *(
                    (f"engine.recurrent.{name}", "engine/recurrent/test_recurrent_unit")
                    for name in _RECURRENT
                ),
                ("engine.array.sum_memory", "engine/array/test_sum_memory"),
                ("i2s_receiver", "test_i2s_receiver"),
                ("engine.softmax.quotients", "engine/softmax/test_quotients"),
                ("engine.softmax.logarithm", "engine/softmax/test_quotients"),
                *(
                    (f"engine.softmax.{name}", "engine/softmax/test_softmax_unit")
                    for name in _SOFTMAX
                ),
                *(
                    (f"signal.{name}", "signal/test_signal_unit")
                    for name in ("signal_unit", "transform")
                ),
            )
        ),
        Target("kiwicha.numerics.integers", ("tests/numerics/test_integers.py",)),
        Target(
            "kiwicha.numerics.requantization",
            ("tests/numerics/test_requantization.py", "tests/numerics/test_activations.py"),
        ),
        *(
            Target(f"kiwicha.numerics.{name}", (f"tests/numerics/test_{name}.py",))
            for name in (
                *("activations", "logarithm", "long_sums", "float_edges", "short_activations"),
                *("short_exponentials", "fourier", "sound", "framing", "inverse_square_root"),
                *("lstm_steps", "quotients"),
            )
        ),
        *(
            Target(f"kiwicha.program.codec.{name}", (f"tests/program/{tests}.py", *_BRIEFLY))
            for name, tests in (
                *(("code_table", "test_code_table"), ("streams", "test_codec")),
                *(("widths", "test_blocks"), ("blocks", "test_blocks")),
            )
        ),
        *(
            Target(f"kiwicha.program.{name}", ("tests/program/test_image.py", *_BRIEFLY))
            for name in ("image", "format", "parts")
        ),
        Target("kiwicha.program.engine_list", ("tests/program/test_engine_list.py",)),
        *(
            Target(f"kiwicha.program.{name}", (f"tests/program/test_{name}.py",))
            for name in ("weight_streams", "float_tables", "unit_rows")
        ),
        *(
            Target(f"kiwicha.sim.reference.{name}", ("tests/sim/reference/test_checks.py",))
            for name in ("memory", "overlap")
        ),
        *(
            Target(f"kiwicha.sim.reference.{name}", (f"tests/sim/reference/test_{name}.py",))
            for name in ("engine_moves", "engine_recurrences")
        ),
        Target(
            "kiwicha.sim.reference.engine_units",
            tuple(
                f"tests/sim/reference/test_{name}.py" for name in ("unit_orders", "engine_units")
            ),
        ),
        Target(
            "kiwicha.sim.reference.engine_jobs",
            (
                "tests/sim/reference/test_engine_errors.py",
                "tests/sim/reference/test_gathered_jobs.py",
            ),
        ),
        *(
            Target(
                f"kiwicha.compiler.check.{name}",
                tuple(
                    f"tests/compiler/check/test_{tests}.py" for tests in (name, "rules", "remedies")
                ),
            )
            for name in ("model", "tensors", "shapes", "scales")
        ),
        *(
            Target(f"kiwicha.compiler.check.{name}", ("tests/compiler/check/test_rules.py",))
            for name in (
                *(
                    "rules",
                    "problems",
                    "images",
                    "moves",
                    "image_moves",
                    "index_moves",
                    "pairs",
                    "unary",
                    "integers",
                    "matrix_products",
                ),
                *("recurrent", "shorts", "signal", "signal_streams", "variables", "wide_types"),
            )
        ),
        Target(
            "kiwicha.compiler.tflite.graph",
            tuple(f"tests/compiler/tflite/test_{name}.py" for name in ("graph", "reader")),
        ),
        *(
            Target(f"kiwicha.compiler.{folder}.{name}", (f"tests/compiler/{tests}.py",))
            for folder, name, tests in (
                ("lower", "network", "lower/test_network"),
                ("memory", "plan", "memory/test_plan"),
                ("steps", "overlap", "steps/test_step_orders"),
                *(
                    ("engine.ir", name, f"engine/ir/test_{name}")
                    for name in ("limits", "region", "selection", "plan", "engine_list")
                ),
                ("engine.schedule", "hazards", "engine/schedule/test_schedule"),
            )
        ),
    )
}
"""By name, in the order of the page."""

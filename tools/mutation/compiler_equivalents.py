"""Equivalent faults of streams, of the reference executor's jobs and of the compiler."""

from tools.mutation.equivalent import Equivalent

__all__ = ["COMPILER_EQUIVALENTS"]

COMPILER_EQUIVALENTS = (
    *(
        Equivalent(
            "program.weight_streams",
            text,
            "1 -> 2",
            "numpy takes any negative size for the one that it finds itself",
        )
        for text in (
            "fields = groups[:, : shape.head].reshape(shape.groups, -1, _FIELDS, BEAT_BYTES)",
            "biases = fields[FIRST_GROUPS:, :, 0].reshape(len(others), -1, BEAT_BYTES)",
        )
    ),
    Equivalent(
        "program.weight_streams",
        "flags = JobFlag.PACKED if is_packed else JobFlag(0)",
        "0 -> 1",
        "neither function that is asked looks at the flag",
    ),
    Equivalent(
        "program.unit_rows",
        "more = group_wait(job, job.groups - 1)",
        "job.groups - 1 -> job.groups + 1",
        "a group behind the last waits as the last does",
    ),
    *(
        Equivalent(
            "program.float_tables",
            "if step >= 1 << (FLOAT_STEP_BITS - 1):",
            change,
            "tables with larger steps are not exact, and refused later; tried with 1,000 scales",
            place,
        )
        for change, place in (("FLOAT_STEP_BITS - 1 -> FLOAT_STEP_BITS + 1", 0), ("1 -> 0", 1))
    ),
    Equivalent(
        "program.float_tables",
        "leading = (1 << kept) | (wide >> (_FRACTION_BITS - kept) & ((1 << kept) - 1))",
        "1 -> 2",
        "the bit that is let through is the leading 1, which is there already",
        1,
    ),
    *(
        Equivalent(
            "program.float_tables",
            text,
            "32 -> 33",
            "numbers beyond every guess are looked at as well, or those that remain suffice; "
            "tried with 1,000 scales",
        )
        for text in (
            "short = np.arange(1 << _SHORT_BITS, dtype=np.uint32) << np.uint32(32 - _SHORT_BITS)",
            ("ends = np.concatenate([short, short | np.uint32((1 << (32 - _SHORT_BITS)) - 1)])"),
        )
    ),
    *(
        Equivalent(
            "sim.reference.engine_moves",
            text,
            "1 -> 2",
            "numpy takes any negative size for the one that it finds itself",
            place,
        )
        for text, place in (
            ("rows = rows.reshape(-1, 1, move.piece_bytes) + np.arange(columns)[:, None]", 0),
            ("starts = np.add.outer(stride * np.arange(last + 1), starts).reshape(-1)", 1),
        )
    ),
    Equivalent(
        "sim.reference.engine_moves",
        "for last, step in zip(reversed(last_indices), reversed(steps), strict=True):",
        "True -> False",
        "a job has as many steps as loops",
    ),
    Equivalent(
        "sim.reference.engine_recurrences",
        "*itertools.product(reads[:-1], writes[-1:]),",
        "-1 -> 1",
        "what is looked at besides was looked at in the line before",
        1,
    ),
    Equivalent(
        "sim.reference.engine_units",
        "for job, own in zip(jobs, rows, strict=True):",
        "True -> False",
        "each job has its rows",
    ),
    *(
        Equivalent(
            "compiler.steps.overlap",
            text,
            change,
            "whether two calls depend on each other does not depend on their order",
        )
        for text, change in (
            (
                "needed, early = _divide(network, before, uses, is_backwards=True)",
                "True -> False",
            ),
            ("late, free = _divide(network, after, uses, is_backwards=False)", "False -> True"),
            (
                "if uses.depends_on(its) if is_backwards else its.depends_on(uses):",
                (
                    "uses.depends_on(its) if is_backwards else its.depends_on(uses) -> "
                    "its.depends_on(uses) if is_backwards else uses.depends_on(its)"
                ),
            ),
        )
    ),
    Equivalent(
        "compiler.steps.overlap",
        "assert order[first] < place or not uses[first].depends_on(uses[second])",
        "order[first] < place -> order[first] <= place",
        "no two calls have one place",
    ),
    Equivalent(
        "compiler.check.model",
        "done.add(number)",
        "done.add(number) -> pass",
        "what has no circle is looked at again",
    ),
    Equivalent(
        "compiler.memory.plan",
        "if other.offset >= item.offset + item.buffer.bytes:",
        (
            "other.offset >= item.offset + item.buffer.bytes -> "
            "other.offset > item.offset + item.buffer.bytes"
        ),
        "what begins where another one ends has no byte in common with it",
    ),
    Equivalent(
        "compiler.engine.ir.region",
        "return self.input_bytes(self.operations[self.uses(tensor)[0]], tensor)",
        "0 -> 1",
        "a tensor that is loaded has as many bytes for each of its readers",
    ),
    *(
        Equivalent(module, text, "0 -> 1", "only the first of the two is looked at")
        for module, text in (
            (
                "compiler.engine.ir.region",
                "stored = (self.places.get(tensor, (tensor, 0))[0] for tensor in self.stores)",
            ),
            ("compiler.steps.overlap", "network.parts.get(index, (index, 0))[0]"),
        )
    ),
    Equivalent(
        "compiler.engine.ir.engine_list",
        "assert self.jobs",
        "assert self.jobs -> pass",
        "a part without jobs is refused, too",
    ),
    *(
        Equivalent("compiler.engine.ir.plan", text, "True -> False", reason)
        for text, reason in (
            (
                "for tensor, address in zip(self.operation.inputs, self.inputs, strict=True):",
                "each input has its address",
            ),
            (
                (
                    "ends = (o + b.aligned_bytes for o, b in "
                    "zip(self.offsets, self.buffers, strict=True))"
                ),
                "each buffer has its offset",
            ),
        )
    ),
    Equivalent(
        "compiler.engine.schedule.hazards",
        "same, others = (jobs, transfers) if isinstance(event, Job) else (transfers, jobs)",
        (
            "(jobs, transfers) if isinstance(event, Job) else (transfers, jobs) -> "
            "(transfers, jobs) if isinstance(event, Job) else (jobs, transfers)"
        ),
        "the two lists change names",
    ),
)
"""In the order of modules."""

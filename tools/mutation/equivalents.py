"""Faults in Python that no test can see, and why: they change nothing that can be observed."""

from collections.abc import Sequence

from tools.mutation.compiler_equivalents import COMPILER_EQUIVALENTS
from tools.mutation.equivalent import Equivalent
from tools.mutation.operators import Mutant

__all__ = ["EQUIVALENTS", "Equivalent", "equivalent_faults"]

EQUIVALENTS = (
    Equivalent(
        "gateware.engine.memory.dma_writer",
        "self.waiting = Signal(range(self.depth + 1))",
        "1 -> 2",
        "a depth is a power of two from 8 on: as many bits",
    ),
    Equivalent(
        "gateware.engine.memory.memory_port",
        "width=max(1, (count - 1).bit_length()) + 1, depth=self.MAX_OUTSTANDING",
        "1 -> 0",
        "it is of one reader, whose number, 0, needs no bit",
    ),
    Equivalent(
        "gateware.engine.control.command_unit",
        "command = Signal(ENGINE_COMMAND, reset_less=True)",
        "True -> False",
        "only what was taken since a reset has any effect",
    ),
    Equivalent(
        "gateware.engine.control.job_check",
        '"segments": (1, MAX_UNIT_KERNEL),',
        "1 -> 0",
        "the rule of all jobs of windows refuses 0",
    ),
    Equivalent(
        "gateware.engine.control.job_dispatcher",
        "Mux(oldest_of_unit < oldest_of_array, oldest_of_unit, oldest_of_array)",
        "oldest_of_unit < oldest_of_array -> oldest_of_unit <= oldest_of_array",
        "of two that are the same, either is the smaller one",
    ),
    Equivalent(
        "gateware.engine.control.job_dispatcher",
        "unit_ended_number = Signal(16, reset_less=True)",
        "16 -> 17",
        "numbers of 16 bits are given to it",
    ),
    Equivalent(
        "gateware.engine.depthwise.array_watch",
        "for kind in kinds[1:]:",
        "1 -> 0",
        "the first kind is asked for twice",
    ),
    Equivalent(
        "gateware.engine.depthwise.patience",
        "waited = Signal(range(_MOST_CYCLES + 1))",
        "1 -> 0",
        "14 has as many bits as 15",
    ),
    Equivalent(
        "gateware.engine.short_elements.function_line",
        "is_above, is_below = chosen > MAX_FUNCTION_ARGUMENT, chosen < -MAX_FUNCTION_ARGUMENT",
        "chosen < -MAX_FUNCTION_ARGUMENT -> chosen <= -MAX_FUNCTION_ARGUMENT",
        "the limit takes the place of itself",
    ),
    *(
        Equivalent(
            "gateware.engine.short_elements.function_line",
            text,
            "True -> False",
            "values count a fixed time behind a start alone",
        )
        for text in (
            'chosen = Signal(signed(32), name=f"chosen_{number}", reset_less=True)',
            'limited = Signal(signed(ARGUMENT_BITS), name=f"limited_{number}", reset_less=True)',
            'values = Signal(len(lanes) * SHORT_BITS, name=f"values_{number}", reset_less=True)',
        )
    ),
    Equivalent(
        "gateware.engine.moves.move_unit",
        '"is_column": 1,',
        "1 -> 2",
        "the bit more is 0 for ever",
    ),
    Equivalent(
        "gateware.engine.moves.move_unit",
        "is_reset=True,",
        "True -> False",
        "each row of a tile is written anew before it is read",
    ),
    Equivalent(
        "gateware.engine.moves.piece_lines",
        "before = Signal(_COUNT_BITS, init=(1 << _COUNT_BITS) - 1)",
        "1 << _COUNT_BITS -> 1 >> _COUNT_BITS",
        "-1 has all bits, too",
    ),
    *(
        Equivalent(
            "gateware.engine.moves.loops",
            "LOOP_BITS = (MOVE_LOOPS - 1).bit_length()",
            change,
            "as many bits, or one that is 0 for ever",
        )
        for change in ("1 -> 2", "MOVE_LOOPS - 1 -> MOVE_LOOPS + 1")
    ),
    Equivalent(
        "gateware.engine.moves.loops",
        ("return Cat(left[k : k + 3] == right[k : k + 3] for k in range(0, len(left), 3)).all()"),
        "3 -> 2",
        "some bits are compared twice",
        2,
    ),
    Equivalent(
        "gateware.engine.moves.tile_queue",
        'AFTER_TILE = data.StructLayout({"loop": LOOP_BITS, "is_end": 1})',
        "1 -> 2",
        "the bit more is 0 for ever",
    ),
    Equivalent(
        "gateware.engine.fused.fused_adder",
        "first_term = Signal(signed(FUSED_BITS), reset_less=True)",
        "True -> False",
        "a sum counts a fixed time behind its bytes alone",
    ),
    Equivalent(
        "gateware.engine.recurrent.recurrent_unit",
        'there = Signal(2, name=f"there_{stage}")',
        "2 -> 3",
        "the bit more is 0 for ever",
    ),
    Equivalent(
        "gateware.engine.recurrent.recurrent_unit",
        "_STAGES = (_WRITE_UPPER + 1) // PHASES + 1",
        "(_WRITE_UPPER + 1) // PHASES -> (_WRITE_UPPER + 1) * PHASES",
        "nothing looks at the stages more",
    ),
    *(
        Equivalent(
            "gateware.engine.recurrent.cell_state",
            text,
            change,
            "the sign is there once more",
        )
        for text, change in (
            ("_THIRDS_BITS = SHORT_BITS + 2", "2 -> 3"),
            ("rounded = Signal(signed(bits + 1), reset_less=True)", "1 -> 2"),
            (
                "wide = Signal(signed(_THIRDS_BITS + MAX_CELL_SHIFT - 3), reset_less=True)",
                "3 -> 2",
            ),
        )
    ),
    Equivalent(
        "gateware.engine.recurrent.hidden_state",
        "Signal(signed(32), name=name, reset_less=True)",
        "True -> False",
        "values count a fixed time behind a start alone",
    ),
    Equivalent(
        "gateware.engine.control.command_unit",
        "access.data.eq(Cat(command.inputs_1 for _ in range(LINE_BYTES // 4))),",
        "4 -> 3",
        "a line has no room for a fifth word",
    ),
    Equivalent(
        "gateware.engine.array.sum_memory",
        "sums = Signal(32 * self.lanes, reset_less=True)",
        "True -> False",
        "sums count a fixed time behind a read alone",
    ),
    Equivalent(
        "gateware.engine.recurrent.activation",
        "index = Signal(range(POINTS - 1), reset_less=True)",
        "1 -> 2",
        "as many bits",
    ),
    Equivalent(
        "gateware.engine.recurrent.cell_state",
        'for name, more in (("shifted", 1), ("kept", 1), ("total", 2))',
        "1 -> 0",
        "gates are less than 1: what is kept is no larger than a cell state",
        1,
    ),
    Equivalent(
        "gateware.i2s_receiver",
        "emit_src=False,",
        "False -> True",
        "comments say where lines come from",
    ),
    Equivalent(
        "numerics.integers",
        "is_high, is_low = numbers >= float(limits.max), numbers <= float(limits.min)",
        "numbers <= float(limits.min) -> numbers < float(limits.min)",
        "the least integer is a float64, and what is cast to an integer is it itself",
    ),
    Equivalent(
        "numerics.integers",
        "inside = np.where(is_high | is_low, 0, numbers).astype(wanted)",
        "0 -> 1",
        "another number takes this one's place in the next line",
    ),
    Equivalent(
        "numerics.requantization",
        "for k in range(-2, 5)",
        "5 -> 6",
        "arguments have 5 bits in front of the point at most, and factors of others are not used",
    ),
    Equivalent(
        "numerics.requantization",
        "if k >= integer_bits:",
        "k >= integer_bits -> k > integer_bits",
        "what is behind a quarter is less than 2**31, whose bit that would be",
    ),
    Equivalent(
        "numerics.requantization",
        "threshold = (mask >> 1) + (x64 < 0)",
        "0 -> 1",
        "of 0 there is nothing to round",
    ),
    Equivalent(
        "numerics.activations",
        (
            "return np.where(x64 > 0, of_magnitude, "
            "np.where(x64 < 0, INT32_MAX - of_magnitude, 1 << 30))"
        ),
        "0 -> 1",
        "of 0 the formula for negative numbers gives the same, 2**30",
    ),
    Equivalent(
        "numerics.float_edges",
        "return bits ^ ((bits >> 31) & 0x7FFF_FFFF)",
        "31 -> 32",
        "numpy leaves the sign of an int32 alone in both",
    ),
    Equivalent(
        "numerics.float_edges",
        "return (bits ^ ((bits >> 31) & 0x7FFF_FFFF)).view(np.float32)",
        "31 -> 32",
        "numpy leaves the sign of an int32 alone in both",
    ),
    Equivalent(
        "numerics.float_edges",
        "by_value = (rounded.clip(0, 255) - 128).astype(np.int8)",
        "rounded.clip(0, 255) - 128 -> rounded.clip(0, 255) + 128",
        "it is larger by 256, which an int8 does not keep",
    ),
    Equivalent(
        "numerics.short_activations",
        "first, part = np.minimum(magnitude >> 9, _POINTS - 2), magnitude & 511",
        "2 -> 3",
        "the last two lines round to the same; compared for every argument",
    ),
    Equivalent(
        "numerics.short_activations",
        "line = np.where(magnitude >> 9 >= _POINTS - 1, (_ONE // 2 - 1) << 10, line)",
        "1 -> 2",
        "the last line rounds to what is behind it; compared for every argument",
    ),
    Equivalent(
        "numerics.short_activations",
        "result: Int64s = np.where(argument >= 0, line - half + 128, half - line + 127) >> 8",
        "argument >= 0 -> argument > 0",
        "of 0 both give 0",
    ),
    Equivalent(
        "numerics.short_activations",
        "result: Int64s = np.where(argument >= 0, line - half + 128, half - line + 127) >> 8",
        "0 -> 1",
        "of 0 both give 0",
    ),
    Equivalent(
        "numerics.fourier",
        "low: Ints = ((x + 2**15) & 0xFFFF) - 2**15",
        "x + 2 ** 15 -> x - 2 ** 15",
        "the same number modulo 2**16",
    ),
    Equivalent(
        "numerics.fourier",
        "return np.array([root_of_one(phase) for phase in phases], np.int64).reshape(-1, 2)",
        "1 -> 2",
        "numpy takes any negative size for the one that it finds itself",
    ),
    Equivalent(
        "numerics.sound",
        "most = (-sample + 2**15) % 2**16 - 2**15",
        "-sample + 2 ** 15 -> -sample - 2 ** 15",
        "the same number modulo 2**16",
    ),
    Equivalent(
        "numerics.sound",
        "elif -sample > most:",
        "-sample > most -> -sample >= most",
        "one that is as large takes the place of itself",
    ),
    Equivalent(
        "numerics.sound",
        "if noise <= 2:",
        "noise <= 2 -> noise < 2",
        "the polynomial of 2 begins at it, with the same entry of the table",
    ),
    Equivalent(
        "numerics.sound",
        "if ratio < 2 << _RATIO_BITS:",
        "ratio < 2 << _RATIO_BITS -> ratio <= 2 << _RATIO_BITS",
        "square and line meet at 2: both are 1",
    ),
    Equivalent(
        "numerics.inverse_square_root",
        "if right < 0:",
        "0 -> 1",
        "at 0 nothing is shifted",
    ),
    *(
        Equivalent(
            "numerics.quotients",
            "signed = dividend if divisor > 0 else -dividend",
            "divisor > 0 -> divisor >= 0",
            "a divisor is not 0",
            place,
        )
        for place in (0, 1)
    ),
    *(
        Equivalent(
            "numerics.quotients",
            "return 31 - (x.bit_length() if x >= 0 else (-2 * x - 1).bit_length() - 1)",
            change,
            "0 is not divided",
        )
        for change in ("x >= 0 -> x > 0", "0 -> 1")
    ),
    Equivalent(
        "program.codec.code_table",
        "total = levels[-1].sum()",
        "1 -> 0",
        "each level has the same sum",
    ),
    Equivalent(
        "program.codec.code_table",
        "total = levels[-1].sum()",
        "-1 -> 1",
        "each level has the same sum",
    ),
    Equivalent(
        "program.codec.code_table",
        "for leaf, length in zip(leaves, prefix_lengths, strict=True)",
        "True -> False",
        "each leaf has its length",
    ),
    Equivalent(
        "program.codec.code_table",
        "if len(counts) == 1:",
        "1 -> 0",
        "of one leaf nothing is merged, and its length stays 0",
    ),
    *(
        Equivalent(
            "program.codec.widths",
            (
                "bits = [int(value if value >= 0 else -value - 1).bit_length() + 1 "
                "for value in values]"
            ),
            change,
            "0 has its width from the next line",
        )
        for change in ("value >= 0 -> value > 0", "0 -> 1")
    ),
    Equivalent(
        "program.codec.widths",
        "values = np.arange(256).astype(np.uint8).view(np.int8).astype(np.int64)",
        "256 -> 257",
        "no byte has the entry behind the last",
    ),
    *(
        Equivalent(
            "program.codec.widths",
            "costs: Ints = np.where(fits, (first + second)[:, None], 1 << 20)",
            change,
            "it is still more than any block takes",
        )
        for change in ("1 -> 2", "20 -> 21", "20 -> 19")
    ),
    Equivalent(
        "program.codec.blocks",
        "planes = [bits >> NIBBLE_BITS * plane & (1 << NIBBLE_BITS) - 1 for plane in range(width)]",
        "1 -> 0",
        "only the lower bits of a plane are looked at",
    ),
    Equivalent(
        "program.codec.blocks",
        "for head, steps in zip(heads, steps_of_groups, strict=True):",
        "True -> False",
        "both have an entry for each group",
    ),
    Equivalent(
        "program.codec.blocks",
        "if len(coded) % BEAT_BYTES or len(coded) < _HEADER_BEATS * BEAT_BYTES:",
        "_HEADER_BEATS * BEAT_BYTES -> _HEADER_BEATS + BEAT_BYTES",
        "both are more than one beat and at most two, and streams are whole beats",
    ),
    Equivalent(
        "program.codec.blocks",
        "beats.append((padded[::2] | padded[1::2] << NIBBLE_BITS).reshape(-1, BEAT_BYTES))",
        "1 -> 2",
        "numpy takes any negative size for the one that it finds itself",
        1,
    ),
    *(
        Equivalent(
            "program.codec.blocks",
            (
                "beats[1, : CHECK_BITS // 8] = "
                'np.frombuffer(word.to_bytes(CHECK_BITS // 8, "little"), np.uint8)'
            ),
            "8 -> 7",
            "32 // 7 is 4, too",
            place,
        )
        for place in (0, 1)
    ),
    Equivalent(
        "program.codec.streams",
        "group = np.where(last_step < 0, 0, last_step // shape.steps + 1)",
        "last_step < 0 -> last_step <= 0",
        "one lane at most asks in step 0, and four make a beat",
    ),
    Equivalent(
        "program.codec.streams",
        "peeks = np.arange(1 << _PEEK_BITS)",
        "1 -> 2",
        "nothing looks at entries behind those of all peeks",
    ),
    Equivalent(
        "program.codec.streams",
        "data = np.concatenate([padded.view(np.uint8).reshape(-1, BEAT_BYTES), heads])",
        "1 -> 2",
        "numpy takes any negative size for the one that it finds itself",
    ),
    Equivalent(
        "program.codec.streams",
        "mask = np.uint64((1 << CHUNK_BITS) - 1)",
        "1 -> 2",
        "the bit more is lost where chunks are stored, with 32 bits",
    ),
    *(
        Equivalent(
            "program.format",
            "_CHECKSUM_BLOCK = 1 << 16",
            change,
            "a sum is the same in blocks of any size",
        )
        for change in ("1 -> 2", "16 -> 17", "16 -> 15")
    ),
    Equivalent(
        "program.format",
        'if getattr(record, "reserved", 0):',
        "0 -> 1",
        "every kind of record has the field",
    ),
    Equivalent(
        "program.format",
        (
            "found = [kind.unpack(raw[offset + k * size : offset + (k + 1) * size]) "
            "for k in range(count)]"
        ),
        "1 -> 2",
        "a record is the first of the bytes that it is read from",
    ),
    *(
        Equivalent(
            "program.image",
            "checksum=(0, 0),",
            "0 -> 1",
            "the checksum, which does not cover itself, takes this one's place",
            place,
        )
        for place in (0, 1)
    ),
    *(
        Equivalent(
            "sim.reference.memory",
            "_POISON = 0xA5",
            change,
            "bytes that nothing has written are not read",
        )
        for change in ("165 -> 166", "165 -> 164")
    ),
    Equivalent(
        "sim.reference.memory",
        "self._arena[ref.offset : ref.offset + ref.bytes] = _POISON",
        "ref.offset + ref.bytes -> ref.offset - ref.bytes",
        "bytes that nothing has written are not read",
    ),
    Equivalent(
        "sim.reference.memory",
        'raw = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(-1)',
        "1 -> 2",
        "numpy takes any negative size for the one that it finds itself",
    ),
    *COMPILER_EQUIVALENTS,
)
"""In the order of modules."""


def equivalent_faults(module: str, known: Sequence[Mutant]) -> dict[int, Equivalent]:
    """Return which faults of a module are known to change nothing, by their numbers.

    Parameters
    ----------
    module : str
        Name of the target.
    known : sequence of Mutant
        All faults of the module.

    Raises
    ------
    ValueError
        If one that is listed is none of them: the module has changed.
    """
    numbers = {mutant.key: mutant.number for mutant in known}
    found = {}
    for item in EQUIVALENTS:
        key = (item.text, item.change, item.place)
        if item.module == module and key not in numbers:
            raise ValueError(
                f"an equivalent of {module} must be one of its faults, not {item.change!r} in "
                f"{item.text!r} ({item.place}); mend tools/mutation/equivalents.py"
            )
        if item.module == module:
            found[numbers[key]] = item
    return found

"""Checks of DRAM: data lines, address lines, addresses and patterns."""

from collections.abc import Iterator

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.runner import Runner
from kiwicha.contract.cfu import ALIGNMENT_BYTES, DRAM_BASE
from kiwicha.contract.self_test import (
    SELF_TEST_DATA_ADDRESS,
    SELF_TEST_PROBE_ADDRESS,
    SelfTest,
    SelfTestCheck,
)

__all__ = ["check_memory"]

_ALL_BITS = 0xFFFF_FFFF
_NAMES = {
    SelfTestCheck.DATA_LINES: "memory, data lines",
    SelfTestCheck.ADDRESS_LINES: "memory, address lines",
    SelfTestCheck.ADDRESSES: "memory, addresses",
    SelfTestCheck.PATTERN: "memory, patterns",
}


def check_memory(runner: Runner, size: int) -> Iterator[Finding]:
    """Yield what each check of DRAM finds.

    Parameters
    ----------
    runner : Runner
        The board.
    size : int
        Bytes that patterns go through, a multiple of 16.
    """
    sizes = {
        SelfTestCheck.DATA_LINES: ALIGNMENT_BYTES,
        SelfTestCheck.ADDRESS_LINES: runner.dram_bytes,
    }
    for check, name in _NAMES.items():
        tested = sizes.get(check, size)
        found = runner.check_memory(check, tested)
        if not found.wrong:
            yield Finding(name, _done(check, tested))
        elif check is SelfTestCheck.ADDRESS_LINES:
            yield Finding(name, "", _address_difference(found), _address_cause(found))
        else:
            yield Finding(name, "", _difference(found), _cause(check, found))


def _done(check: SelfTestCheck, size: int) -> str:
    if check is SelfTestCheck.DATA_LINES:
        return f"32 bits of each of {size // 4} words alone, at {SELF_TEST_DATA_ADDRESS:#x}"
    if check is SelfTestCheck.ADDRESS_LINES:
        return f"bits 2 to {(size - 1).bit_length() - 1} of the address"
    return f"{size:,} bytes from {SELF_TEST_DATA_ADDRESS:#x} on, and inverted"


def _difference(found: SelfTest) -> str:
    return (
        f"at {found.address:#x} expected {found.expected:#010x}, got {found.got:#010x}; "
        f"{found.wrong:,} words differ, in {_bits(found.bits)}"
    )


def _address_difference(found: SelfTest) -> str:
    bit = found.address
    other = SELF_TEST_PROBE_ADDRESS ^ 1 << bit
    return (
        f"of the words at {SELF_TEST_PROBE_ADDRESS:#x} and {other:#x}, bit {bit} of the address "
        f"apart, expected {found.expected:#010x}, got {found.got:#010x}"
    )


def _address_cause(found: SelfTest) -> str:
    if found.expected ^ found.got and (found.expected ^ found.got).bit_count() == 1:
        return f"{_bits(found.bits)} of the data rather than an address line"
    return (
        f"an address line, of row, column or bank, that carries bit {found.address} and is stuck,"
        " open, or joined to another; or a chip of another size than the board's file says "
        f"(DRAM begins at {DRAM_BASE:#x})"
    )


def _cause(check: SelfTestCheck, found: SelfTest) -> str:
    if found.bits.bit_count() <= 4:
        return f"the data lines that carry {_bits(found.bits)}: stuck, open, or joined"
    if check is SelfTestCheck.DATA_LINES:
        return "all data lines: clock, strobes or supply of the memory, or its calibration"
    if check is SelfTestCheck.ADDRESSES and not found.bits & 3:
        return f"words that are stored at two addresses, apart in {_bits(found.bits)}"
    return "timing of the memory: calibration, a clock that is too fast, refresh, or its supply"


def _bits(bits: int) -> str:
    if bits == _ALL_BITS:
        return "all bits"
    numbers = [str(bit) for bit in range(32) if bits >> bit & 1]
    return f"bit{'s' * (len(numbers) > 1)} {', '.join(numbers)}"

"""Faults in C that no Program can see, and why: they change nothing that can be observed."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.mutation.c_operators import CFault

__all__ = ["C_EQUIVALENTS", "CEquivalent", "equivalent_c_faults"]


@dataclass(frozen=True)
class CEquivalent:
    """A fault that computes the same, for every Program that is not refused.

    Parameters
    ----------
    file : str
        Of `firmware/kernels`.
    text : str
        The line that it is in.
    change : str
        As in `CFault`.
    reason : str
        Why it is the same.
    place : int or None
        Among those with the same text and change; None: all of them.
    """

    file: str
    text: str
    change: str
    reason: str
    place: int | None = None


C_EQUIVALENTS: tuple[CEquivalent, ...] = (
    CEquivalent(
        "arg_max.c",
        "if (__builtin_expect(largest != best[word], 0)) {",
        "0 -> 1",
        "it tells the compiler what is likely",
    ),
    CEquivalent(
        "cast.c",
        "case 4:",
        "4 -> 5",
        "the other way does the same, and takes longer",
    ),
    CEquivalent(
        "check.c",
        "return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;",
        "> -> >= in return product > UINT32_MAX ? UINT32",
        "a product that is UINT32_MAX stays so",
    ),
    CEquivalent(
        "elementwise.c",
        "return a < b ? a : b;",
        "< -> <= in return a < b ? a : b;",
        "what is as large takes the place of itself",
    ),
    CEquivalent(
        "check_layers.c",
        "return value > UINT32_MAX - 3 ? UINT32_MAX : (value + 3) & ~3u;",
        "3 -> 2",
        "it becomes 0 instead of the largest number: no size is either",
        0,
    ),
    CEquivalent(
        "check_layers.c",
        "return last >= UINT32_MAX ? UINT32_MAX : (uint32_t)last + 1;",
        ">= -> > in return last >= UINT32_MAX ? UINT32",
        "it becomes 0 instead of the largest number: no size is either",
    ),
    CEquivalent(
        "signal_stream.c",
        "kiwicha_require(&check, p->step < p->size);",
        "kiwicha_require(&check, p->step < p->size); -> nothing",
        "what is kept would have no bytes, or more than there are: both are refused",
    ),
    CEquivalent(
        "lstm.c",
        "cell->hidden_shift = p->hidden_shift < 0 ? -1 - p->hidden_shift : -1;",
        "0 -> 1",
        "of 0 both give -1",
    ),
    CEquivalent(
        "lstm.c",
        "cell->hidden_shift = p->hidden_shift < 0 ? -1 - p->hidden_shift : -1;",
        "1 -> 2",
        "any negative number says that the scale is another",
        1,
    ),
    CEquivalent(
        "matrix_product.c",
        "return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;",
        "> -> >= in return total > UINT32_MAX ? UINT32",
        "a total that is UINT32_MAX stays so",
    ),
    CEquivalent(
        "maximum.c",
        "if (depth >= LONG_ROW) {",
        ">= -> > in if (depth >= LONG_ROW) {",
        "both ways give the same, in another time",
    ),
    CEquivalent(
        "maximum.c",
        "#pragma GCC unroll 1",
        "1 -> 0",
        "it tells the compiler how to compile a loop",
    ),
    CEquivalent(
        "ordered.c",
        "case 4:",
        "4 -> 3",
        "the other way does the same, and takes longer",
    ),
    CEquivalent(
        "resize_bilinear.c",
        "if (column->pixels[0] == pixels[1] && pixels[0] != pixels[1]) {",
        "0 -> 1",
        "a column that is not kept is blended again",
    ),
    CEquivalent(
        "resize_bilinear.c",
        "pixels[k] = pixel;",
        "pixels[k] = pixel; -> nothing",
        "a column that is not kept is blended again",
    ),
    *(
        CEquivalent(
            file,
            f"kiwicha_require_{name}(&check, &of_bytes, 1);",
            "1 -> 2",
            "where numbers of int16 begin is checked besides",
        )
        for file, name in (("short_elementwise.c", "elementwise"), ("short_pool.c", "pool"))
    ),
    CEquivalent(
        "short_line.c",
        "const int32_t x = input[k] < first ? first : input[k] > last ? last : input[k];",
        "< -> <= in nt32_t x = input[k] < first ? first : inp",
        "what is as large takes the place of itself",
    ),
    CEquivalent(
        "short_line.c",
        "const int32_t x = input[k] < first ? first : input[k] > last ? last : input[k];",
        "> -> >= in ? first : input[k] > last ? last : input",
        "what is as large takes the place of itself",
    ),
    CEquivalent(
        "short_mean.c",
        "for (uint32_t k = 0; k < axes.count; k++) {",
        "< -> <= in (uint32_t k = 0; k < axes.count; k++) {",
        "what is behind the last distance is not used, and 0 behind the last of all",
    ),
    CEquivalent(
        "short_pool.c",
        "result = value > result ? value : result;",
        "> -> >= in result = value > result ? value : re",
        "what is as large takes the place of itself",
    ),
    CEquivalent(
        "short_softmax.c",
        "(int16_t)((int32_t)(probability - (probability >> PROBABILITY_BITS)) + INT16_MIN);",
        "+ -> - in PROBABILITY_BITS)) + INT16_MIN);",
        "the same number modulo 2**16",
    ),
    CEquivalent(
        "signal_stream.c",
        "if (first < p->kept) {",
        "< -> <= in if (first < p->kept) {",
        "nothing is copied then",
    ),
    CEquivalent(
        "simd_add.c",
        "uint32_t word = 0;",
        "0 -> 1",
        "four bytes are pushed behind it, and it is lost",
    ),
    CEquivalent(
        "simd_conv.c",
        "const uint32_t count = pixels < p->tile_pixels ? pixels : p->tile_pixels;",
        "< -> <= in 32_t count = pixels < p->tile_pixels ? pi",
        "what is as large takes the place of itself",
    ),
    CEquivalent(
        "simd_depthwise_conv.c",
        "const uint32_t budget = KIWICHA_DATA_CACHE_BYTES - 512;",
        "512 -> 513",
        "it says in which order rows are computed",
    ),
    CEquivalent(
        "simd_window.c",
        "const uint32_t now = inside == 0 ? 1 : inside < count ? inside : count;",
        "< -> <= in e == 0 ? 1 : inside < count ? inside : co",
        "what is as large takes the place of itself",
    ),
)
"""In the order of files."""


def equivalent_c_faults(file: str, known: Sequence[CFault]) -> dict[int, CEquivalent]:
    """Return which faults of a file are known to change nothing, by their numbers.

    Parameters
    ----------
    file : str
        Its name.
    known : sequence of CFault
        All faults of the file.
    """
    found: dict[int, CEquivalent] = {}
    for item in C_EQUIVALENTS:
        if item.file != file:
            continue
        key = (item.text, item.change)
        numbers = [fault.number for fault in known if (fault.text, fault.change) == key]
        chosen = numbers if item.place is None else numbers[item.place : item.place + 1]
        found |= dict.fromkeys(chosen, item)
    return found

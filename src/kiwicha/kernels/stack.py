"""How much of the stack a model needs."""

from collections.abc import Iterable

from kiwicha.contract.program import Kernel

__all__ = ["OPEN_BYTES", "OTHER_RUN_BYTES", "RUNTIME_BYTES", "RUN_BYTES", "stack_bytes"]

OPEN_BYTES = 656
"""Of `kiwicha_open`, with the checks of all kernels."""
RUNTIME_BYTES = 160
"""Of what comes before a kernel: `kiwicha_invoke`, `kiwicha_close` and others."""
RUN_BYTES = {
    Kernel.MEAN: 384,
    Kernel.SOFTMAX: 368,
    Kernel.REDUCE_MIN: 384,
    Kernel.LOG_SOFTMAX: 416,
    Kernel.RESIZE_BILINEAR: 592,
    Kernel.REDUCE_MAX: 384,
    Kernel.ARG_MAX: 256,
    Kernel.LSTM: 256,
    Kernel.SIMD_CONV_1X1: 464,
    Kernel.SIMD_CONV: 1136,
    Kernel.SIMD_FULLY_CONNECTED: 464,
    Kernel.DETECTION: 320,
    Kernel.SIMD_MATRIX_PRODUCT: 544,
    Kernel.SHORT_CONV: 304,
    Kernel.SHORT_MEAN: 272,
    Kernel.SHORT_TRANSPOSE_CONV: 288,
    Kernel.SHORT_LSTM: 352,
    Kernel.SIGNAL_RFFT: 224,
}
"""Of the kernels that take most, as clang compiles them for RV32 with -O1, -O2 and -Os."""
OTHER_RUN_BYTES = 208
"""Of any other kernel; of a custom operator, what comes before its own function."""
_OTHER_COMPILERS = 1.25
"""By how much more other compilers may take."""
_STEP_BYTES = 16


def stack_bytes(kernels: Iterable[Kernel]) -> int:
    """Return the bytes of stack that any call of the runtime takes at most.

    What the application supplies comes to it: functions of ``runtime/platform.h``, of custom
    operators, and ``on_step``.

    Parameters
    ----------
    kernels : iterable of Kernel
        Those of the Program's steps.
    """
    run = max((RUN_BYTES.get(kernel, OTHER_RUN_BYTES) for kernel in kernels), default=0)
    measured = max(OPEN_BYTES, RUNTIME_BYTES + run)
    return -(-int(measured * _OTHER_COMPILERS) // _STEP_BYTES) * _STEP_BYTES

"""Why lines of Python are not met by the quick tests of the same folder."""

import re

__all__ = ["reason_of"]

_REASONS = (
    (
        r"compiler\.onnx\.",
        "tests against ONNX Runtime lie in `tests/sim/reference`",
    ),
    (
        r"compiler\.(check\.custom|lower\.custom)$",
        "tests of operators of users lie in `tests/custom`",
    ),
    (
        r"compiler\.(tflite\.detectors|lower\.detection)$",
        "tests of detectors lie in `tests/detection`",
    ),
    (
        (
            r"compiler\.(lower\.(indexed|integers|signal|recurrent|short_recurrent|casts|svdf)"
            r"|tflite\.signal\w*)$"
        ),
        "tests against the interpreters lie in `tests/sim/reference`",
    ),
    (
        r"compiler\.engine\.(schedule\.blocks|select\.resize)\.",
        "layers in parts: tests against the interpreters lie in `tests/sim/reference`",
    ),
)


def reason_of(module: str) -> str:
    """Return where tests of a module's other lines are; that there is no reason if none is known.

    Parameters
    ----------
    module : str
        Without the package's name.
    """
    found = (text for pattern, text in _REASONS if re.match(pattern, module))
    return next(found, "without a reason that is known")

"""The writer of .tflite models, with operators' codes in each of the fields allowed."""

import zlib

from kiwicha.tflite_writer import builder as writer

__all__ = ["CODE_FIELDS", "INT4", "ModelBuilder"]

CODE_FIELDS = ("both", "builtin_code", "deprecated_builtin_code")
"""Which fields of the file tell an operator's code; TFLite takes the larger of both."""
INT4 = 17
"""Type number of int4, which numpy has not."""


class ModelBuilder(writer.ModelBuilder):
    """Collects tensors and operators of one subgraph.

    Parameters
    ----------
    description : str
        Stored in the model.
    code_fields : str, optional
        One of `CODE_FIELDS` for all operators. None: each operator has its own, at random, but
        always the same in the same model.
    """

    def __init__(self, description: str = "test model", *, code_fields: str | None = None) -> None:
        super().__init__(description)
        self._content = description
        self._code_fields = code_fields

    def code_fields(self, name: str, code: int) -> tuple[int, int]:
        """Return an operator's code for both fields, or 0 for one of them."""
        fields = self._code_fields or self._chosen_fields(name)
        both = super().code_fields(name, code)
        if fields == "builtin_code":
            return code, 0
        is_old = fields == "deprecated_builtin_code" and code <= writer.PLACEHOLDER
        return (0, code) if is_old else both

    def _chosen_fields(self, name: str) -> str:
        codes = list(dict.fromkeys(operator.code[0] for operator in self.operators))
        shapes = [t.shape if t.shape is None else list(t.shape) for t in self.tensors]
        content = f"{self._content} {codes} {shapes} {name}"
        return CODE_FIELDS[zlib.crc32(content.encode()) % len(CODE_FIELDS)]

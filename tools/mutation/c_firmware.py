"""The firmware as a program of this machine, compiled file by file: another one takes a moment.

Its ``main`` is that of ``c_cases.c``.
"""

import subprocess
from pathlib import Path

from kiwicha import tools
from kiwicha.contract.configs import Config
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import RUNTIME_FOLDERS
from tools.verification.c_programs import HOST, host_sources

__all__ = ["CFirmware"]

_SANITIZERS = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
_FLAGS = (
    *("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-O1", "-w"),
    *_SANITIZERS,
)


class CFirmware:
    """Objects of all files of a configuration.

    Parameters
    ----------
    config : Config
        The configuration.
    folder : Path
        Where objects and the program go.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / HEADER_NAME).write_text(header(config), encoding="utf-8")
        compiler = tools.cxx().command
        includes = (f"-I{include}" for include in (folder, *RUNTIME_FOLDERS, HOST))
        self._compile = [*compiler, *_FLAGS, *includes]
        self._link = [*compiler, *_SANITIZERS, "-o", "native"]
        sources = [path for path in host_sources(config) if path != HOST / "main.c"]
        sources.append(Path(__file__).with_name("c_cases.c"))
        self._objects = {path: folder / f"{path.stem}.o" for path in sources}
        for source, compiled in self._objects.items():
            tools.run(self._command(source, compiled), name="the compiler", folder=folder)

    def _command(self, source: Path, compiled: Path) -> list[str]:
        return [*self._compile, "-x", "c", "-c", str(source), "-o", str(compiled)]

    def has(self, path: Path) -> bool:
        """Whether a file is one of the configuration's."""
        return path in self._objects

    def build(self, path: Path, source: str) -> Path | None:
        """Return the program with another source of a file; None if it cannot be compiled.

        Parameters
        ----------
        path : Path
            The file.
        source : str
            Its source.
        """
        changed, compiled = self._folder / "changed.c", self._folder / "changed.o"
        changed.write_text(source, encoding="utf-8")
        command = [*self._command(changed, compiled), f"-I{path.parent}"]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, check=False)
        if done.returncode:
            return None
        objects = [compiled if each == path else other for each, other in self._objects.items()]
        tools.run([*self._link, *map(str, objects)], name="the linker", folder=self._folder)
        return self._folder / "native"

"""Results that are wanted and may not have been measured yet."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwicha.boards.capacity import family_of
from kiwicha.boards.memories import memory_of
from kiwicha.contract.depthwise import UNIT_MACS
from kiwicha.gallery import catalogue
from kiwicha.mlperf.benchmarks import BENCHMARKS
from kiwicha.zoo import models as zoo
from tools.results.kinds import BENCH, ENERGY, KINDS
from tools.results.result import FOLDER, Kind, Result

__all__ = ["BLOCKS", "BOARDS", "DEPTHWISE", "FRONTEND", "GALLERY", "LARGE", "PREDICTIONS"]
__all__ += ["PUBLIC", "RECURRENT", "ROOM", "SOFTMAX", "STREAMING", "UINT8", "planned"]

GALLERY = "docs/results/bench/gallery.json"
"""Runs of the gallery, which only the page of results shows one by one."""
_GALLERY_MODELS = (
    *("resnet18@64", "resnet50@64", "vgg11@32", "mobilenet1@96", "mobilenet2@96"),
    *("efficientnet_lite0@96", "inception3@75", "densenet121@64", "shufflenet1@96"),
    *("shufflenet2@96", "yolov5n@160", "yolov8n@128", "ssdlite_mobilenet3@160"),
    *("ssdlite_mobiledet@128", "unet@64,width=0.5", "keyword_mixer@98", "mlp_mixer@96"),
    "keyword_transformer@98",
)
"""Of sizes that are simulated in minutes; every architecture once."""
PUBLIC = "docs/results/bench/public.json"
"""Runs of public models beyond those of the overview, each with something that is not usual."""
_PUBLIC_MODELS = (
    *("mcunet_vww", "magic_wand", "ssd_slim", "mobilenet_v2_pytorch", "hps", "deeplabv3"),
    *("resnet_large", "str_ww"),
)
_ENGINES = ("64", "128")
SOFTMAX = "docs/results/bench/softmax.json"
"""Runs of those models whose SOFTMAX takes over 4 % of ``64`` on the CPU, with jobs for it."""
_SOFTMAX_MODELS = (
    *("yolov8n@128", "keyword_transformer@98"),
    *("magic_wand", "micro_speech", "mobilenet_v1"),
)
_SOFTMAX_CONFIGS = ("64-softmax",)
STREAMING = "docs/results/bench/streaming.json"
"""Runs of public models that keep states, or have recurrent layers."""
_STREAMING_MODELS = ("okay_nabu", "keyword_scrambled", "mnist_lstm")
RECURRENT = "docs/results/bench/recurrent.json"
"""Runs of a model with an LSTM, on engines with steps of LSTMs."""
_RECURRENT_MODELS = ("mnist_lstm",)
_RECURRENT_CONFIGS = ("64-recurrent", "128-recurrent")
UINT8 = "docs/results/bench/uint8.json"
"""Runs of public models of uint8."""
_UINT8_MODELS = ("mobilenet_v1", "mobilenet_v2", "ssd_mobilenet_v1")
FRONTEND = "docs/results/bench/frontend.json"
"""Runs of the public frontend, all of which is on the CPU."""
_FRONTENDS = ("audio_preprocessor",)
_WITHOUT_ENGINE = "simd"
DEPTHWISE = "docs/results/bench/depthwise.json"
"""Runs beside the depthwise unit."""
_DEPTHWISE_MODELS = (
    *("person_detect", "vww", "kws", "resnet8", "ad", "mnv2", "mobilenet_v2_pytorch"),
    *("mobilenet_v2", "resnet_large"),
)
LARGE = "docs/results/bench/large.json"
"""Runs of large models on engines with two products per multiplier."""
_LARGE_MODELS = ("mobilenet_v2", "resnet_large")
_PACKED = ("128", "256")
ROOM = "docs/results/bench/room.json"
"""Runs of models whose rows have no room in 64 KiB, beside the depthwise unit, with 128 KiB."""
_ROOM_MODELS = (*_LARGE_MODELS, "mnv2")
_WITH_ROOM = ("128-128k-depthwise", "256-128k-depthwise")
BLOCKS = "docs/results/bench/blocks.json"
"""Runs of a model that waits for weights, which decoders of blocks and weights on chip help."""
_BLOCKS_MODELS = ("ad",)
_BLOCKS_CONFIGS = (
    *("64-blocks", "64-blocks-resident", "128-blocks", "128-blocks-resident"),
    *("256-blocks", "256-blocks-resident"),
)
PREDICTIONS = "docs/results/bench/predictions.json"
"""Runs of small models, for the deviations of predictions alone."""
_SMALL_MODELS = (
    *("micro_speech", "magic_wand", "str_ww", "ad", "kws", "vww", "person_detect", "resnet8"),
)
_BOARDS = ("ecpix5_85f", "ulx3s_85f")
"""Those with another memory than the usual one."""
BOARDS = {board: f"docs/results/bench/{board}.json" for board in _BOARDS}
"""Runs with their memory, which only the page of results shows."""
_BOARD_MODELS = ("ad", "kws", "person_detect", "mnv2", "mobilenet_v2_pytorch")
_USUAL = "64"
_UNITS = tuple(f"{macs}-depthwise" for macs in UNIT_MACS)
_SYNTHESISED = (*_UNITS, "64-blocks")
"""CFUs whose resources and clock are estimated besides those that have files."""
_LARGER_BOARD = "arty_a7_100"
_LARGER_SYSTEMS = ("256", "256-depthwise")
_CLOCK_HZ = 100_000_000


def _nothing(_: Any) -> dict[str, Any]:
    return {}


def _unmeasured(kind: Kind) -> Kind:
    return dataclasses.replace(kind, recorded=_nothing, present=_nothing, seconds=lambda _: None)


_KINDS = {kind.folder: _unmeasured(kind) for kind in KINDS}


def planned(project: Path) -> list[Result]:
    """Return what is to be measured and has no file: no hashes, and contents for its command.

    Parameters
    ----------
    project : Path
        Its top folder.
    """
    wanted = {GALLERY: [catalogue.find(name).name for name in _GALLERY_MODELS]}
    wanted[PUBLIC] = [zoo.find(name).name for name in _PUBLIC_MODELS]
    runs = {path: _runs(names, _ENGINES) for path, names in wanted.items()}
    runs[SOFTMAX] = _runs(_SOFTMAX_MODELS, _SOFTMAX_CONFIGS)
    runs[STREAMING] = _runs(_STREAMING_MODELS, _ENGINES)
    runs[RECURRENT] = _runs(_RECURRENT_MODELS, _RECURRENT_CONFIGS)
    runs[UINT8] = _runs(_UINT8_MODELS, (_USUAL,))
    runs[FRONTEND] = _each(_FRONTENDS, (_WITHOUT_ENGINE,))
    runs[PREDICTIONS] = [{"model": name, "config": _USUAL} for name in _SMALL_MODELS]
    runs[DEPTHWISE] = _each(_DEPTHWISE_MODELS, _UNITS)
    runs |= {path: _runs_with(board) for board, path in BOARDS.items()}
    runs[LARGE] = _each(_LARGE_MODELS, _PACKED)
    runs[ROOM] = _each(_ROOM_MODELS, _WITH_ROOM)
    runs[BLOCKS] = _each(_BLOCKS_MODELS, _BLOCKS_CONFIGS)
    found = [Result(_KINDS[BENCH.folder], path, contents) for path, contents in runs.items()]
    found += _energies()
    found += _syntheses()
    return [result for result in found if not (project / result.path).exists()]


def _each(models: Sequence[str], configs: Sequence[str]) -> list[dict[str, Any]]:
    return [{"model": model, "config": config} for model in models for config in configs]


def _energies() -> list[Result]:
    """Return the benchmarks' energies, a file for each model."""
    kind = _KINDS[ENERGY.folder]
    return [
        Result(kind, f"{FOLDER}/{kind.folder}/{name}.json", {"model": name, "config": _USUAL})
        for name in (benchmark.model for benchmark in BENCHMARKS)
    ]


def _syntheses() -> list[Result]:
    """Return what is synthesised: CFUs for their resources and their clock, and systems."""
    family = family_of(_LARGER_BOARD).value
    contents: dict[str, dict[str, Any]] = {}
    for config in _SYNTHESISED:
        contents[f"area/{config}"] = {"config": config, "family": family}
        contents[f"timing/{config}"] = {"config": config, "board": _LARGER_BOARD}
    for config in _LARGER_SYSTEMS:
        contents[f"boards/{_LARGER_BOARD}-{config}"] = {
            "board": _LARGER_BOARD,
            "config": config,
            "sys_clk_hz": _CLOCK_HZ,
            "speed_grade": None,
            "has_bitstream": False,
        }
    return [
        Result(_KINDS[name.partition("/")[0]], f"{FOLDER}/{name}.json", about)
        for name, about in contents.items()
    ]


def _runs(models: Sequence[str], configs: Sequence[str]) -> list[dict[str, Any]]:
    return [{**run, "vela": {"version": ""}} for run in _each(models, configs)]


def _runs_with(board: str) -> list[dict[str, Any]]:
    memory = memory_of(board)
    return [{"model": name, "config": _USUAL, "memory": memory.name} for name in _BOARD_MODELS]

"""Results that are wanted and may not have been measured yet."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwicha.boards.memories import memory_of
from kiwicha.contract.depthwise import UNIT_MACS
from kiwicha.gallery import catalogue
from kiwicha.zoo import models as zoo
from tools.results.kinds import BENCH
from tools.results.result import Kind, Result

__all__ = [
    "BOARDS",
    "DEPTHWISE",
    "FRONTEND",
    "GALLERY",
    "PREDICTIONS",
    "PUBLIC",
    "STREAMING",
    "planned",
]

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
STREAMING = "docs/results/bench/streaming.json"
"""Runs of public models that keep states, or have recurrent layers."""
_STREAMING_MODELS = ("okay_nabu", "keyword_scrambled", "mnist_lstm")
FRONTEND = "docs/results/bench/frontend.json"
"""Runs of the public frontend, all of which is on the CPU."""
_FRONTENDS = ("audio_preprocessor",)
_WITHOUT_ENGINE = "simd"
DEPTHWISE = "docs/results/bench/depthwise.json"
"""Runs beside the depthwise unit."""
_DEPTHWISE_MODELS = (
    *("person_detect", "vww", "kws", "resnet8", "ad", "mnv2", "mobilenet_v2_pytorch"),
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


def _nothing(_: Any) -> dict[str, Any]:
    return {}


_UNMEASURED: Kind = dataclasses.replace(
    BENCH, recorded=_nothing, present=_nothing, seconds=lambda _: None
)


def planned(project: Path) -> list[Result]:
    """Return what is to be measured and has no file: no hashes, and contents for its command.

    Parameters
    ----------
    project : Path
        Its top folder.
    """
    wanted = {GALLERY: [catalogue.find(name).name for name in _GALLERY_MODELS]}
    wanted[PUBLIC] = [zoo.find(name).name for name in _PUBLIC_MODELS]
    runs = {path: _runs(names) for path, names in wanted.items()}
    runs[STREAMING] = [
        {"model": zoo.find(name).name, "config": config}
        for name in _STREAMING_MODELS
        for config in _ENGINES
    ]
    runs[FRONTEND] = [
        {"model": zoo.find(name).name, "config": _WITHOUT_ENGINE} for name in _FRONTENDS
    ]
    runs[PREDICTIONS] = [{"model": name, "config": _USUAL} for name in _SMALL_MODELS]
    runs[DEPTHWISE] = [
        {"model": name, "config": f"{macs}-depthwise"}
        for name in _DEPTHWISE_MODELS
        for macs in UNIT_MACS
    ]
    runs |= {path: _runs_with(board) for board, path in BOARDS.items()}
    return [
        Result(_UNMEASURED, path, contents)
        for path, contents in runs.items()
        if not (project / path).exists()
    ]


def _runs(names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"model": name, "config": config, "vela": {"version": ""}}
        for name in names
        for config in _ENGINES
    ]


def _runs_with(board: str) -> list[dict[str, Any]]:
    memory = memory_of(board)
    return [{"model": name, "config": _USUAL, "memory": memory.name} for name in _BOARD_MODELS]

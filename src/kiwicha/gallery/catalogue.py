"""The architectures by name, and models of them.

The name of a model is that of its architecture, the input size, and what else was chosen:
``resnet18@96``, ``vgg11@64,width=0.25,seed=3,uint8``.
"""

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache
from kiwicha.errors import UsageError
from kiwicha.gallery.architectures import (
    densenet,
    efficientnet,
    inception,
    mixer,
    mobilenet,
    resnet,
    shufflenet,
    ssdlite,
    transformer,
    unet,
    vgg,
    yolo,
)
from kiwicha.gallery.network import Network
from kiwicha.gallery.ranges import Ranges
from kiwicha.gallery.tensors import Tensor
from kiwicha.tflite_writer import tables

__all__ = ["ARCHITECTURES", "Architecture", "GalleryModel", "checked", "find", "is_name"]

SAMPLE_SIZE = 64
MOST_SIZE = 2048
WIDTHS = (0.05, 4.0)
_NAME = re.compile(r"(?P<name>\w+)(@(?P<size>\d+))?(?P<options>(,[^,]*)*)")


@dataclass(frozen=True)
class Architecture:
    """An architecture.

    Parameters
    ----------
    name : str
        On the command line.
    summary : str
        What it is, and what in it is special.
    build : callable
        Adds its layers to an empty network and returns the outputs.
    size : int
        Usual height and width of the input.
    multiple : int
        Sizes must be a multiple of it.
    smallest : int
        Smallest size.
    has_unsigned : bool
        There are interpreters for it as uint8.
    """

    name: str
    summary: str
    build: Callable[[Network], list[Tensor]]
    size: int = 224
    multiple: int = 1
    smallest: int = 32
    has_unsigned: bool = True

    @property
    def sizes(self) -> str:
        """Sizes of the input that are possible, in words."""
        several = f"a multiple of {self.multiple} " if self.multiple > 1 else ""
        return f"{several}from {self.smallest} to {MOST_SIZE}"

    @property
    def sample_size(self) -> int:
        """Height and width of the images that statistics are taken of."""
        return -(-max(SAMPLE_SIZE, self.smallest) // self.multiple) * self.multiple


ARCHITECTURES = {
    one.name: one
    for one in (
        Architecture("resnet18", "residual sums, 4,608 weights an output", resnet.resnet18),
        Architecture("resnet50", "residual sums around bottlenecks", resnet.resnet50),
        Architecture("vgg11", "plain convolutions, dense layers of 25,088 inputs", vgg.vgg11),
        Architecture("mobilenet1", "depthwise and pointwise convolutions", mobilenet.mobilenet1),
        Architecture("mobilenet2", "inverted residuals", mobilenet.mobilenet2),
        Architecture(
            "efficientnet_lite0",
            "inverted residuals, depthwise 5x5",
            efficientnet.efficientnet_lite0,
        ),
        Architecture(
            "inception3", "branches with 1x7 and 7x1", inception.inception3, size=299, smallest=75
        ),
        Architecture("densenet121", "every layer reads all before it", densenet.densenet121),
        Architecture(
            "shufflenet1", "grouped convolutions, shuffled channels", shufflenet.shufflenet1
        ),
        Architecture("shufflenet2", "split and shuffled channels", shufflenet.shufflenet2),
        Architecture(
            "yolov5n",
            "detector: cross-stage blocks, SiLU, upsampling",
            yolo.yolov5n,
            size=640,
            multiple=32,
        ),
        Architecture(
            "yolov8n",
            "detector: the same with a distribution for each side of a box",
            yolo.yolov8n,
            size=640,
            multiple=32,
        ),
        Architecture(
            "ssdlite_mobilenet3",
            "detector: squeeze-excite, hard-swish, depthwise 5x5",
            ssdlite.ssdlite_mobilenet3,
            size=320,
        ),
        Architecture(
            "ssdlite_mobiledet",
            "detector: inverted residuals of full convolutions",
            ssdlite.ssdlite_mobiledet,
            size=320,
        ),
        Architecture(
            "unet", "segmentation: transposed convolutions", unet.unet, size=256, multiple=16
        ),
        Architecture(
            "keyword_mixer",
            "keywords: convolutional stem, mixer of tokens; size is frames of 40 bands",
            mixer.keyword_mixer,
            size=98,
            smallest=8,
        ),
        Architecture(
            "keyword_transformer",
            "keywords: the same stem, attention between tokens; int8 only",
            transformer.keyword_transformer,
            size=98,
            smallest=8,
            has_unsigned=False,
        ),
        Architecture(
            "mlp_mixer", "dense layers over patches and channels", mixer.mlp_mixer, multiple=16
        ),
    )
}
"""All architectures by name."""


@dataclass(frozen=True)
class GalleryModel:
    """An architecture at a size, with random weights.

    Parameters
    ----------
    architecture : Architecture
        What it is.
    size : int
        Height and width of its input.
    width : float
        Factor of its channels.
    seed : int
        Of its weights.
    is_unsigned : bool
        Whether it is uint8, not int8.
    """

    architecture: Architecture
    size: int
    width: float = 1.0
    seed: int = 0
    is_unsigned: bool = False

    @property
    def name(self) -> str:
        """Under which commands know it, and reports show it."""
        words = [f"{self.architecture.name}@{self.size}"]
        words += [f"width={self.width:g}"] if self.width != 1 else []
        words += [f"seed={self.seed}"] if self.seed else []
        words += ["uint8"] if self.is_unsigned else []
        return ",".join(words)

    def content(self) -> bytes:
        """Return the ``.tflite`` file: the same bytes for the same model, on every machine."""
        ranges = Ranges()
        for _ in range(2):
            net = Network(
                size=self.size,
                width=self.width,
                description=self.name,
                seed=self.seed,
                is_unsigned=self.is_unsigned,
                ranges=ranges,
                sample_size=self.architecture.sample_size,
            )
            outputs = self.architecture.build(net)
            ranges.settle()
        return net.file(outputs)

    def path(self) -> Path:
        """Return the model's file in the cache; it is made if it is not there."""
        folders = (Path(__file__).parent, Path(tables.__file__).parent)
        sources = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
        key = cache.digest([self.name, *sources])
        name = f"{self.name}.tflite"

        def write(folder: Path) -> None:
            (folder / name).write_bytes(self.content())

        return cache.build("gallery", key, write) / name


def is_name(text: str) -> bool:
    """Return whether a text begins as the name of a model does; the rest may be wrong."""
    return re.split("[@,]", text, maxsplit=1)[0] in ARCHITECTURES


def find(text: str) -> GalleryModel:
    """Return the model of a name.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME@SIZE``, and behind that ``,width=F``, ``,seed=S`` and ``,uint8``.

    Raises
    ------
    UsageError
        If there is no such architecture, or something in the name is not possible.
    """
    found = _NAME.fullmatch(text)
    architecture = ARCHITECTURES.get(found["name"]) if found else None
    if found is None or architecture is None:
        known = ", ".join(ARCHITECTURES)
        raise UsageError(f"architecture must be one of {known}, not {text!r}")
    model = GalleryModel(architecture, int(found["size"] or architecture.size))
    for word in filter(None, found["options"].split(",")):
        model = _with_option(model, word, text)
    return checked(model)


def checked(model: GalleryModel) -> GalleryModel:
    """Return a model whose size, width and seed are possible.

    Raises
    ------
    UsageError
        If one is not.
    """
    one = model.architecture
    if not one.smallest <= model.size <= MOST_SIZE or model.size % one.multiple:
        raise UsageError(f"size of {one.name} must be {one.sizes}, not {model.size}")
    if model.is_unsigned and not one.has_unsigned:
        raise UsageError(
            f"{one.name} must be int8, not uint8, for which BATCH_MATMUL has no kernel"
        )
    low, high = WIDTHS
    if not low <= model.width <= high:
        raise UsageError(f"width must be {low:g} to {high:g}, not {model.width:g}")
    if model.seed < 0:
        raise UsageError(f"seed must be 0 or more, not {model.seed}")
    return model


def _with_option(model: GalleryModel, word: str, text: str) -> GalleryModel:
    key, _, value = word.partition("=")
    options: dict[str, Callable[[str], GalleryModel]] = {
        "width": lambda v: dataclasses.replace(model, width=float(v)),
        "seed": lambda v: dataclasses.replace(model, seed=int(v)),
    }
    if word == "uint8":
        return dataclasses.replace(model, is_unsigned=True)
    try:
        return options[key](value)
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"options of a gallery model must be width=F, seed=S or uint8, not {word!r} ({text})"
        ) from error

"""What LiteRT chooses kernels and delegates by."""

import importlib
import importlib.util

import pytest

import kiwicha
from kiwicha.errors import UsageError
from kiwicha.interpreter import Interpreter, OpResolverType, load_delegate
from tests.support import requirements
from tests.support.models import random_networks


@pytest.mark.parametrize("kernels", [*OpResolverType, *OpResolverType.__members__])
def test_every_set_of_kernels_is_accepted(kernels: OpResolverType | str) -> None:
    model = random_networks.network(5).model
    assert Interpreter(model_content=model, experimental_op_resolver_type=kernels)


def test_the_sets_are_those_of_litert() -> None:
    if importlib.util.find_spec("ai_edge_litert") is None:
        requirements.unavailable("needs ai-edge-litert, which this Python has no wheel of")
    theirs = importlib.import_module("ai_edge_litert.interpreter").OpResolverType
    assert {item.name: item.value for item in OpResolverType} == {
        item.name: item.value for item in theirs
    }


def test_names_are_in_the_package_too() -> None:
    assert kiwicha.Interpreter is Interpreter
    assert kiwicha.OpResolverType is OpResolverType
    assert kiwicha.load_delegate is load_delegate
    with pytest.raises(AttributeError, match=r"no attribute 'Delegate'$"):
        _ = importlib.import_module("kiwicha.interpreter").Delegate


def test_delegates_are_refused_with_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match=r"^delegates must not be loaded, but 'libedgetpu.so\.1' "):
        load_delegate("libedgetpu.so.1", {"device": "usb"})
    with pytest.raises(ValueError, match=r"config='64', target='sim'"):
        load_delegate("libvx_delegate.so")

"""Configurations by name."""

import dataclasses
from typing import Any

import pytest

from kiwicha import Interpreter
from kiwicha.contract import configs
from kiwicha.contract.configs import ALL_CONFIGS, CONFIG_HELP, find_config
from kiwicha.errors import UsageError

SIZES = "8, 16, 32, 48, 56, 64, 96, 128 or 256 KiB"


def test_every_name_and_every_configuration_is_found() -> None:
    for name, config in configs.ALL_CONFIGS.items():
        assert find_config(name) is config
        assert find_config(config) is config


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("64-33k", "64-32k"), ("64-512k", "64-128k"), ("65", "64"), ("no", "")]
)
def test_an_unknown_name_says_what_there_is(wrong: str, nearest: str) -> None:
    text = (
        f"config must be one of baseline, simd, 32, 64, 128 or 256; an engine's scratchpad is named"
        f" as in 64-32k and has {SIZES}, 64 where none is named; -m4, -r4, -raw, -blocks or"
        f" -blocks-resident, -softmax and -depthwise, -preempt, -int16, -recurrent or -signal may"
        f" follow; not {wrong!r}"
    )
    with pytest.raises(UsageError) as caught:
        find_config(wrong)
    assert str(caught.value) == text + (f"; nearest is {nearest!r}" if nearest else "")


@pytest.mark.parametrize(
    ("wrong", "beside", "nearest"),
    [
        ("32-raw", "an array of 64, 128 or 256 products per cycle", "64-raw"),
        ("64-m4-r4", "a requantizer of 8 lanes, which its results share", "64-m4"),
    ],
)
def test_an_engine_without_room_for_a_depthwise_unit_says_why(
    wrong: str, beside: str, nearest: str
) -> None:
    with pytest.raises(UsageError) as caught:
        find_config(f"{wrong}-depthwise")
    assert str(caught.value) == (
        f"a depthwise unit must have beside it {beside}, not those of {wrong!r}; "
        f"nearest is '{nearest}-depthwise'"
    )
    assert find_config(f"{nearest}-depthwise").has_depthwise


def test_a_number_is_no_name() -> None:
    number: Any = 64
    with pytest.raises(UsageError, match=r"^config must be a string such as '64', not 64$"):
        Interpreter(model_content=b"", config=number)


def test_help_names_the_sizes() -> None:
    assert SIZES in CONFIG_HELP


def test_the_name_with_softmax_is_one_of_them() -> None:
    without = [
        config for config in ALL_CONFIGS.values() if config.engine_macs and not config.has_softmax
    ]
    assert any(config.has_depthwise for config in without)
    for config in without:
        assert find_config(config.softmax_name) == dataclasses.replace(
            config, name=config.softmax_name, has_softmax=True
        )


def test_jobs_of_int16_need_all_lanes_of_the_requantizer() -> None:
    having = [config for config in ALL_CONFIGS.values() if config.has_int16]
    short = [config for config in having if not config.has_recurrent]
    assert find_config("128-int16") in short
    assert find_config("32-48k-raw-softmax-int16") in short
    for config in short:
        usual = find_config(config.name.removesuffix("-int16"))
        assert usual.hash != config.hash
        assert dataclasses.replace(config, name=usual.name, has_int16=False) == usual
        assert not (config.requantizer_lanes)
        assert not (config.has_depthwise)
        assert not (config.is_preemptible)


def test_steps_of_lstms_come_with_jobs_of_int16() -> None:
    recurrent = [config for config in ALL_CONFIGS.values() if config.has_recurrent]
    assert find_config("64-recurrent") in recurrent
    assert find_config("32-48k-raw-softmax-recurrent") in recurrent
    for config in recurrent:
        short = find_config(config.name.removesuffix("-recurrent") + "-int16")
        assert short.hash != config.hash
        assert dataclasses.replace(config, name=short.name, has_recurrent=False) == short


def test_the_unit_for_frames_of_sound_changes_nothing_else() -> None:
    with_unit = [config for config in ALL_CONFIGS.values() if config.has_signal]
    names = {config.name for config in with_unit}
    assert {"simd-signal", "64-signal", "128-signal", "64-32k-m4-softmax-signal"} <= names
    for config in with_unit:
        usual = find_config(config.name.removesuffix("-signal"))
        assert usual.hash != config.hash
        assert dataclasses.replace(config, name=usual.name, has_signal=False) == usual
        assert config.has_simd


def test_what_can_stop_keeps_nothing_that_cannot_be_saved() -> None:
    preemptible = [config for config in ALL_CONFIGS.values() if config.is_preemptible]
    assert find_config("64-preempt") in preemptible
    assert find_config("256-48k-blocks-preempt") in preemptible
    for config in preemptible:
        usual = find_config(config.name.removesuffix("-preempt"))
        assert usual.hash != config.hash
        assert not (config.resident_words)
        assert not (config.has_depthwise)
        assert not (config.has_fused)

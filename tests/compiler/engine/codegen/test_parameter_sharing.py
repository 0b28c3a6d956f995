"""Parameters that all groups share: left out of streams, and come back."""

import dataclasses

import numpy as np

from kiwicha.compiler.driver import plan_engine
from kiwicha.compiler.engine.codegen.parameter_sharing import share_parameters
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract import configs
from kiwicha.contract.engine import JobFlag
from kiwicha.program.codec.streams import Shape
from kiwicha.program.weight_streams import stream_shape, with_shared, without_shared
from tests.support.models import random_networks

MACS = 64


def test_streams_get_shorter_and_come_back() -> None:
    shared = 0
    for seed in range(12):
        network = lower(read(random_networks.engine_network(seed).model))
        for raw in plan_engine(network, configs.ENGINE_CONFIGS[str(MACS)]).lists:
            found = share_parameters(raw, MACS)
            for before, job in zip(raw.weighted_jobs, found.weighted_jobs, strict=True):
                stream = raw.streams[before.weights_offset :][: before.weights_bytes]
                stored = found.streams[job.weights_offset :][: job.weights_bytes]
                if not job.flags & JobFlag.SHARED:
                    assert stored == stream
                    continue
                shared += 1
                assert len(stored) < len(stream)
                assert with_shared(stored, stream_shape(job, MACS)) == stream
                rest = dataclasses.replace(
                    job,
                    flags=job.flags & ~JobFlag.SHARED,
                    weights_offset=before.weights_offset,
                    weights_bytes=before.weights_bytes,
                )
                assert rest == before
    assert shared


def test_other_parameters_are_kept() -> None:
    shape = Shape(4, 6, 4)
    groups = np.zeros((4, 10, 16), np.uint8)
    assert without_shared(groups.tobytes(), shape) is not None
    for place in (1, 2, 4, 5):
        other = groups.copy()
        other[3, place, 7] = 1
        assert without_shared(other.tobytes(), shape) is None
    # Biases are everybody's own, and two groups have nothing to share.
    groups[3, 0, 7] = groups[3, 3, 7] = 1
    assert without_shared(groups.tobytes(), shape) is not None
    assert without_shared(groups[:2].tobytes(), Shape(2, 6, 4)) is None

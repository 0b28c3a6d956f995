"""What two engines would take that share each job of a list: ``python -m tools.two_engines``.

Each engine computes half of a job's groups of channels, or half of its rows where there is one
group, and both begin the next job together. They share DRAM's port: each moves half of the bytes at
half the pace. Two engines of 64 products are the alternative to one of 128; two of 256 stand for
one of 512 products, which has as many in a cycle and one port.
"""

import argparse
import dataclasses
import sys
from collections.abc import Iterator, Sequence

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_list, predict_program
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.engine import TRANSFER_FLAG, EngineJob, EngineTransfer, JobKind
from kiwicha.contract.moves import AnyJob
from kiwicha.zoo import models as zoo

__all__ = ["halved", "main", "predicted"]

_ROWS = {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX, JobKind.SOFTMAX}


def halved(job: AnyJob) -> AnyJob:
    """Return what one of two engines does of a job: at least half of it, a move whole."""
    if not isinstance(job, EngineJob):
        return job
    if job.groups > 1:
        groups = _half(job.groups)
        size = job.weights_bytes * groups // job.groups
        return dataclasses.replace(job, groups=groups, weights_bytes=size)
    if job.kind in _ROWS:
        return dataclasses.replace(job, output_rows=_half(job.output_rows))
    return dataclasses.replace(job, segment_words=_half(job.segment_words))


def predicted(model: str, config: Config) -> tuple[int, int]:
    """Return the predicted cycles of a model with one engine, and with two of them.

    Parameters
    ----------
    model : str
        One that ``kiwicha models`` knows, or a file.
    config : Config
        With an engine, without a depthwise unit.
    """
    _, path, _ = zoo.resolve(model)
    compilation = compile_stages(path, config)
    whole, lists = predict_program(compilation.program)
    memory = config.memory
    shared = dataclasses.replace(memory, bytes_per_cycle=memory.bytes_per_cycle / 2)
    gained = sum(cycles for cycles, _ in lists.values())
    for found in compilation.lists:
        cycles, _ = predict_list(
            [halved(job) for job in found.jobs],
            [_moved(transfer) for transfer in found.engine_transfers],
            config.engine_macs,
            config.requantizer_cycles,
            shared,
            has_blocks=config.has_blocks,
        )
        gained -= cycles
    return whole, whole - gained


def _half(count: int) -> int:
    return -(-count // 2)


def _moved(transfer: EngineTransfer) -> EngineTransfer:
    size = _half(transfer.moved_bytes)
    flag = TRANSFER_FLAG if transfer.is_store else 0
    return dataclasses.replace(transfer, bytes=size | flag)


def _lines(models: Sequence[str], configs: Sequence[str]) -> Iterator[str]:
    titles = [title for name in configs for title in (f"`{name}`", f"two of `{name}`")]
    yield f"| model | {' | '.join(titles)} |"
    yield f"|---|{'---:|' * len(titles)}"
    for model in models:
        cells = [f"{n:,}" for name in configs for n in predicted(model, find_config(name))]
        yield f"| {model} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table of what models take."""
    parser = argparse.ArgumentParser(description="Predict what two engines for a list would take.")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--config", default="64,256", help="configurations, with commas")
    arguments = parser.parse_args()
    for line in _lines(arguments.models, arguments.config.split(",")):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Files of results that documents are written from."""

from collections.abc import Iterator
from contextlib import contextmanager

from kiwicha.errors import UsageError

__all__ = ["results_of"]


@contextmanager
def results_of(command: str, name: str) -> Iterator[None]:
    """Read what a command wrote, while the block runs.

    Parameters
    ----------
    command : str
        Its words.
    name : str
        The file's path in the project.

    Raises
    ------
    UsageError
        In place of the error of a field that is missing, or something else than it should be.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"results must be those of {command}: {error} ({name})") from error

"""Sessions: ``nox -s lint types test``."""

from pathlib import Path

import nox

PYTHON_FOLDERS = ("src", "gateware", "firmware", "sim", "boards", "tests", "tools", "noxfile.py")
CONSTRAINTS = ("-c", "constraints.txt")

nox.options.sessions = ["lint", "types", "test"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format of Python and C."""
    session.install(*CONSTRAINTS, "ruff", "clang-format")
    session.run("ruff", "check", *PYTHON_FOLDERS)
    session.run("ruff", "format", "--check", *PYTHON_FOLDERS)
    sources = [
        str(path)
        for folder in ("firmware", "sim", "tests")
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in {".c", ".h", ".cpp"}
    ]
    session.run("clang-format", "--dry-run", "-Werror", *sources)


@nox.session
def types(session: nox.Session) -> None:
    """Check types. The installation is not editable: mypy cannot follow the mapped folders."""
    session.install(*CONSTRAINTS, ".[test]")
    # Elsewhere, so that mypy finds the installed package and not the folders of this tree.
    root, elsewhere = Path(__file__).parent, Path(session.create_tmp())
    for folder in ("tests", "tools"):
        (elsewhere / folder).unlink(missing_ok=True)
        (elsewhere / folder).symlink_to(root / folder)
    session.chdir(elsewhere)
    session.run(
        "mypy", "--config-file", str(root / "pyproject.toml"), env={"MYPYPATH": str(elsewhere)}
    )


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def sweep(session: nox.Session) -> None:
    """Check parameters of convolutions, and every operator, in the reference executor."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.reference_sweep", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Put faults into sources and netlists, and count what tests see; goes on where it was left.

    With arguments, those of ``python -m tools.mutation``, into sources alone.
    """
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.mutation", *session.posargs)
    if not session.posargs:
        for part in ("benches", "engine", "own_tests", "kernels"):
            session.run("python", "-m", f"tools.mutation.{part}")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Give readers and the C runtime hostile input for some minutes, and count."""
    session.install(*CONSTRAINTS, "-e", ".[test,fuzz]")
    session.run("python", "-m", "tools.fuzz", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Count what simulations, quick tests and kernels meet of gateware, Python and C."""
    session.install(*CONSTRAINTS, "-e", ".[test,coverage]")
    for part in ("coverage", "python_coverage", "c_coverage"):
        session.run("python", "-m", f"tools.verification.{part}")


@nox.session
def equivalence(session: nox.Session) -> None:
    """Prove that netlists for boards are equal to their sources; goes on where it was left."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.verification.equivalence", *session.posargs)


@nox.session
def replay(session: nox.Session) -> None:
    """Simulate the engine's netlists for boards beside its source; random lists, and a model."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    arguments = session.posargs or ("--model", "kws")
    session.run("python", "-m", "tools.verification.replay", *arguments)


@nox.session
def upsets(session: nox.Session) -> None:
    """Flip bits of the simulated engine while lists run, and count what follows."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.verification.upsets", *session.posargs)


@nox.session
def resets(session: nox.Session) -> None:
    """Reset the simulated engine in lists, and cut writings of images; adds to what is recorded."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.verification.resets", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Run random lists and inferences of mixed models for long; goes on where it was left."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    for part in ("long_lists", "mixed_inferences"):
        session.run("python", "-m", f"tools.verification.{part}", *session.posargs)


@nox.session
def costs(session: nox.Session) -> None:
    """Measure what steps of the CPU cost; prints a `Cost` for each kernel."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tools.cpu_costs")

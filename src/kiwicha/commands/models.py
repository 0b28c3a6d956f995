"""``kiwicha models``: the zoo of public models."""

from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    help="Public models by name: list them, fetch them, verify their sha256.",
    no_args_is_help=False,
)

_DEMO_SUMMARY = "is there a face in a grey 96x96 picture"
_DEMO_LICENCE = "Apache-2.0"
Names = Annotated[list[str] | None, typer.Argument(help="Names; by default all.")]


@app.command("list")
def list_models(
    json: Annotated[str | None, typer.Option(help="Receives the list; - is stdout.")] = None,
) -> None:
    """List the models and where they are on this machine."""
    import dataclasses

    from rich.table import Table

    from kiwicha.commands import console
    from kiwicha.zoo import models as zoo

    console.require_writable(json)
    table = Table()
    for name in ("name", "also", "what it does", "bytes", "licence", "here"):
        is_folded = name in {"also", "what it does", "here"}
        table.add_column(
            name,
            justify="right" if name == "bytes" else "left",
            no_wrap=not is_folded,
            overflow="fold",
        )
    facts = []
    path, _ = zoo.demo_model()
    size = f"{path.stat().st_size:,}"
    table.add_row(zoo.DEMO, path.stem, _DEMO_SUMMARY, size, _DEMO_LICENCE, "bundled")
    for model in zoo.entries():
        found = zoo.locate(model).path
        table.add_row(
            model.name,
            ", ".join(model.aliases),
            model.summary,
            f"{model.size_bytes:,}",
            model.licence,
            str(found) if found else "no",
        )
        facts.append({
            **dataclasses.asdict(model),
            "address": model.address,
            "found": found and str(found),
        })
    if json is not None:
        console.write_json(json, facts)
    if json != console.STDOUT:
        console.stdout().print(table)


@app.command("fetch")
def fetch_models(names: Names = None) -> None:
    """Download models that are not here yet, and check their sha256."""
    from kiwicha.commands import console
    from kiwicha.zoo import models as zoo
    from kiwicha.zoo.fetch import fetch

    models = [zoo.find(name) for name in names] if names else list(zoo.entries())
    with console.display() as show:
        show.kept = "the models listed above"
        for model in models:
            path = zoo.locate(model).path
            if path is None:
                path = fetch(model, show.bytes(f"fetching {model.address}", model.size_bytes))
            show.line(f"{model.name}: {path}")


@app.command("verify")
def verify_models(names: Names = None) -> None:
    """Recompute the sha256 of models on this machine; exit 1 unless every named model matches."""
    from kiwicha.commands import console
    from kiwicha.zoo import models as zoo

    models = [zoo.find(name) for name in names] if names else list(zoo.entries())
    is_good = True
    out = console.stdout()
    for model in models:
        location = zoo.locate(model)
        for path in location.rejected:
            is_good = False
            out.print(f"{model.name}: sha256 differs ({path})")
        if location.path is not None:
            out.print(f"{model.name}: good ({location.path})")
        elif not location.rejected:
            # Without names the question is about what is here.
            is_good = is_good and not names
            out.print(f"{model.name}: not here")
    if not is_good:
        raise typer.Exit(1)

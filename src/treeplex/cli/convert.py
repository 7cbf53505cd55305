"""``treeplex holdem convert``: convert spots and ranges between formats of several programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from treeplex.cli.options import AsJson, Force, grouped
from treeplex.cli.output import check_new, print_json, say, tell
from treeplex.cli.spots import SpotOptions
from treeplex.errors import FormatError, ParameterError
from treeplex.files import replace_text
from treeplex.games.holdem.files import read_text
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.formats.registry import FORMATS, named, write
from treeplex.games.holdem.reading import imported

NAMES = ", ".join(FORMATS)

To = Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"Format to write: one of {NAMES}.")]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Format of the input. Default: detected from its content."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of stdout.")]


@grouped
def convert(
    *, spot: SpotOptions, to: To, source: From = None, out: Out = None, force: Force = False, as_json: AsJson = False
) -> None:
    """Convert spots and ranges to and from other programs' formats. - reads stdin. Losses are reported as notes."""
    named(to)
    check_new(out, force=force)
    content = _read(spot, source)
    if content.ranges is None and (not content.partial or FORMATS[to].write is not None):
        content = spot.completed(content)
    made = write(content, to)
    notes = [*content.all_notes(), *made.notes]
    if out is not None:
        replace_text(out, made.text)
    if as_json:
        print_json({"to": to, "notes": notes, **({"text": made.text} if out is None else {"file": str(out)})})
        return
    say(*(f"note: {note}" for note in notes))
    if out is not None:
        say(f"saved {out}")
    else:
        tell(made.text.rstrip("\n"))


def _read(options: SpotOptions, form: str | None) -> Imported:
    """Read the file or stdin; without either, return an empty spot that the options complete."""
    if form is not None:
        named(form)
    if options.spot is None:
        return Imported({}, partial=True)
    name = options.spot
    if name != "-":
        file = name.partition("#")[0]
        return imported(read_text(file, "file"), name, form, "file")
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise FormatError(f"byte {error.start} is not UTF-8.", path="stdin") from error
    if not text.strip():
        raise ParameterError("The input on stdin is empty, so there is nothing to convert.")
    return imported(text, "stdin", form or None, "file")

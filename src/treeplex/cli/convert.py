"""``treeplex holdem convert``: spots and ranges from one program's format into another's."""

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

To = Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"One of {NAMES}.")]
From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help="The format of the file. Default: seen from its content.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write it here, not to stdout.")]


@grouped
def convert(
    *, spot: SpotOptions, to: To, source: From = None, out: Out = None, force: Force = False, as_json: AsJson = False
) -> None:
    """Spots and ranges to and from the formats of other programs; - reads stdin. What is lost on the way is told."""
    named(to)
    check_new(out, force=force)
    found = _read(spot, source)
    if found.ranges is None and (not found.partial or FORMATS[to].write is not None):
        found = spot.completed(found)
    made = write(found, to)
    notes = [*found.all_notes(), *made.notes]
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
    """What the file or stdin holds; without either, the options alone."""
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
        raise ParameterError("There is nothing on stdin to convert.")
    return imported(text, "stdin", form or None, "file")

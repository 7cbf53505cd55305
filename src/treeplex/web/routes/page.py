"""Routes of the page and its files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response
from starlette.responses import FileResponse, PlainTextResponse

from treeplex.web.refusals import RefusalError
from treeplex.web.security import static_cookie
from treeplex.web.site import OnSite

STATIC: Final = Path(str(files("treeplex.web") / "static"))
KINDS: Final = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
LONGEST: Final = 200  # characters of a file's path

routes = APIRouter(include_in_schema=False)


@routes.get("/")
def page(site: OnSite) -> Response:
    """Return the page and set its cookie."""
    path = STATIC / "index.html"
    response: Response
    if path.is_file():
        response = FileResponse(path, media_type="text/html")
    else:
        response = PlainTextResponse("This installation does not include the page; the API is under /api.")
    response.set_cookie(**static_cookie(site.door))
    return response


@routes.get("/static/{name:path}")
def static_file(name: str) -> Response:
    """Return a file of the page."""
    parts = name.split("/")
    path = STATIC.joinpath(*parts)
    plain = all(part and part[0] != "." and "\0" not in part and "\\" not in part for part in parts)
    if (
        not plain
        or len(name) > LONGEST
        or path.suffix not in KINDS
        or not path.resolve().is_relative_to(STATIC.resolve())
        or not path.is_file()
    ):
        raise RefusalError(404, "The page does not have this file.")
    return FileResponse(path, media_type=KINDS[path.suffix])

"""The application: all routes behind one guard; every refusal is one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from treeplex.version import __version__
from treeplex.web import refusals
from treeplex.web.routes import about, events, games, jobs, nodes, page, runs, spots
from treeplex.web.security import Guard
from treeplex.web.site import Site

TOKEN: dict[str, Any] = {
    "token": {"type": "apiKey", "in": "query", "name": "token"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Token"},
}


def make_app(site: Site) -> ASGIApp:
    """Build the guarded application of a site."""
    return Guard(make_api(site), site.door)


def make_api(site: Site) -> FastAPI:
    """Build the application without its guard."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        site.events.open()
        await asyncio.to_thread(site.queue.open)
        watching = asyncio.create_task(site.watcher.watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            site.close()
            await asyncio.to_thread(site.queue.close)

    app = FastAPI(
        title="treeplex",
        version=__version__,
        description="Run folders, solves and views of their answers. Every call needs the token that `treeplex serve`"
        " printed, as the query parameter `token` or the header `X-Token`. Refusals are `{error: one sentence}`.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.site = site
    refusals.install(app)
    for part in (about, runs, nodes, spots, jobs, games, events, page):
        app.include_router(part.routes)
    app.openapi = _schema(app.openapi)  # type: ignore[method-assign]
    return app


def _schema(generate: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return a schema function with our answers: 400 instead of the library's 422, and the token."""

    def schema() -> dict[str, Any]:
        document = generate()
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
                answer = operation["responses"]["200"]["content"]
                if len(answer) > 1:  # not JSON, though the library also lists JSON
                    del answer["application/json"]
        parts = document.setdefault("components", {})
        for name in ("HTTPValidationError", "ValidationError"):
            parts.get("schemas", {}).pop(name, None)
        parts["securitySchemes"] = TOKEN
        document["security"] = [{name: []} for name in TOKEN]
        return document

    return schema

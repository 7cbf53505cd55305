"""The route of server-sent events."""

from __future__ import annotations

from fastapi import Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from treeplex.web.answers import encoded
from treeplex.web.routes.common import as_text, router
from treeplex.web.site import OnSite

routes = router("events")


@routes.get("/events", responses=as_text("text/event-stream"))
async def stream_events(site: OnSite) -> Response:
    """Stream server-sent events: `jobs` (all jobs, after a change), `runs` (fetch again), `open` (progress of one)."""
    jobs = await run_in_threadpool(lambda: encoded({"jobs": site.queue.listed()}))
    first = b"retry: 1000\nevent: jobs\ndata: " + jobs + b"\n\n"
    return StreamingResponse(site.events.stream(first), media_type="text/event-stream")

"""Routes of runs and their logs, and to open runs."""

from __future__ import annotations

from fastapi import Response

from treeplex.web.answers import reply
from treeplex.web.logs import log_of
from treeplex.web.routes.common import RunName, router
from treeplex.web.runs import record_of
from treeplex.web.schema.runs import Log, OpenRun, OpenState, RunList, WholeRun
from treeplex.web.site import OnSite

routes = router("runs")


@routes.get("/runs", response_model=RunList)
def list_runs(site: OnSite) -> Response:
    """Return all runs, newest first."""
    return reply(site.runs.listed())


@routes.get("/run", response_model=WholeRun)
def show_run(site: OnSite, run: RunName) -> Response:
    """Return one run: its request, its result, its files."""
    return reply(site.runs.whole(run))


@routes.get("/log", response_model=Log)
def show_log(site: OnSite, run: RunName) -> Response:
    """Return NashConv by iteration; during a run, from its job's progress or its last checkpoint."""
    folder = site.directory.folder(run)
    return reply({"columns": log_of(folder, record_of(folder).pot, site.queue.rows_of(run))})


@routes.post("/open", response_model=OpenState)
def open_run(site: OnSite, form: OpenRun) -> Response:
    """Load the node values of a hold'em run into memory. Call again, or listen for `open` events, to see progress."""
    return reply(site.opened.start(form.run))

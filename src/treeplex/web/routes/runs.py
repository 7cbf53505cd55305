"""Runs, their logs, and opening them."""

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
    """All runs, newest first."""
    return reply(site.runs.listed())


@routes.get("/run", response_model=WholeRun)
def show_run(site: OnSite, run: RunName) -> Response:
    """One run: what was asked, how it ended, its files."""
    return reply(site.runs.whole(run))


@routes.get("/log", response_model=Log)
def show_log(site: OnSite, run: RunName) -> Response:
    """How NashConv fell; while a run goes on, as far as its job has told, or its last checkpoint."""
    folder = site.directory.folder(run)
    return reply({"columns": log_of(folder, record_of(folder).pot, site.queue.rows_of(run))})


@routes.post("/open", response_model=OpenState)
def open_run(site: OnSite, form: OpenRun) -> Response:
    """Bring the node values of a hold'em run into memory; ask again, or listen for the event, to see how far it is."""
    return reply(site.opened.start(form.run))

"""Routes of the queue of jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, Path, Response

from treeplex.web.answers import reply
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.routes.common import router
from treeplex.web.schema.jobs import Job, JobForm, JobList, Removed
from treeplex.web.site import OnSite

routes = router("jobs")

JobName = Annotated[str, Path(description="The number of the job.", max_length=20)]


@routes.get("/jobs", response_model=JobList)
def list_jobs(site: OnSite) -> Response:
    """Return all jobs, newest first."""
    return reply({"jobs": site.queue.listed()})


@routes.post("/jobs", response_model=Job)
def add_job(site: OnSite, form: Annotated[JobForm, Body()]) -> Response:
    """Queue a solve, a resumption, growth, or a search for sizes."""
    fields = site.checker.ask("request", form.model_dump(), str(site.directory.root))
    return reply(site.queue.add(form.what, JobRequest(**fields)))


@routes.post("/jobs/{job}/start", response_model=Job)
def start_job(site: OnSite, job: JobName) -> Response:
    """Queue a job that came with the folder, after the checks of a new one."""
    fields = site.checker.ask("request", site.queue.unconfirmed(job).request, str(site.directory.root))
    return reply(site.queue.start(job, JobRequest(**fields)))


@routes.post("/jobs/{job}/stop", response_model=Job)
def stop_job(site: OnSite, job: JobName) -> Response:
    """Stop a job with the answer so far, or cancel it in the queue."""
    return reply(site.queue.stop(job))


@routes.post("/jobs/{job}/remove", response_model=Removed)
def remove_job(site: OnSite, job: JobName) -> Response:
    """Delete a finished job; its run stays."""
    return reply(site.queue.remove(job))

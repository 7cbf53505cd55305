"""The state that routes share: the folder, the queue, open runs, events."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Depends, Request

from treeplex.web.checker import Checker
from treeplex.web.directory import Directory
from treeplex.web.events import Events, Watcher
from treeplex.web.jobs.queue import Queue
from treeplex.web.opened import OpenedRuns, Opener
from treeplex.web.policies import Policies
from treeplex.web.runs import Runs
from treeplex.web.security import Door
from treeplex.web.trees import Trees


class Site:
    """The state of one server."""

    def __init__(self, directory: Directory, door: Door, opener: Opener | None = None) -> None:
        self.directory, self.door = directory, door
        self.events = Events()
        self.queue = Queue(directory)
        self.runs = Runs(directory, self.queue.job_of)
        self.opened = OpenedRuns(directory, self._opening, opener)
        self.policies, self.trees, self.checker = Policies(), Trees(), Checker()
        self.watcher = Watcher(self.events, (self.queue.stamp, self.queue.listed), self.runs.state)

    def close(self) -> None:
        """Close everything except the queue."""
        self.events.close()
        self.opened.close()
        self.checker.close()

    def _opening(self, payload: dict[str, Any]) -> None:
        self.events.tell("open", payload, f"open {payload['run']}")


def site_of(request: Request) -> Site:
    """Return the site of a request."""
    return cast(Site, request.app.state.site)


OnSite = Annotated[Site, Depends(site_of)]

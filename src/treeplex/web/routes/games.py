"""Routes for any game: its infosets and its tree, with the strategies of a run."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from treeplex.web.answers import reply
from treeplex.web.policies import MOST, infosets
from treeplex.web.routes.common import RunName, router
from treeplex.web.runs import record_of
from treeplex.web.schema.nodes import Infosets, TreeNode
from treeplex.web.site import OnSite
from treeplex.web.trees import node

routes = router("games")


@routes.get("/infosets", response_model=Infosets)
def list_infosets(
    site: OnSite,
    run: RunName,
    search: Annotated[str, Query(description="Text that the labels must contain.", max_length=200)] = "",
    player: Annotated[int | None, Query(ge=0, le=1)] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    most: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> Response:
    """Return the strategy at infosets whose labels match a search."""
    policy = site.policies.of(site.directory.folder(run), run)
    return reply(infosets(policy, search, player, offset, most))


@routes.get("/tree", response_model=TreeNode)
def show_tree(
    site: OnSite,
    run: RunName,
    path: Annotated[
        str, Query(description="Indices of branches, such as 0/2/1. Empty: the root.", max_length=2000)
    ] = "",
) -> Response:
    """Return a node of a game's tree."""
    folder = site.directory.folder(run)
    tree = site.trees.of(folder, record_of(folder))
    policy = site.policies.of(folder, run) if (folder / "policy.parquet").is_file() else None
    return reply(node(tree, policy, path))

"""Tables that GPU kernels of hold'em walk along, which need no GPU to be built."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.betting import FEW, betting_tables
from treeplex.holdem import load_spot, make_spot

SPOTS = json.loads((Path(__file__).parent / "spots.json").read_text())["spots"]


@pytest.mark.parametrize("learner", [0, 1])
def test_the_first_two_items_are_apart_and_decisions_with_more_are_marked(learner: int) -> None:
    game = load_spot(make_spot(SPOTS["F1"]))
    for street in game.streets:
        entry = np.zeros(street.roots, np.int32)
        betting = betting_tables(game.spot, street, learner, entry, np.float64).betting
        counts = np.diff(betting.item_start.astype(np.int64))
        assert counts.min() >= 1
        for item, count in enumerate(counts):
            begin = int(betting.item_start[item])
            own = slice(begin, begin + min(int(count), FEW))
            rows, chips = betting.item[own], betting.chips[own]
            found = slice(FEW * item, FEW * item + len(rows))
            np.testing.assert_array_equal(betting.two[found], rows)
            np.testing.assert_array_equal(betting.two_chips[found], chips)
            if count == 1:
                assert (betting.two[FEW * item + 1], betting.two_chips[FEW * item + 1]) == (layout.NO_ROW, 0.0)
        records = betting.own.reshape(-1, layout.OWN_WORDS)
        more = [(counts[own[layout.ITEM] : own[layout.ITEM] + own[layout.OWN_ACTIONS]] > FEW).any() for own in records]
        np.testing.assert_array_equal(records[:, layout.MORE], more)
    assert any(more)
    assert not all(more)

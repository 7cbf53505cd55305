"""Files of other programs: what is read, written and refused; and what survives the way there and back."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treeplex.errors import FormatNote, TreeplexError
from treeplex.games.holdem.formats.brackets import write_brackets
from treeplex.games.holdem.formats.floats import hand_order, read_floats, write_floats
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.formats.menus import menus, same_tree
from treeplex.games.holdem.formats.registry import FORMATS, detect, read, write
from treeplex.games.holdem.formats.thresholds import (
    force_of_share,
    force_of_whole_share,
    share_of_force,
    whole_share_of_force,
)
from treeplex.games.holdem.reading import import_spot, imported, read_spot
from treeplex.holdem import Spot, export_spot, format_range, make_spot, parse_range, sizes_for

SAMPLES = Path(__file__).parent.parent / "data" / "formats"
FILES = {path.name.partition(".")[0]: path for path in sorted(SAMPLES.iterdir())}


def sample(name: str) -> str:
    return FILES[name].read_text(encoding="utf-8")


def refusal(call, *arguments) -> str:
    """The one sentence of a refusal."""
    with pytest.raises(TreeplexError) as error:
        call(*arguments)
    sentence = str(error.value)
    assert len(sentence) <= 300
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


# Ranges


@st.composite
def ranges(draw):
    """Weights of hands, few or many, of all sizes."""
    weights = np.zeros(1326)
    for _ in range(draw(st.integers(1, 12))):
        first = draw(st.integers(0, 1325))
        weights[first : first + draw(st.integers(1, 40))] = draw(
            st.sampled_from((1.0, 0.5, 0.25, 0.1, 1 / 3)) | st.floats(1e-6, 1.0)
        )
    return weights


@given(ranges())
@example(np.eye(1, 1326)[0] * 1e-6)  # 1e-04 per cent: no other program reads an exponent
@settings(max_examples=15, deadline=None)
def test_ranges_survive_every_notation(weights):
    text = format_range(weights)
    assert (parse_range(read_floats(write_floats(weights))) == weights).all()
    np.testing.assert_allclose(parse_range(write_brackets(weights)), weights, rtol=1e-15)
    for form in ("range", "gtoplus", "floats", "wasm-ranges"):
        made = write(Imported({}, ranges={"a": text}), form).text
        assert detect(made) == (form if form != "gtoplus" or "[" in made else "range")
        (again,) = (read(made, form).ranges or {}).values()
        np.testing.assert_allclose(parse_range(again), weights, rtol=1e-15)


def test_brackets_of_gto_plus():
    assert (parse_range("[67.0]75s,65s[/67.0],AA-QQ") == parse_range("75s:0.67,65s:0.67,AA,KK,QQ")).all()
    assert write_brackets(parse_range("AA:0.5,KK:0.5,QQ:0.25,JTs")) == "[50.0]AA,KK[/50.0],[25.0]QQ[/25.0],JTs"


def test_the_order_of_hands_is_piosolvers():
    names = hand_order().split()
    assert len(set(names)) == 1326
    assert names[:7] == ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d", "2s2h", "3c2c"]
    assert names[-2:] == ["AsAd", "AsAh"]
    assert write_floats(parse_range("2d2c,AsAh:0.5")).startswith("1 0 0")
    assert write_floats(parse_range("2d2c,AsAh:0.5")).endswith("0 0.5")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2", "got 2"),
        ("x " * 1326, "'x'"),
        ("2 " * 1326, "from 0 to 1"),
        ("nan " * 1326, "0 to 1"),
        ("0 " * 1326, "no hand"),
    ],
)
def test_floats_that_are_no_range(text, words):
    assert words in refusal(read_floats, text)


# Detection and samples


@pytest.mark.parametrize("name", FILES)
def test_formats_are_seen_from_the_content(name):
    form = name.partition("_")[0]
    assert detect(sample(name)) == form
    assert form in FORMATS


def test_our_own_files_are_still_ours():
    assert [
        detect(text, name) for text, name in (("{", "a"), ("[]", "b"), ("board = 1", "c.toml"), ("x", "d.json"))
    ] == ["treeplex"] * 4


def test_a_cap_of_nothing_in_other_programs():
    """postflop-solver takes the lesser of rate and cap, so that 0 is no rake; what PioSOLVER does is not known."""
    for form in ("desktop", "wasm"):
        fields = imported(sample(form).replace('"rakeCap": 3', '"rakeCap": 0'), "x").fields
        assert (fields["rake_rate"], fields["rake_cap"]) == (0.0, 0)
    pio = sample("pio")
    assert "'rake_cap'" in refusal(lambda: imported(pio.replace("Cap#3", "Cap#0"), "x").spot)
    assert imported(pio.replace("#Rake.Cap#3\n", ""), "x").spot.rake(1000) == 50.0
    assert imported(pio.replace("Cap#3", "Cap#0").replace("Enabled#True", "Enabled#False"), "x").spot.rake(1000) == 0.0


def test_piosolver_settings():
    found = import_spot(FILES["pio"])
    spot = found.spot
    assert (spot.pot, spot.effective_stack, spot.rake_rate, spot.rake_cap) == (60, 240, 0.05, 3.0)
    assert spot.sizes["river"]["oop"] == {"bet": "33%, 75%", "raise": "60%"}
    assert spot.donk_sizes == {"turn": "40%", "river": ""}
    assert spot.force_allin_threshold == force_of_share(0.7, 60, 240)
    assert (spot.line_sizes, found.all_notes()) == ({}, ())


def test_piosolver_lines():
    found = import_spot(FILES["pio_lines"])
    assert found.spot.line_sizes == {
        "": "50c",
        "check": "50c, 100c",
        "check, bet 50": "120c",
        "check, bet 50, raise 170": "a",
        "bet 50": "a",
    }
    assert found.all_notes() == ("the file asks for an accuracy of 0.2%pot: give it as --exploitability 0.2%pot",)
    assert dict(menus(found.spot))[0, 50] == [170]


def test_settings_and_lines_of_one_file(tmp_path):
    """Settings that come to the tree of the lines are kept; lines that differ win, and that is told."""
    script = write(import_spot(FILES["pio"]), "pio").text
    assert "#RiverConfig.BetSize#33, 75" in script
    found = imported(script, "x.txt")
    assert (found.spot.line_sizes, found.notes) == ({}, ())
    other = script.replace("#RiverConfig.BetSize#33, 75", "#RiverConfig.BetSize#33")
    changed = imported(other, "x.txt")
    assert "another tree" in changed.notes[0]
    assert same_tree(changed.spot, found.spot)


def test_lines_that_leave_out_a_check_are_told():
    found = imported(sample("pio_lines").replace("add_line 0 50 170 300\nadd_line 0 100\n", ""), "x.txt")
    assert "assumed to be possible" in found.notes[0]


SETTINGS = "#AllinThreshold#100\n#MinimumBetsize#0\n"


@pytest.mark.parametrize(
    ("setting", "where", "amounts"),
    [
        ("#RiverConfigIP.Dont3bet#True", (0, 33, 99), []),
        ("#RiverConfigIP.Dont3bet#False", (0, 33, 99), [278, 300]),
        ("#MinimumBetsize#60", (), [60, 300]),
    ],
)
def test_rules_that_sizes_cannot_say_become_menus_by_line(setting, where, amounts):
    text = (
        "#Range0#AA\n#Range1#KK\n#Board#Ks 9h 6d 3c Jh\n#Pot#100\n#EffectiveStacks#300\n#RiverConfig.BetSize#33\n"
        "#RiverConfig.RaiseSize#3x\n#RiverConfigIP.BetSize#33\n#RiverConfigIP.RaiseSize#60\n"
        "#RiverConfig.AddAllin#True\n#RiverConfigIP.AddAllin#True\n"
    )
    found = imported(text + setting, "x.txt")
    assert dict(menus(found.spot))[where] == amounts
    assert any("multiply" in note for note in found.notes)


def test_all_in_is_added_where_the_settings_say_so():
    base = sample("pio").replace("#AllinThreshold#70", "#AllinThreshold#100")
    some = imported(base.replace("#TurnConfig.AddAllin#False", "#TurnConfig.AddAllin#True"), "x.txt").spot
    assert some.sizes["turn"]["oop"]["bet"] == "50%, a"
    assert some.sizes["turn"]["ip"]["bet"] == "50%"
    close = base.replace("#TurnConfig.AddAllin#False", "#TurnConfig.AddAllin#True").replace("Pot#500", "Pot#200")
    spot = imported(close, "x.txt").spot
    assert dict(menus(spot))[()] == [30]  # all-in would be four times the pot
    assert dict(menus(spot))[0, 30] == [102, 240]  # 1.75 times


def test_texassolver():
    found = import_spot(FILES["texas"])
    spot = found.spot
    assert spot.sizes["turn"]["oop"] == {"bet": "50%, 100%, a", "raise": "60%, a"}
    assert spot.donk_sizes == {"turn": "30%, a", "river": "30%"}
    assert spot.force_allin_threshold == pytest.approx(0.125)
    assert (found.target, len(found.notes)) == ("0.5%pot", 2)
    assert "set_max_iteration, dump_result" in found.notes[0]
    assert "river oop, river ip" in found.notes[1]


def test_wasm_postflop():
    found = import_spot(f"{FILES['wasm']}#SRP/deep")
    assert found.partial
    spot = make_spot({**found.fields, "board": "Qs Jh 2h", "oop_range": "QQ,AKs", "ip_range": "KK,JTs:0.5"})
    assert spot == read_spot(FILES["desktop"])
    assert spot.sizes["flop"]["oop"] == {"bet": "33%, 75%", "raise": "2.5x"}
    assert spot.donk_sizes == {"turn": "", "river": "30%"}
    assert (spot.add_allin_threshold, spot.force_allin_threshold, spot.merging_threshold) == (1.5, 0.2, 0.1)
    assert "SRP/deep" in refusal(import_spot, f"{FILES['wasm']}#none")


# The way there and back

SIZES = st.sampled_from(("", "50%", "33%, 75%", "50%, a", "e", "2e120%", "40c"))
RAISES = st.sampled_from(("", "60%", "2.5x", "60%, a", "50c, a"))


@st.composite
def spots(draw, percent=False):
    """Turns and rivers with few sizes; ``percent``: those that every program has words for."""
    sizes = SIZES if not percent else st.sampled_from(("", "50%", "33.5%, 75%"))
    raises = RAISES if not percent else st.sampled_from(("", "60%", "40%, 100%"))
    menu = {
        street: {player: {"bet": draw(sizes), "raise": draw(raises)} for player in ("oop", "ip")}
        for street in ("flop", "turn", "river")
    }
    spot = Spot(
        draw(st.sampled_from(("Ks 9h 6d 3c", "Ks 9h 6d 3c Jh"))),
        draw(st.integers(10, 400)),
        draw(st.integers(50, 900)),
        "AA,KQs,QTs:0.5",
        "KK,QQ,AKs:0.3333333333",
        menu,
        draw(st.sampled_from(({}, {"river": "30%"}, {"turn": "", "river": "25%"}))),
        force_allin_threshold=draw(st.sampled_from((0.0, 0.2, 0.15))),
    )
    if percent:
        return spot
    return replace(
        spot,
        add_allin_threshold=draw(st.sampled_from((0.0, 1.5))),
        merging_threshold=draw(st.sampled_from((0.0, 0.1))),
        rake_rate=draw(st.sampled_from((0.0, 0.05))),
        rake_cap=draw(st.sampled_from((None, 3.5))),
    )


def same(first: Spot, second: Spot) -> None:
    """The same cards, money, rake and bets at every decision."""
    assert (first.board, first.pot, first.effective_stack) == (second.board, second.pot, second.effective_stack)
    assert all((first.weights(player) == second.weights(player)).all() for player in (0, 1))
    most = first.pot + 2 * first.effective_stack
    assert [first.rake(x) for x in (10, most)] == [second.rake(x) for x in (10, most)]
    assert same_tree(first, second)


@given(spots())
@settings(max_examples=12, deadline=None)
def test_spots_survive_piosolver_and_the_postflop_pages(spot):
    for form in ("pio", "desktop"):
        text = write(Imported(spot.summary()), form).text
        assert detect(text) == form
        same(imported(text, "x").spot, spot)
    wasm = read(write(Imported(spot.summary()), "wasm").text, "wasm")
    same(make_spot({**wasm.fields, **{key: spot.summary()[key] for key in ("board", "oop_range", "ip_range")}}), spot)


@given(spots(percent=True))
@settings(max_examples=12, deadline=None)
def test_spots_survive_texassolver(spot):
    same(imported(write(Imported(spot.summary()), "texas").text, "x").spot, spot)


def test_big_blinds_become_chips():
    spot = Spot("Ks 9h 6d 3c Jh", 5.5, 20, "AA", "KK", sizes_for("50%, 2.5c", "60%"), chip=0.01)
    spot = replace(spot, line_sizes={"check, bet 2.75": "5.5c, a"})
    for form in ("pio", "treeplex"):
        made = write(Imported(spot.summary()), form)
        assert bool(made.notes) == (form == "pio")
        again = imported(made.text, "x").spot
        assert again.effective_stack == (2000 if form == "pio" else 20)
        assert same_tree(again, spot)


def test_thresholds_are_inverses():
    for share in (0.1, 0.67, 1.0):
        assert share_of_force(force_of_share(share, 180, 910), 180, 910) == pytest.approx(share)
        assert whole_share_of_force(force_of_whole_share(share)) == pytest.approx(share)


# Refusals

BASE = sample("pio_lines")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (sample("pio").replace("#RemovedLines#", "#RemovedLines#Check, Bet"), "RemovedLines"),
        (sample("pio").replace("Enabled#False", "Enabled#True"), "CapEnabled"),
        (sample("pio").replace("NoLimit", "Limit"), "#Type#"),
        (sample("pio").replace("#Pot#60", "#Pot#many"), "#Pot#"),
        (sample("pio").replace("#Pot#60\n", ""), "its pot"),
        (sample("pio").replace("#TurnConfig.BetSize#50", "#TurnConfig.BetSize#20c3r"), "cap on raises"),
        (sample("pio").replace("#AllinThreshold#70", "#AllinThreshold#0"), "AllinThreshold"),
        (BASE + "lock_node r:0\n", "line 14"),
        (BASE + "add_line 0 400\n", "all-in is 300"),
        (BASE + "add_line 0 50 60\n", "least bet or raise is 100"),
        (BASE + "add_line 0 50 20\n", "check or call is 50"),
        (BASE + "add_line 0 0 0\n", "no player acts"),
        (BASE + "add_line 0 300 300 300\n", "no player acts"),
        (BASE + "add_line 0 1.5\n", "whole chips"),
        (BASE.replace("set_pot 0 0 100", "set_pot 50 50 0"), "must be 0"),
        (BASE.replace("set_range OOP", "set_range BB"), "OOP or IP"),
        ("set_board Ks9h6d3cJh\nset_eff_stack 5\n", "its pot"),
        (sample("texas").replace("oop,turn,bet,50", "oop,preflop,bet,50"), "line 6"),
        (sample("texas").replace("set_pot 50\n", ""), "its pot"),
        (sample("texas") + "set_rake 0.05\n", "'set_rake'"),
        (sample("desktop").replace('"removedLines": ""', '"removedLines": "X-B10"'), "removedLines"),
        (sample("desktop").replace("rakeCap", "rakecap"), "'rakecap'"),
        (sample("desktop").replace('"33, 75"', "5"), "must be text"),
        (sample("desktop").replace("150", '"150"'), "addAllInThreshold"),
        (sample("wasm").replace('"path"', '"way"'), "path"),
        (sample("range"), "holds a range"),
    ],
)
def test_what_is_refused(text, words):
    assert words in refusal(lambda: imported(text, "x").spot)


@pytest.mark.parametrize(
    ("changed", "form", "words"),
    [
        ({"rake_rate": 0.05}, "texas", "rake"),
        ({"merging_threshold": 0.1}, "texas", "merging"),
        ({"sizes": sizes_for("2e", "")}, "texas", "per cent"),
        ({"sizes": sizes_for("50%, a", "60%")}, "texas", "all-in"),
        ({"line_sizes": {"check": "50%"}}, "texas", "by line"),
        ({"line_sizes": {"check": "50%"}}, "wasm", "by line"),
        ({"sizes": sizes_for("min", "")}, "desktop", "'min'"),
    ],
)
def test_what_other_programs_have_no_words_for(changed, form, words):
    spot = replace(Spot("Ks 9h 6d 3c Jh", 100, 300, "AA", "KK", sizes_for("50%", "60%")), **changed)
    assert words in refusal(write, Imported(spot.summary()), form)


def test_classes_of_cards_are_ours_alone():
    spot = Spot("Ks 9h 6d 3c", 100, 300, "AA", "KK", sizes_for("50%", "60%"), board_classes=True)
    same(imported(export_spot(spot, "pio").text, "x").spot, spot)  # no class has sizes of its own
    own = replace(spot, line_sizes={"check, check, [pair]": "75%"})
    assert "board_classes" in refusal(export_spot, own, "pio")
    assert imported(export_spot(own, "treeplex").text, "x").spot == own


def test_a_range_is_no_spot():
    assert "writes a spot" in refusal(write, Imported({}, ranges={"a": "AA"}), "pio")


def test_broken_files_get_one_sentence(tmp_path):
    draw = random.Random(5)
    for name in FILES:
        whole = sample(name)
        for _ in range(25):
            start, end = sorted(draw.randrange(len(whole)) for _ in range(2))
            broken = whole[:start] + draw.choice(("", "#", "{", "9e99", "\0", whole[start:end] * 2, "é")) + whole[end:]
            try:
                _ = imported(broken, "x.txt").spot
            except TreeplexError as error:
                assert len(str(error)) <= 300
                assert "\n" not in str(error)


@pytest.mark.parametrize(
    "start", ["add_line 0 50 ", "#Pot#", "set_range OOP 1 ", "AA,", "[50]", '{"config": {"board": "', "set_pot "]
)
def test_huge_files_get_one_sentence(start):
    refusal(lambda: imported(start + "7 " * 5_000_000, "x.txt").spot)


def test_notes_are_warnings_in_python(tmp_path):
    path = tmp_path / "texas.txt"
    path.write_text(sample("texas"), encoding="utf-8")
    with pytest.warns(FormatNote, match="dump_result"):
        assert read_spot(path).pot == 50
    assert json.loads(write(import_spot(path), "treeplex").text)["pot"] == 50

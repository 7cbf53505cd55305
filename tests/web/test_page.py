"""The page in a real browser: what it shows are the API's numbers, what is done is not lost, nothing foreign runs."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from explorer import SLOW, Server, Watched, browser_path, chips, fixed, percent

if importlib.util.find_spec("playwright") is None:
    pytest.skip("the page is not tested: playwright is not installed", allow_module_level=True)
if browser_path() is None:
    pytest.skip("the page is not tested: no Chromium was found (set CHROMIUM)", allow_module_level=True)
pytest.importorskip("fastapi", reason="the page is not tested: treeplex[web] is not installed")

RUN = "small"
LOCKED = "small-locked"
POLAR = {
    "board": "2s 2h 2d 7c 8c",
    "pot": 100,
    "effective_stack": 100,
    "oop_range": "AA,QQ",
    "ip_range": "KK",
    "sizes": {"bet": "a"},
    "rake_cap": 0,
}
PIO = """#Type#NoLimit
#Range0#AA,KQs,QTs:0.5
#Range1#KK,QQ,AKs
#Board#Ks 9h 6d 3c
#Pot#60
#EffectiveStacks#240
#TurnConfig.BetSize#50
#TurnConfig.RaiseSize#60
#RiverConfig.BetSize#33, 75
#RiverConfig.RaiseSize#60
#TurnConfigIP.BetSize#50
#RiverConfigIP.BetSize#75
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("explorer"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def context(server: Server) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everywhere

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        made = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        made.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.origin)
        yield made
        browser.close()


@pytest.fixture
def watched(context: Any, server: Server) -> Iterator[Watched]:
    made = Watched(context.new_page(), server)
    made.page.set_default_timeout(20_000)
    yield made
    made.page.close()
    assert made.problems == []


@pytest.fixture(scope="module")
def solved(context: Any, server: Server) -> str:
    """A spot that is edited and solved on the page."""
    made = Watched(context.new_page(), server)
    page = made.open("#view=spot")
    page.get_by_role("button", name="clear").first.click()
    for card in ("Ks", "8h", "4d", "2c"):
        page.click(f'[data-card="{card}"]')
    made.lenient = True
    page.fill("input[name=pot]", "none")
    page.locator(".cost .sentence", has_text="pot").wait_for()  # refused in a sentence, in its place
    made.lenient = False
    page.fill("input[name=pot]", "60")
    page.fill("input[name=effective_stack]", "90")
    page.select_option("select[aria-label='Presets of sizes']", "one size")
    oop, ip = page.locator(".range-editor[data-player=oop]"), page.locator(".range-editor[data-player=ip]")
    oop.get_by_role("button", name="clear").click()
    _drag(page, oop, "AA", "AQs")  # paints AA, AKs, AQs
    oop.locator("input[type=range]").fill("50")
    _drag(page, oop, "QJs", "QTs")
    made.until("document.querySelector('[data-player=oop] textarea').value.includes('QTs')")
    assert server.post("range", {"text": oop.locator("textarea").input_value()}) == server.post(
        "range", {"text": "AA,AKs,AQs,QJs:0.5,QTs:0.5"}
    )
    ip.locator("textarea").fill("QQ,KJs,T9s,A5s:0.25")
    ip.locator('.cell[data-class="A5s"] em', has_text="25%").wait_for()  # the grid follows the text
    page.locator(".cost strong").first.wait_for()
    draft = page.evaluate("JSON.parse(localStorage.getItem('treeplex:draft'))")
    made.until("document.querySelector('.cost p')?.innerText.includes('nodes')")
    nodes = server.post("spot", {"spot": {key: draft[key] for key in SPOT} | MONEY})["nodes"]
    page.locator(".cost strong", has_text=f"{nodes:,}").wait_for()
    page.fill("input[name=target]", "0.2")
    page.fill("input[name=name]", RUN)
    page.click("#solve")
    page.locator(".job .state.done").wait_for(timeout=SLOW)
    page.click(".job a.main")
    made.line("")
    assert made.problems == []
    page.close()
    return RUN


SPOT = ("board", "oop_range", "ip_range", "sizes")
MONEY = {"pot": 60, "effective_stack": 90}


def _drag(page: Any, editor: Any, start: str, end: str) -> None:
    boxes = [editor.locator(f'.cell[data-class="{name}"]').bounding_box() for name in (start, end)]
    (x, y), (to_x, to_y) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=12)
    page.mouse.up()


def test_a_river_hand_has_the_numbers_of_the_api(watched: Watched, solved: str) -> None:
    page = watched.open(f"#run={solved}")
    watched.line("")
    page.keyboard.press("1")
    watched.line("x")
    page.keyboard.press("1")
    watched.line("x/x")
    page.click('.deck [data-card="7s"]')
    watched.line("x/x/7s")
    page.click('.cell[data-class="AKs"]')
    page.locator(".chip", has_text="AKs").wait_for()
    node = watched.server.get("node", run=solved, line="x/x/7s")
    pot, hands = node["pot"], {row["hand"]: row for row in node["hands"] if row["class"] == "AKs"}
    assert hands
    for hand, row in hands.items():
        cells = page.locator(f'tr[data-hand="{hand}"] td').all_inner_texts()
        acts = [[percent(part), chips(ev, pot)] for part, ev in zip(row["strategy"], row["ev"], strict=True)]
        assert [cell.split() for cell in cells[3 : 3 + len(acts)]] == acts
        told = [chips(row["value"], pot), percent(row["equity"]), fixed(row["realisation"], 2)]
        assert cells[3 + len(acts) : 6 + len(acts)] == told
        assert cells[1:3] == [percent(row["share"], 2), percent(row["reach"], 0)]
        assert ("≈" in cells[-1]) == row["indifferent"]
    for player in ("oop", "ip"):
        of = node["ranges"][player]
        told = [fixed(of["combos"], 1), chips(of["ev"], pot), percent(of["equity"]), fixed(of["realisation"], 2)]
        assert page.locator(f'.both-ranges tr[data-player="{player}"] td').all_inner_texts() == told
    for action, tile in zip(node["actions"], page.locator(".tile").all(), strict=True):
        assert tile.locator("b").inner_text() == percent(action["frequency"])
        assert tile.locator("small").inner_text() == f"EV {chips(action['ev'], pot)}"


def test_keys_walk_the_tree(watched: Watched, solved: str) -> None:
    page = watched.open(f"#run={solved}&line=x/x/7s")
    watched.line("x/x/7s")
    actions = [action["line"] for action in watched.server.get("node", run=solved)["actions"]]
    page.keyboard.press("ArrowDown")  # another card
    watched.until("!location.hash.includes('7s')")
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft"):  # in haste: each acts where the last one led
        page.keyboard.press(key)
    watched.line("x")
    page.keyboard.press("ArrowLeft")
    watched.line("")
    page.keyboard.press("2")
    watched.line(actions[1])
    page.keyboard.press("ArrowUp")
    watched.line(actions[0])
    page.go_back()
    watched.line(actions[1])
    page.keyboard.press("?")
    assert page.locator("dialog.help").is_visible()
    page.keyboard.press("Escape")
    page.locator("dialog.help").wait_for(state="detached")
    page.keyboard.press("m")
    watched.until("location.hash.includes('show=ev')")
    page.keyboard.press("p")
    watched.until("location.hash.includes('player=')")


def test_views_of_a_node(watched: Watched, solved: str) -> None:
    server = watched.server
    page = watched.open(f"#run={solved}&line=x/x/7s&tab=runouts")
    page.locator(".runouts .pick.heat").first.wait_for()
    page.select_option(".runouts select", "ev-oop")
    found = server.get("runouts", run=solved, line="x/x/7s")
    for each in found["cards"][:5]:
        title = page.get_attribute(f'.runouts [data-card="{each["card"]}"]', "title")
        assert title == f"{each['card']}: {chips(each['ev'][0], found['pot'])}"
    page = watched.open(f"#run={solved}&line=x&tab=exploit")
    page.locator(".exploit .lead strong").wait_for()
    best = server.get("exploit", run=solved, line="x")
    assert page.inner_text(".exploit .lead strong") == f"{chips(best['gain'], best['pot'])} chips"
    page = watched.open(f"#run={solved}&line=x&tab=equity")
    page.locator(".equity canvas").wait_for()
    page.click(".tabs [data-tab=hands]")
    with page.expect_download() as loading:
        page.get_by_role("button", name="CSV").click()
    assert "QsQh" in Path(loading.value.path()).read_text()
    page.get_by_role("button", name="Copy range").click()
    page.locator(".toast.note").wait_for()
    assert "QQ" in page.evaluate("navigator.clipboard.readText()")


def test_lock_solve_and_compare(watched: Watched, solved: str) -> None:
    server = watched.server
    bet = server.get("node", run=solved)["actions"][-1]["line"]
    page = watched.open(f"#run={solved}&line={bet}&tab=lock")
    page.get_by_role("button", name="fold always").click()
    page.click("#add-lock")
    page.locator(".locks li", has_text="all fold").wait_for()
    page.get_by_role("button", name="some hands").click()
    page.click('.cell[data-class="QQ"]')
    page.get_by_role("button", name="call always").click()
    page.click("#add-lock")
    page.locator(".locks li", has_text="QQ call").wait_for()
    page.fill("input[name=lock-target]", "0.5")
    page.click("#solve-around")
    page.locator("#before-after").wait_for(timeout=SLOW)
    page.click("#before-after")
    page.locator(".compare .hands tbody tr").first.wait_for(timeout=SLOW)
    locks = server.get("run", run=LOCKED)["request"]["options"]["locks"]
    assert [(lock["line"], list(lock["strategy"])) for lock in locks] == [(bet, ["all"]), (bet, ["QQ"])]
    page.evaluate("location.hash = location.hash.replace(/&line=[^&]*/, '')")
    watched.until("document.querySelectorAll('.crumbs li').length === 2")
    found = server.get("compare", run=solved, other=LOCKED, line="")
    page.locator("caption", has_text="Both runs here").wait_for(state="attached")
    rows = page.locator("table:has(caption:text('Both runs here')) tbody tr")
    for k in (0, 1):
        cells = rows.nth(k).locator("td").all_inner_texts()
        assert cells[1:3] == [chips(found["ev"][k], 60), chips(found["regret"][k], 60)]
    row = found["rows"][0]
    cells = page.locator(f'.hands tr[data-hand="{row["hand"]}"] td').all_inner_texts()
    assert cells[2:4] == [chips(value, 60) for value in row["value"]]


def test_train(watched: Watched, solved: str) -> None:
    page = watched.open(f"#view=train&run={solved}")
    page.locator(".answers button").first.wait_for()
    with page.expect_response("**/api/train/answer") as answering:
        page.keyboard.press("2")
    marked = answering.value.json()
    page.locator(".verdict").wait_for()
    pot = json.loads(answering.value.request.post_data)["question"]["node"]["pot"]
    shown = page.locator(".answers .solution small").all_inner_texts()
    assert [text.strip() for text in shown] == [f"EV {chips(ev, pot)}" for ev in marked["ev"]]
    if marked["lost"] > 0:
        assert chips(marked["lost"], pot) in page.inner_text(".verdict")
    page.keyboard.press("Enter")
    page.locator(".verdict").wait_for(state="detached")


def test_export_and_import(watched: Watched, solved: str) -> None:
    page = watched.open(f"#view=spot&run={solved}")
    watched.until("document.querySelector('[data-player=ip] textarea')?.value.includes('A5s')")
    page.get_by_role("button", name="Export").click()
    watched.until("document.querySelector('dialog.export textarea').value.includes('board')")
    with page.expect_download() as loading:
        page.get_by_role("button", name="Download").click()
    text = Path(loading.value.path()).read_text()
    page.get_by_role("button", name="Close").click()
    assert watched.server.post("spot", {"spot": json.loads(text)})["spot"]["board"] == "Ks 8h 4d 2c"
    for given, board in ((text.replace('"60"', "60").replace("4d", "5d"), "5d"), (PIO, "9h")):
        page.get_by_role("button", name="Import").click()
        page.fill("dialog.import textarea", given)
        page.click("dialog.import button.main")
        page.locator("dialog.import").wait_for(state="detached")
        page.locator(f'.deck [data-card="{board}"][aria-pressed=true]').wait_for()


def test_a_rake_that_is_typed_has_no_cap(watched: Watched) -> None:
    """The spot comes from the server, which tells a cap of 0 where there is no rake."""
    page = watched.open("#view=spot")
    page.get_by_role("button", name="Import").click()
    page.fill("dialog.import textarea", json.dumps(POLAR))
    page.click("dialog.import button.main")
    page.locator("dialog.import").wait_for(state="detached")
    page.locator("summary", has_text="rake").click()
    assert page.input_value("input[name=rake_cap]") == ""
    with page.expect_response(lambda answer: "5%" in (answer.request.post_data or "")) as measuring:
        page.fill("input[name=rake_rate]", "5%")  # answers about the imported spot may still be on their way
    found = measuring.value.json()["spot"]
    assert (found["rake_rate"], found["rake_cap"]) == (0.05, None)
    page.reload()
    page.locator("input[name=rake_rate]").wait_for(state="attached")
    assert page.input_value("input[name=rake_cap]") == ""


def test_nothing_is_lost_when_the_server_is_killed(watched: Watched, solved: str) -> None:
    page, server = watched.open("#view=spot"), watched.server
    page.fill("input[name=pot]", "64")
    page.locator(".cost strong").first.wait_for()
    watched.lenient = True
    server.kill()
    page.locator("#banner:not([hidden])").wait_for()
    server.start()
    page.locator("#banner").wait_for(state="hidden")
    watched.lenient = False
    page.reload()
    watched.until("document.querySelector('input[name=pot]')?.value === '64'")
    watched.open("#view=runs")
    for run in (solved, LOCKED):
        page.locator(f'tr[data-run="{run}"]').wait_for()
    watched.open(f"#run={solved}&line=x/x/7s")
    watched.line("x/x/7s")


def test_markup_in_a_name_is_text(watched: Watched, solved: str) -> None:
    name = "<img src=x onerror=alert(1)><b>bold"
    shutil.copytree(watched.server.folder / solved, watched.server.folder / name)
    page = watched.open("#view=runs")
    page.locator("a.name", has_text=name).click()
    watched.line("")
    watched.open("#view=runs&chosen=" + name.replace("&", "%26"))
    page.locator(".u-legend", has_text=name).wait_for()
    assert page.locator("main img, main b:has-text('bold')").count() == 0
    shutil.rmtree(watched.server.folder / name)


@pytest.mark.parametrize("view", ["browse", "train", "compare"])
def test_a_run_that_opens_can_be_left(watched: Watched, view: str) -> None:
    opening = {"run": "large", "state": "opening", "passes": [1, 2]}
    watched.page.route("**/api/open", lambda route: route.fulfill(json=opening))
    page = watched.open(f"#view={view}&run=large&other=large")
    page.locator(".opening").wait_for()
    runs = page.locator("nav a[data-view=runs]")
    runs.click()
    page.locator("main .runs h2", has_text="Runs").wait_for()
    page.wait_for_timeout(400)
    assert page.locator(".opening").count() == 0
    page.evaluate("document.querySelector('main').firstChild.dataset.old = 'yes'")
    runs.click()  # once more: the view is made anew
    watched.until("document.querySelector('main .runs') && !document.querySelector('main [data-old]')")


def test_any_game(watched: Watched) -> None:
    page = watched.open("#view=games")
    page.fill("input[name=game]", "kuhn")
    page.fill("input[name=algorithm]", "cfr+, dcfr")
    page.click(".side button.main")
    for run in ("kuhn-cfr+", "kuhn-dcfr"):
        page.locator(".games .runs li", has_text=run).locator("small", has_text="solved").wait_for(timeout=SLOW)
    page.locator(".content .u-legend", has_text="kuhn-dcfr").wait_for()
    page.locator(".games .runs a", has_text="kuhn-cfr+").click()
    found = watched.server.get("infosets", run="kuhn-cfr+", search="", offset="0", most="50")
    page.locator(".total", has_text=f"{found['total']} infosets").wait_for()
    shown = page.locator(".mixbars .number").all_inner_texts()
    assert shown == [fixed(part, 3) for each in found["infosets"] for part in each["probabilities"]]
    page.get_by_role("button", name="Tree").click()
    page.locator("[data-branch]").first.wait_for()
    page.keyboard.press("1")
    watched.until("location.hash.includes('path=0')")


def test_every_view_fits_a_phone_and_a_dark_room(context: Any, server: Server, solved: str) -> None:
    made = Watched(context.browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark"), server)
    at = f"run={solved}"
    views = ("view=runs", "view=spot", at, f"{at}&line=x/x", f"{at}&tab=lock", f"{at}&tab=exploit", "view=sizes")
    for view in (*views, "view=growth", f"view=train&{at}", f"view=compare&{at}&other={LOCKED}", "view=games"):
        made.open(f"#{view}")
        made.until("document.querySelector('main').children.length > 0 && !document.querySelector('.opening')")
        made.page.wait_for_timeout(150)
        wide = made.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{view} is {wide} pixels wide"
    dark = made.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", dark)) < 60
    made.page.close()
    assert made.problems == []

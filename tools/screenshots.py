"""Pictures of every view of the explorer for the docs: ``make screenshots``.

Solves a small turn, a river and Leduc hold'em in a folder of its own, and writes docs/images/explorer-*.png.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "web"))
from explorer import SLOW, Server, Watched, browser_path  # noqa: E402 - after the path

IMAGES: Final = ROOT / "docs" / "images"
SCREEN: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 390, "height": 844}
COLOURS: Final = 256  # of a picture: a third of the bytes, and nobody sees it
MOST: Final = 200_000  # bytes

MENU: Final = {"bet": "33%, 75%", "raise": "60%"}
TURN: Final = {
    "board": "Ks 8h 4d 2c",
    "pot": 60,
    "effective_stack": 170,
    "oop_range": "22+,A2s+,K9s+,QTs+,JTs,T9s,98s,87s,76s,65s,ATo+,KJo+",
    "ip_range": "22-JJ,A2s-AJs,K9s+,Q9s+,J9s+,T8s+,97s+,86s+,75s+,65s,ATo+,KTo+,QTo+",
    "sizes": {street: {"oop": MENU, "ip": MENU} for street in ("flop", "turn", "river")},
}
RIVER: Final = TURN | {"board": "Ks 8h 4d 2c 7s"}
LOCK: Final = {"line": "b45", "strategy": {"all": {"fold": 0.7, "call": 0.3}}}


def main() -> None:
    """Solve, look, save."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everywhere

    path = browser_path()
    if path is None:
        sys.exit("No Chromium was found; set CHROMIUM to one.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        runs = Path(folder) / "runs"
        runs.mkdir()
        server = Server(runs)
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            sizes, grown = _solve(server, browser)
            _look(server, browser, sizes, grown)
        finally:
            browser.close()
            server.stop()


def _solve(server: Server, browser: Any) -> tuple[str, str]:
    """All that is shown; numbers of the two jobs that are no runs."""
    page = browser.new_page()
    page.set_default_timeout(SLOW)
    jobs = [{"what": "solve", "spot": TURN, "exploitability": "0.3%pot", "name": "turn"}]
    jobs.append(jobs[0] | {"locks": [LOCK], "name": "turn-locked"})
    jobs += [{"what": "solve", "game": "leduc", "algorithm": each, "seconds": 1} for each in ("cfr", "cfr+", "dcfr")]
    numbers = [server.post("jobs", job)["job"] for job in jobs]
    numbers.append(server.post("jobs", {"what": "sizes", "spot": RIVER, "keep": 1})["job"])
    numbers.append(
        server.post("jobs", {"what": "grow", "spot": RIVER, "exploitability": "0.5%pot", "seconds": 10})["job"]
    )
    while any(job["state"] in ("queued", "running") for job in server.get("jobs")["jobs"]):
        page.wait_for_timeout(200)
    failed = [job["error"] for job in server.get("jobs")["jobs"] if job["state"] == "failed"]
    if failed:
        sys.exit(failed[0])
    page.close()
    return numbers[-2], numbers[-1]


def _look(server: Server, browser: Any, sizes: str, grown: str) -> None:
    at = "run=turn"
    views: dict[str, tuple[str, str, Callable[[Any], None] | None]] = {
        "runs": ("view=runs&chosen=leduc-cfr|leduc-cfr%2B|leduc-dcfr&x=iteration", ".u-legend", None),
        "spot": (f"view=spot&{at}", ".cost strong", None),
        "browse": (f"{at}&line=x/b45&class=AJs", ".hands tbody tr", None),
        "equity": (f"{at}&line=x/x/7s&tab=equity&show=ev", ".equity canvas", None),
        "runouts": (f"{at}&line=x/x", ".runouts .heat", None),
        "exploit": (f"{at}&line=b45&tab=exploit", ".exploit .lead", None),
        "lock": (f"{at}&line=b45&tab=lock", "#add-lock", _lock),
        "compare": (f"view=compare&{at}&other=turn-locked", ".compare .hands tbody tr", None),
        "sizes": (f"view=sizes&job={sizes}", "figure svg", None),
        "growth": (f"view=growth&job={grown}", ".view-growth tbody tr", None),
        "trainer": (f"view=train&{at}", ".answers button", _answer),
        "games": ("view=games&run=leduc-cfr%2B", ".mixbars", None),
    }
    for name, (route, wanted, act) in views.items():
        _save(server, browser, name, (route, wanted), act)
    _save(server, browser, "dark", (f"{at}&line=x/x/7s", ".hands tbody tr"), None, color_scheme="dark")
    _save(server, browser, "phone", (f"{at}&line=x/b45", ".hands tbody tr"), None, viewport=PHONE)


def _lock(page: Any) -> None:
    page.get_by_role("button", name="fold always").click()
    page.click("#add-lock")


def _answer(page: Any) -> None:
    page.keyboard.press("2")
    page.locator(".verdict").wait_for()


def _save(
    server: Server, browser: Any, name: str, where: tuple[str, str], act: Callable[[Any], None] | None, **look: Any
) -> None:
    context = browser.new_context(**{"viewport": SCREEN, "color_scheme": "light"} | look)
    made = Watched(context.new_page(), server)
    made.page.set_default_timeout(SLOW)
    made.open(f"#{where[0]}")
    made.page.locator(where[1]).first.wait_for()
    if act is not None:
        act(made.page)
    made.page.wait_for_timeout(400)
    path = IMAGES / f"explorer-{name}.png"
    made.page.screenshot(path=path)
    context.close()
    _shrink(path)
    if made.problems:
        sys.exit(f"{name}: {made.problems}")
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")


def _shrink(path: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, kmeans=3, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    if path.stat().st_size > MOST:
        sys.exit(f"{path.name} is larger than {MOST:,} bytes.")


if __name__ == "__main__":
    main()

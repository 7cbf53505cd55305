"""Pictures of the built site for the docs: ``make docs site-screenshots``. Writes docs/images/site-*.png.

With ``--all FOLDER``: every page, whole, for somebody to look at.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))
from screenshots import COLOURS, IMAGES, ROOT, browser_path

SITE: Final = ROOT / "build" / "site"
SCREEN: Final = {"width": 1100, "height": 720}
MOST: Final = 150_000  # bytes
VIEWS: Final = {
    "contents": ("docs/index.html", {}),
    "readme": ("README.html", {}),
    "tutorial": ("docs/tutorial/ten-minutes.html", {}),
    "holdem": ("docs/how-to/holdem.html", {}),
    "differences": ("docs/how-to/differences.html", {}),
    "comparison": ("docs/comparison.html", {}),
    "commands": ("docs/reference/generated/commands.html#treeplex-solve", {}),
    "python": ("docs/reference/generated/python.html#treeplex.evaluate", {}),
    "search": ("search.html?q=regret+based+pruning", {}),
    "dark": ("docs/theory/algorithms.html#cfr", {"color_scheme": "dark"}),
}


def main() -> None:
    """Open, look, save."""
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everywhere

    if not (SITE / "docs" / "index.html").exists():
        sys.exit("There is no site in build/site; run `make docs` first.")
    path = browser_path()
    if path is None:
        sys.exit("No Chromium was found; set CHROMIUM to one.")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--allow-file-access-from-files"])
        if sys.argv[1:2] == ["--all"]:
            _everything(browser, Path(sys.argv[2]))
            return
        for name, (address, look) in VIEWS.items():
            page = browser.new_page(viewport=SCREEN, **look)
            page.goto(f"file://{SITE}/{address}")
            if name == "search":
                page.locator("#search-results li").first.wait_for()
            page.wait_for_timeout(400)
            target = IMAGES / f"site-{name}.png"
            page.screenshot(path=target)
            page.close()
            with Image.open(target) as picture:
                small = picture.convert("RGB").quantize(COLOURS // 4, kmeans=2, dither=Image.Dither.NONE)
            small.save(target, optimize=True)
            if target.stat().st_size > MOST:
                sys.exit(f"{target.name} is larger than {MOST:,} bytes.")
            print(f"{target.relative_to(ROOT)}  {target.stat().st_size:,} bytes")
        browser.close()


def _everything(browser: Any, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for html in sorted(SITE.rglob("*.html")):
        page = browser.new_page(viewport=SCREEN)
        page.goto(f"file://{html}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        print(f"{html.relative_to(SITE)}  {'' if wide <= 0 else f'too wide by {wide}'}")
        page.screenshot(path=folder / f"{html.relative_to(SITE).as_posix().replace('/', '-')}.png", full_page=True)
        page.close()


if __name__ == "__main__":
    main()

"""Other programs' spots through the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import RIVER

SAMPLES = Path(__file__).parents[1] / "data" / "formats"


@pytest.mark.parametrize("form", ["treeplex", "pio", "texas", "desktop"])
def test_there_and_back(client, form):
    assert form in client.ask("about")["formats"]
    there = client.tell("export", spot=RIVER, format=form)
    assert there["name"].startswith("Ks9h6d3cJh.")
    for named in (None, form):
        back = client.tell("import", text=there["text"], format=named)
        assert (back["format"], back["ranges"], back["partial"]) == (form, None, False)
        assert back["spot"]["board"] == "Ks 9h 6d 3c Jh"
        assert client.tell("spot", spot=back["spot"])["nodes"] == client.tell("spot", spot=RIVER)["nodes"]


def test_samples(client):
    for path in sorted(SAMPLES.iterdir()):
        told = client.tell("import", text=path.read_text())
        assert told["spot"] or told["ranges"], path.name


def test_what_is_no_spot_is_refused(client):
    for text in ("", "{}", "<html>", "set_board", "[" * 5000, "#Type#NoLimit\n#Range0#<b>"):
        client.sentence(client.post("/api/import", json={"text": text}), 400)
    client.sentence(client.post("/api/import", json={"text": "AA", "format": "word"}), 400)
    client.sentence(client.post("/api/export", json={"spot": RIVER, "format": "word"}), 400)

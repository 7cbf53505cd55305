"""Who may ask, and how: everything else is refused in a sentence, and nothing outside of the folder is read."""

from __future__ import annotations

import http.client
import json
import socket

import httpx
import pytest

from .conftest import RIVER, TOKEN

PAGES = ("/", "/static/app.js", "/api/about", "/api/runs", "/api/events", "/api/openapi.json", "/nowhere")


def bare(port: int, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.request(method, f"http://127.0.0.1:{port}{path}", headers=names, timeout=20)


def raw(port: int, head: str, body: bytes = b"") -> tuple[int, bytes]:
    """A request as it is written, for those that a library would not send."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read()


@pytest.mark.parametrize("path", PAGES)
def test_every_address_asks_for_the_token(client, port, path):
    assert "missing" in client.sentence(bare(port, path), 401)
    assert "wrong" in client.sentence(bare(port, path, X_Token="x" * len(TOKEN)), 401)
    assert "wrong" in client.sentence(bare(port, f"{path}?token={TOKEN[:-1]}"), 401)
    assert "wrong" in client.sentence(bare(port, f"{path}?token={TOKEN}é"), 401)


@pytest.mark.parametrize("path", ["/", "/api/about", "/api/events", "/static/app.js"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", ""])
def test_other_origins_are_refused(client, port, path, origin):
    assert "origin" in client.sentence(bare(port, path, X_Token=TOKEN, Origin=origin), 403)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil:{port}",
        "[127.0.0.1]:{port}",
        "]127.0.0.1[:{port}",
        "[localhost]:{port}",
        "[127.0.0.1:{port}",
    ],
)
def test_other_hosts_are_refused(client, port, host):
    assert "name" in client.sentence(bare(port, "/api/about", X_Token=TOKEN, Host=host.format(port=port)), 403)


def test_a_port_that_is_no_number_is_refused(port):
    status, _ = raw(port, f"GET /api/about HTTP/1.1\nHost: 127.0.0.1:\u00b2\nX-Token: {TOKEN}")
    assert status == 403


def test_own_names_and_origin_are_heard(client, port):
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{port}"
        assert bare(port, "/api/about", X_Token=TOKEN, Host=host, Origin=f"http://{host}").status_code == 200
    status, _ = raw(port, f"GET /api/about HTTP/1.1\nHost: 127.0.0.1:{port}\nHost: evil.example\nX-Token: {TOKEN}")
    assert status in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.localhost:{port}", "http://evil-localhost:{port}", "localhost:{port}"])
def test_an_origin_that_ends_in_our_name_is_refused(client, port, origin):
    answer = bare(port, "/api/about", X_Token=TOKEN, Host=f"localhost:{port}", Origin=origin.format(port=port))
    assert "origin" in client.sentence(answer, 403)


def test_of_two_headers_none_counts(port):
    head, ours, evil = f"GET /api/about HTTP/1.1\nX-Token: {TOKEN}", f"127.0.0.1:{port}", "evil.example"
    for pair in ((ours, evil), (evil, ours), (ours, ours)):
        status, _ = raw(port, head + "".join(f"\nHost: {host}" for host in pair))
        assert status in (400, 403)
    for pair in ((ours, evil), (evil, ours)):
        status, _ = raw(port, f"{head}\nHost: {ours}" + "".join(f"\nOrigin: http://{host}" for host in pair))
        assert status == 403


def test_the_cookie_is_good_for_the_files_of_the_page_only(port):
    page = bare(port, f"/?token={TOKEN}")
    cookie = page.headers["set-cookie"]
    assert page.status_code == 200
    for word in ("HttpOnly", "SameSite=strict", "Path=/static", f"treeplex-{port}="):
        assert word in cookie
    value = cookie.partition(";")[0]
    assert TOKEN not in value
    assert bare(port, "/api/about", Cookie=value).status_code == 401
    assert bare(port, "/api/events", Cookie=value).status_code == 401
    assert bare(port, "/", Cookie=value).status_code == 401
    assert bare(port, "/static/none.js", Cookie=value).status_code == 404
    assert bare(port, "/static/none.js", Cookie=f"treeplex-{port}=wrong").status_code == 401
    assert bare(port, "/api/about", X_Token=value.partition("=")[2]).status_code == 401


def test_headers_on_every_answer(port):
    for path in (f"/?token={TOKEN}", f"/api/about?token={TOKEN}", "/api/about", f"/none?token={TOKEN}"):
        headers = bare(port, path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


OUTSIDE = [
    "..", "../secret", "kuhn/../../secret", "/etc", "//etc", "./kuhn", "kuhn/", "kuhn/.", "deeper/../kuhn", "kuhn\0",
    "%2e%2e/secret", "..%2fsecret", "..\\secret", "link", "out", ".treeplex-jobs/1", "a" * 900, "~root", "",
    "kuhn/run.json",
    "C:\\", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def traps(kept):
    """A run beside the folder, and links that lead to it."""
    secret = kept.parent / "secret"
    secret.mkdir()
    (secret / "run.json").write_text((kept / "kuhn" / "run.json").read_text())
    (secret / "result.json").write_text('{"status": "secret"}')
    (kept / "link").symlink_to(secret)
    (kept / "out").mkdir()
    (kept / "out" / "run.json").write_text((kept / "kuhn" / "run.json").read_text())
    (kept / "out" / "result.json").symlink_to(secret / "result.json")
    yield
    (kept / "link").unlink()
    (kept / "out" / "result.json").unlink()
    (kept / "out" / "run.json").unlink()


@pytest.mark.parametrize("address", ["run", "log", "node", "infosets", "tree"])
def test_nothing_outside_of_the_folder_is_read(client, traps, address):
    for run in OUTSIDE:
        words = client.sentence(client.get(f"/api/{address}", params={"run": run}), 404)
        assert "secret" not in words or "secret" in run
    for query in ("run=..%2Fsecret", "run=%252e%252e%2Fsecret", "run=%00", "run=kuhn%00.json"):
        client.sentence(client.get(f"/api/{address}?{query}"), 404)
    listed = {row["run"] for row in client.ask("runs")["runs"]}
    assert listed >= {"kuhn", "deeper/pennies"}
    assert listed.isdisjoint({"link", "out", "secret", ".treeplex-jobs"})
    for body in ({"run": "../secret"}, {"run": "link"}):
        client.sentence(client.post("/api/open", json=body), 404)
        client.sentence(client.post("/api/jobs", json={"what": "resume", **body}), 404)


@pytest.mark.parametrize(
    "path",
    [
        f"/static/{'a' * 5000}.js",
        f"/static/{'a/' * 2000}app.js",
        "/static/..%2f..%2fapp.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/",
    ],
)
def test_the_page_has_only_its_own_files(port, path):
    status, body = raw(port, f"GET {path}?token={TOKEN} HTTP/1.1\nHost: 127.0.0.1:{port}")
    assert status == 404
    assert b"import" not in body


@pytest.mark.parametrize(
    "game", ["/etc/passwd.efg", "x.json", "spot.toml", "g.safetensors", "openspiel:efg_game(filename=x)"]
)
def test_games_are_names_not_files(client, game):
    words = client.sentence(client.post("/api/jobs", json={"what": "solve", "game": game}), 400)
    assert "not files" in words


def test_a_large_body_is_refused_before_it_is_read(client, port):
    head = f"POST /api/range HTTP/1.1\nHost: 127.0.0.1:{port}\nX-Token: {TOKEN}\nContent-Type: application/json"
    status, body = raw(port, f"{head}\nContent-Length: 10000000")  # nothing of it is ever sent
    assert (status, json.loads(body)["error"]) == (413, "The body of a request may have at most 1,048,576 bytes.")
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status, _ = raw(port, f"{head}\nTransfer-Encoding: chunked", chunk + chunk)
    assert status == 413
    assert client.post("/api/range", json={"text": "AA" + " " * 90_000}).status_code == 200


MALFORMED = [
    b"", b"{", b"[]", b"null", b"7", b'"AA"', b"{'text': 'AA'}", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000,
    b'{"weights": [NaN]}', b'{"weights": [1e999]}', b'{"weights": [Infinity]}', b'{"weights": [' + b"9" * 5000 + b"]}",
    b'{"hands": {"AsKs": -1}}', b'{"hands": {"<b>": 1}}', b'{"text": "\\ud800"}', b'{"text": 5}',
    b'{"text": "AA", "weights": []}',
    b'{"text": "AA", "txet": 1}', b'{"weights": []}', b'{"text": "<script>alert(1)</script>"}',
]  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_bodies(client, body):
    client.sentence(client.post("/api/range", content=body, headers={"Content-Type": "application/json"}), 400)


def test_forms_of_other_pages_are_not_json(client):
    words = client.sentence(
        client.post("/api/range", content=b'{"text": "AA"}', headers={"Content-Type": "text/plain"}), 400
    )
    assert "Content-Type" in words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sedonds": 3}, "sedonds"),
        ({"seconds": "3"}, "seconds"),
        ({"seconds": -1}, "seconds"),
        ({"iterations": 0.5}, "iterations"),
        ({"iterations": 10**400}, "iterations"),
        ({"algorithm": "cfr++"}, "cfr++"),
        ({"algorithm": "lp"}, "solved by"),
        ({"storage": "float8"}, "storage"),
        ({"threads": -1}, "threads"),
        ({"threads": True}, "threads"),
        ({"name": "../x"}, "name"),
        ({"name": "<b>x</b>"}, "name"),
        ({"name": ".hidden"}, "name"),
        ({"exploitability": "1%cat"}, "exploitability"),
        ({"exploitability": 1, "nash_conv": 1}, "not both"),
        ({"spot": None}, "either"),
        ({"game": "kuhn"}, "either"),
        ({"spot": RIVER | {"pot": 0}}, "pot"),
        ({"spot": RIVER | {"pott": 1}}, "pott"),
        ({"spot": RIVER | {"board": "<img src=x>"}}, "card"),
        ({"spot": {}}, "board"),
        ({"locks": [{"line": "bet 7", "strategy": {"all": {"check": 1}}}]}, "bet 7"),
        ({"locks": [{"line": ""}]}, "lock"),
        ({"what": "dance"}, "what"),
        ({"what": "grow", "bets": "7", "locks": []}, "locks"),
        ({"what": "grow", "bets": "x%"}, "bets"),
        ({"what": "sizes", "keep": 0}, "keep"),
        ({"what": "sizes", "player": "button"}, "player"),
        ({"what": "sizes", "lose": "much"}, "lose"),
    ],
)
def test_jobs_are_checked_by_the_code_of_the_command_line(client, change, said):
    before = client.ask("jobs")
    body = {"what": "solve", "spot": RIVER} | change
    words = client.sentence(client.post("/api/jobs", json=body), 400)
    assert said.casefold() in words.casefold()
    assert client.ask("jobs") == before


def test_unknown_parameters_methods_and_addresses(client):
    assert "'rnu'" in client.sentence(client.get("/api/run", params={"rnu": "kuhn"}), 400)
    assert "'run'" in client.sentence(client.get("/api/run"), 400)
    client.sentence(client.delete("/api/run", params={"run": "kuhn"}), 405)
    client.sentence(client.get("/api/none"), 404)
    client.sentence(client.post("/api/jobs/77/stop"), 404)
    client.sentence(client.get("/api/infosets", params={"run": "kuhn", "most": 10**30}), 400)


def test_a_tree_without_end_is_given_up(client, served, monkeypatch):
    monkeypatch.setattr("treeplex.web.checker.TIME_LIMIT", 0.5)
    sizes = {"bet": "20%,33%,50%,75%,100%,150%,200%,a", "raise": "40%,70%,100%,150%,a"}
    deep = RIVER | {"board": "Ks 9h 6d", "effective_stack": 5000, "sizes": sizes}
    assert "fewer sizes" in client.sentence(client.post("/api/spot", json={"spot": deep}), 400)
    monkeypatch.undo()
    assert client.tell("spot", spot=RIVER)["nodes"] > 0

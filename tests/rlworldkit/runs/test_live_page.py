"""The page of live runs, by real requests: what it is told, who is let in, and what it survives."""

import http.client
import json
import re
import socket
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from rlparity.errors import UsageError
from rlworldkit.runs.live_page import LivePage
from rlworldkit.runs.stop import StopRequest

from .live_runs import STEPS, UPDATES, is_stopping, metrics, started


@pytest.fixture(scope="module")
def page() -> Iterator[LivePage]:
    """A page that stays as it is."""
    with started() as page:
        yield page


@pytest.fixture
def fresh() -> Iterator[LivePage]:
    with started() as page:
        yield page


def ask(
    page: LivePage, path: str = "", method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """The status, content and headers that a request gets; path: relative to the page's, or absolute."""
    address = urlsplit(page.url)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    connection.request(method, path if path.startswith("/") else f"{address.path}{path}", headers=headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def shown(page: LivePage, revision: int = -1) -> Any:  # noqa: ANN401 - JSON
    status, content, _ = ask(page, f"new?shown={revision}")
    assert status == 200
    return json.loads(content)


def test_the_page_gets_what_is_new_and_only_that(fresh: LivePage) -> None:
    assert [run["state"] for run in shown(fresh)["runs"]] == ["waiting"] * 4
    fresh.write(metrics("proxy", 1), "proxy")
    fresh.write(metrics("proxy", 3), "proxy")
    answer = shown(fresh)
    found = answer["runs"][3]
    assert (found["name"], found["state"], found["timesteps"]) == ("proxy", "training", 3 * STEPS)
    assert found["seconds_left"] == pytest.approx((UPDATES - 3) * 1.02)  # the seconds before its first row do not count
    assert found["figures"][:2] == [3, None]
    assert sum(found["actions"]) == pytest.approx(1, abs=1e-5)
    assert found["curves"][0] == [1, 3]
    assert shown(fresh, answer["revision"]) == {"revision": answer["revision"]}


def test_a_thousand_updates_of_four_runs_are_a_small_answer() -> None:
    with started(until=UPDATES) as page:
        _, content, _ = ask(page, "new?shown=-1")
    assert len(content) < 100_000
    for run in json.loads(content)["runs"]:
        assert run["width"] == 8
        assert {len(curve) for curve in run["curves"]} == {125}


def test_the_button_requests_a_stop(fresh: LivePage) -> None:
    before = shown(fresh)
    assert not before["is_stopping"]
    assert ask(fresh, "stop")[0] == 404  # a link does not
    assert not is_stopping(fresh)
    assert ask(fresh, "stop", "POST", {"Origin": fresh.url.rsplit("/", 2)[0]})[0] == 204
    assert is_stopping(fresh)
    assert shown(fresh, before["revision"])["is_stopping"]


def test_runs_that_nobody_ended_are_finished_if_they_made_all_their_steps(fresh: LivePage) -> None:
    fresh.write(metrics("proxy", UPDATES), "proxy")
    fresh.finish("ground_truth", "failed", "It ended with exit code 1.")
    fresh.close()
    assert [run.state for run in fresh.runs.values()] == ["failed", "stopped", "stopped", "finished"]
    fresh.close()
    fresh.write(metrics("proxy", 1), "proxy")
    with pytest.raises(ConnectionRefusedError):
        ask(fresh)


def test_without_the_token_there_is_nothing(page: LivePage) -> None:
    assert ask(page)[0] == 200
    for path in ("/", "/new?shown=-1", "/stop", "/wrong/new", f"/x{urlsplit(page.url).path[1:]}"):
        for method in ("GET", "POST"):
            status, content, _ = ask(page, path, method)
            assert (status, content) == (404, b""), path


@pytest.mark.parametrize("origin", ["https://example.org", "http://127.0.0.1:1", "null"])
def test_a_page_from_elsewhere_neither_reads_nor_stops_even_if_it_knows_the_token(page: LivePage, origin: str) -> None:
    for path, method in (("", "GET"), ("new?shown=-1", "GET"), ("stop", "POST")):
        status, content, headers = ask(page, path, method, {"Origin": origin})
        assert (status, content) == (403, b"")
        assert "Access-Control-Allow-Origin" not in headers
    assert not is_stopping(page)


def test_a_name_that_was_made_to_lead_here_is_refused(page: LivePage) -> None:
    for host in ("example.org", f"example.org:{page.port}", f"127.0.0.1.example.org:{page.port}"):
        assert ask(page, headers={"Host": host})[0] == 400, host
        assert ask(page, "stop", "POST", {"Host": host, "Origin": f"http://{host}"})[0] == 400, host
    assert not is_stopping(page)
    status, _, headers = ask(page, headers={"Host": f"localhost:{page.port}"})
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_only_this_computer_can_connect_and_each_page_has_a_token_of_its_own(page: LivePage) -> None:
    connections = psutil.Process().net_connections("tcp")
    assert [each.laddr.ip for each in connections if each.laddr.port == page.port and not each.raddr] == ["127.0.0.1"]
    tokens = {
        urlsplit(each.url).path.strip("/")
        for each in (page, LivePage("", {}, StopRequest()), LivePage("", {}, StopRequest()))
    }
    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 22  # 128 bits


def test_where_nobody_may_listen_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socketserver.TCPServer.server_bind", refuse)
    said = "The dashboard cannot listen on 127.0.0.1 (Permission denied): train without it."
    with pytest.raises(UsageError, match=re.escape(said)):
        LivePage("", {"proxy": 1}, StopRequest()).start()
    lines = list[str]()
    with LivePage("", {"proxy": 1}, StopRequest()).opened(lines.append) as page:
        page.write(metrics("proxy", 1), "proxy")
    assert lines == [f"{said} Training goes on without the dashboard."]


def test_an_error_behind_the_page_is_printed_once_and_training_goes_on(
    fresh: LivePage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(LivePage, "answer", lambda page, shown: 1 / 0)
        for _ in range(3):
            with pytest.raises(http.client.RemoteDisconnected):
                ask(fresh, "new?shown=-1")
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("The dashboard failed (ZeroDivisionError: ")
    fresh.write(metrics("proxy", 1), "proxy")
    assert shown(fresh)["runs"][3]["state"] == "training"


def test_clients_without_manners_are_ignored(page: LivePage, capfd: pytest.CaptureFixture[str]) -> None:
    query = f"GET {urlsplit(page.url).path} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n".encode()
    for sent in (b"", b"\x16\x03\x01 this is no HTTP\r\n\r\n", query[:20], query):
        with socket.create_connection(("127.0.0.1", page.port)) as connection:
            # what is sent back meets a connection that was reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(sent)
    assert ask(page)[0] == 200
    assert capfd.readouterr() == ("", "")

"""The server of the dashboard, by real requests: who is let in, what is said, and what it survives."""

import json
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psutil
import pytest

from goodharts.dashboard import Dashboard, page
from goodharts.dashboard.progress import POINTS
from rlparity.errors import UsageError

from .client import Client
from .demo import DEFAULT_MODES, rows


@contextmanager
def started() -> Iterator[Client]:
    dashboard = Dashboard(DEFAULT_MODES, port=0, poll_seconds=0.02)
    dashboard.start()
    yield Client(dashboard)
    dashboard.close()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of a dashboard that stays as it is."""
    with started() as client:
        yield client


@pytest.fixture
def fresh() -> Iterator[Client]:
    with started() as client:
        yield client


def test_the_page_gets_what_is_new_and_only_that(fresh: Client) -> None:
    assert fresh.shown()["headline"]["children"] == "Waiting for the first update"
    fresh.dashboard.update({"mode": "proxy", "update": 1, "updates": 8, "steps_per_second": 1234.4, "seconds_left": 75})
    answer = fresh.shown()
    assert answer["headline"]["children"] == "Training 1 of 4 modes · 1,234 steps/s · about 1 min 15 s left"
    assert fresh.shown(answer["shown"]["data"]) == {"answered": {"data": 1}}


def test_a_thousand_updates_of_four_modes_are_a_small_answer(fresh: Client) -> None:
    for row in rows(1000):
        fresh.dashboard.update(row)
    status, content = fresh.call("poll")
    assert status == 200
    assert len(content) < 100_000
    lines = json.loads(content)["response"]["chart-entropy"]["figure"]["data"]
    assert [line["name"] for line in lines] == DEFAULT_MODES
    assert all(POINTS <= len(line["x"]) <= 2 * POINTS for line in lines)


def test_the_button_requests_a_stop(fresh: Client) -> None:
    assert not fresh.shown()["stop"]["disabled"]
    assert not fresh.dashboard.stop_requested.is_set()
    status, _ = fresh.call("stop-confirmed", {"Origin": f"http://{fresh.host}"})
    assert status in (200, 204)
    assert fresh.dashboard.stop_requested.is_set()
    answer = fresh.shown()
    assert answer["headline"]["children"].startswith("Stopping")
    assert answer["stop"]["disabled"]


def test_without_the_token_there_is_nothing(client: Client) -> None:
    own, _, _ = client.ask(client.path)
    assert own == 200
    for path in ("/", "/_dash-layout", "/_dash-dependencies", "/assets/page.css", f"/x{client.path[1:]}"):
        status, content, _ = client.ask(path)
        assert status == 404, path
        assert b"mode" not in content
    for path in ("/_dash-update-component", "/wrong/_dash-update-component"):
        status, _, _ = client.ask(path, {})
        assert status in (404, 405), path


@pytest.mark.parametrize("origin", ["https://example.org", "http://127.0.0.1:1", "null"])
def test_a_page_from_elsewhere_neither_reads_nor_stops_even_if_it_knows_the_token(client: Client, origin: str) -> None:
    status, content, headers = client.ask(client.path, headers={"Origin": origin})
    assert status == 403
    assert b"Goodharts" not in content
    assert "Access-Control-Allow-Origin" not in headers
    assert client.call("poll", {"Origin": origin})[0] == 403
    assert client.call("stop-confirmed", {"Origin": origin})[0] == 403
    assert not client.dashboard.stop_requested.is_set()


def test_a_name_that_was_made_to_lead_here_is_refused(client: Client) -> None:
    port = client.host.split(":")[1]
    for host in ("example.org", f"example.org:{port}", f"127.0.0.1.example.org:{port}"):
        assert client.ask(client.path, headers={"Host": host})[0] == 400, host
        assert client.call("stop-confirmed", {"Host": host, "Origin": f"http://{host}"})[0] == 400, host
    assert not client.dashboard.stop_requested.is_set()
    status, _, headers = client.ask(client.path, headers={"Host": f"localhost:{port}"})
    assert status == 200
    # No other site may frame the page, and it may load nothing of theirs.
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_only_this_computer_can_connect(client: Client) -> None:
    port = int(client.host.split(":")[1])
    listening = [
        used.laddr.ip for used in psutil.Process().net_connections("tcp") if used.laddr.port == port and not used.raddr
    ]
    assert listening == ["127.0.0.1"]


def test_each_run_has_a_token_of_its_own() -> None:
    first, second = (Dashboard(["proxy"]) for _ in range(2))
    tokens = [urlsplit(dashboard.url).path.strip("/") for dashboard in (first, second)]
    assert tokens[0] != tokens[1]
    assert len(tokens[0]) >= 22  # 128 bits
    first.close()  # though it never started


def test_where_the_port_is_taken_another_one_is_used() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        dashboard = Dashboard(["proxy"], port=taken.getsockname()[1])
        dashboard.start()
        client = Client(dashboard)
        assert not client.host.endswith(f":{taken.getsockname()[1]}")
        assert client.ask(client.path)[0] == 200
        dashboard.close()


def test_where_nobody_may_listen_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(UsageError, match=r"^The dashboard cannot listen on 127\.0\.0\.1 \(Permission denied\)"):
        Dashboard(["proxy"]).start()


def test_without_dash_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "goodharts.dashboard.app")
    monkeypatch.setitem(sys.modules, "dash", None)
    with pytest.raises(UsageError, match=r"^The dashboard needs dash: run `.* 'hackmatrix\[dashboard\]'`"):
        Dashboard(["proxy"]).start()


def test_an_error_behind_the_page_is_printed_once_and_training_goes_on(
    fresh: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        broken.delattr(page, "headline")
        for _ in range(3):
            assert fresh.call("poll")[0] == 500
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("The dashboard failed (AttributeError: ")
    fresh.dashboard.update({"mode": "proxy", "update": 1})
    assert fresh.shown()["headline"]["children"] == "Training 1 of 4 modes"


def test_a_closed_dashboard_takes_whatever_still_comes(fresh: Client) -> None:
    fresh.dashboard.close()
    fresh.dashboard.close()
    fresh.dashboard.update({"mode": "proxy", "update": 1})
    fresh.dashboard.finish("proxy", "Saved.", "finished")
    with pytest.raises(ConnectionRefusedError):
        fresh.ask(fresh.path)


def test_clients_without_manners_are_ignored(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    host, port = client.host.split(":")
    ask = f"GET {client.path} HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode()
    for sent in (b"", b"\x16\x03\x01 this is no HTTP\r\n\r\n", ask[:20], ask):
        with socket.create_connection((host, int(port))) as connection:
            # what is sent back meets a connection that was reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(sent)
    assert client.ask(client.path)[0] == 200
    assert capfd.readouterr() == ("", "")

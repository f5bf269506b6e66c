"""Real requests to a dashboard."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from goodharts.dashboard import Dashboard


class Client:
    """Requests to a dashboard, as its page or anybody else would make them."""

    def __init__(self, dashboard: Dashboard) -> None:
        self.dashboard, address = dashboard, urlsplit(dashboard.url)
        self.host, self.path = address.netloc, address.path

    def ask(
        self, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """The status, content and headers that a request gets; with a body, which is sent as JSON, it is a POST."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        content = None if body is None else json.dumps(body)
        given = {"Content-Type": "application/json", **(headers or {})}
        connection.request("GET" if body is None else "POST", path, content, given)
        answer = connection.getresponse()
        found = answer.status, answer.read(), answer.headers
        connection.close()
        return found

    def body(self, trigger: str, **state: object) -> dict[str, object]:
        """The request of the page when ``trigger`` changes."""
        _, listing, _ = self.ask(f"{self.path}_dash-dependencies")
        (callback,) = (
            found
            for found in json.loads(listing)
            if found["inputs"][0]["id"] == trigger and not found["clientside_function"]
        )
        names = [name.rsplit(".", 1) for name in callback["output"].strip(".").split("...") if "." in name]
        return {
            "output": callback["output"],
            "outputs": [{"id": name, "property": key} for name, key in names],
            "inputs": [{**needed, "value": 1} for needed in callback["inputs"]],
            "state": [{**needed, "value": state.get(needed["id"])} for needed in callback["state"]],
            "changedPropIds": [f"{trigger}.{callback['inputs'][0]['property']}"],
        }

    def call(self, trigger: str, headers: dict[str, str] | None = None, **state: object) -> tuple[int, bytes]:
        """Call back as the page does when ``trigger`` changes."""
        path = f"{self.path}_dash-update-component"
        status, content, _ = self.ask(path, self.body(trigger, **state), headers)
        return status, content

    def shown(self, revision: int | None = None) -> dict[str, Any]:
        """The answer to a page that last saw this revision."""
        status, content = self.call("poll", shown=revision)
        assert status == 200
        answer: dict[str, Any] = json.loads(content)["response"]
        return answer

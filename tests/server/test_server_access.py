"""No handler of ours answers a stranger, and each asks the authorizer."""

from __future__ import annotations

from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from jupyter_clusterbridge.server.routes import HANDLERS, PREFIX

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class DenyAll:
    """An authorizer that refuses and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def is_authorized(self, handler: object, user: object, action: str, resource: str) -> bool:
        self.asked.append((action, resource))
        return False


def registered(app: Any) -> dict[str, type]:
    """Our handlers as the running server routes to them, by address."""
    found = {}
    for rule in app.wildcard_router.rules + app.default_router.rules:
        for inner in getattr(rule.target, "rules", [rule]):
            if getattr(inner.target, "__module__", "").startswith("jupyter_clusterbridge."):
                found[inner.matcher.regex.pattern.rstrip("$")] = inner.target
    return found


def implemented(handler: type) -> list[str]:
    return [method for method in METHODS if method.lower() in vars(handler)]


def status_of(loop: Any, client: Any, url: str, method: str, **options: Any) -> int:
    body = b"{}" if method in ("POST", "PUT", "PATCH") else None
    try:
        answer = loop.run_until_complete(client.fetch(url, method=method, body=body, **options))
        return int(answer.code)
    except HTTPClientError as error:
        return int(error.code)


def test_the_running_server_routes_exactly_to_the_handlers_that_we_list(jp_serverapp: Any) -> None:
    assert {url.split(f"/{PREFIX}/")[1] for url in registered(jp_serverapp.web_app)} == set(HANDLERS)


@pytest.mark.parametrize("method", METHODS)
def test_no_handler_answers_a_request_without_a_token(
    jp_serverapp: Any, http_server_client: Any, jp_asyncio_loop: Any, method: str
) -> None:
    for url in registered(jp_serverapp.web_app):
        status = status_of(jp_asyncio_loop, http_server_client, url + "?path=x.ipynb", method)
        assert status in (403, 405), url


def test_every_method_of_every_handler_asks_the_authorizer(
    jp_serverapp: Any, http_server_client: Any, jp_asyncio_loop: Any, jp_auth_header: Any
) -> None:
    for url, handler in registered(jp_serverapp.web_app).items():
        assert implemented(handler), f"{url} has no method"
        for method in implemented(handler):
            jp_serverapp.web_app.settings["authorizer"] = deny = DenyAll()
            status = status_of(
                jp_asyncio_loop, http_server_client, url + "?path=x.ipynb", method, headers=jp_auth_header
            )
            action = "read" if method in ("GET", "HEAD") else "write"
            assert (status, deny.asked) == (403, [(action, "contents")]), f"{method} {url}"


def test_every_handler_inherits_from_our_base_so_that_failures_have_one_form() -> None:
    from jupyter_clusterbridge.server.base import ClusterBridgeHandler

    assert all(issubclass(handler, ClusterBridgeHandler) for handler in HANDLERS.values())

"""Reading pip's own configuration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_clusterbridge.pin.pip_config import PipSettings, read_pip_settings, without_credentials
from jupyter_clusterbridge.pin.uv import Where, uv_variables


def settings(tmp_path: Path, text: str = "", **variables: str) -> PipSettings:
    """The settings of an environment with this ``pip.conf`` and these variables."""
    (tmp_path / "pip.conf").write_text(text)
    environ = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "etc"), **variables}
    return read_pip_settings(tmp_path, environ)


def test_the_environments_own_file_counts(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "[global]\nindex-url = https://mirror.invalid/simple\nextra-index-url =\n    https://a.invalid\n"
        "    file:///opt/index\nfind_links = /opt/wheels https://b.invalid/links\ncert = /etc/ca.pem\n"
        "[install]\ntrusted-host = mirror.invalid\n",
    )
    assert found.remote_indexes == ("https://mirror.invalid/simple", "https://a.invalid")
    assert found.local_indexes == (Path("/opt/index"),)
    assert found.local_links == (Path("/opt/wheels"),)
    assert found.remote_links == ("https://b.invalid/links",)
    assert found.certificate == "/etc/ca.pem"
    assert found.trusted_hosts == ("mirror.invalid",)


def test_variables_win_over_files_and_the_user_over_the_machine(tmp_path: Path) -> None:
    for folder, name in (("etc", "machine"), ("home/.config", "user")):
        (tmp_path / folder / "pip").mkdir(parents=True)
        (tmp_path / folder / "pip" / "pip.conf").write_text(
            f"[global]\nindex-url = https://{name}.invalid\ncert = {name}.pem\n"
        )
    found = settings(tmp_path, PIP_INDEX_URL="https://variable.invalid", PIP_DEFAULT_TIMEOUT="20")
    assert found.index_url == "https://variable.invalid"
    assert found.certificate == "user.pem"
    assert found.timeout_s == 20


def test_the_null_device_switches_files_off(tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://x.invalid\n"
    assert settings(tmp_path, text, PIP_CONFIG_FILE="/dev/null") == PipSettings()


def test_a_broken_file_is_passed_over(tmp_path: Path) -> None:
    assert settings(tmp_path, "index-url without a section").index_url is None


def test_it_agrees_with_pip_itself(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    text = "[global]\nextra-index-url = https://a.invalid\n    https://b.invalid\nno-index = true\n"
    (tmp_path / "pip.conf").write_text(text)
    environ = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"),
        "PIP_FIND_LINKS": "/x",
        "PATH": "",
    }
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout
    found = read_pip_settings(tmp_path, environ)
    assert found.no_index
    assert ":env:.find-links='/x'" in said
    assert found.find_links == ("/x",)
    assert "https://b.invalid" in said


def test_the_resolver_gets_what_is_remote_and_none_of_its_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX", "https://uv.invalid")
    monkeypatch.setenv("UV_CACHE_DIR", "/cache")
    found = settings(
        tmp_path,
        PIP_INDEX_URL="https://p.invalid",
        PIP_EXTRA_INDEX_URL="https://e.invalid file:///opt/index",
        PIP_CERT="/ca.pem",
    )
    primary, extra = uv_variables(found, Where.PRIMARY), uv_variables(found, Where.EXTRA)
    assert (primary["UV_DEFAULT_INDEX"], primary.get("UV_INDEX")) == ("https://p.invalid", None)
    assert (extra["UV_DEFAULT_INDEX"], extra.get("UV_INDEX")) == ("https://e.invalid", None)
    assert primary["SSL_CERT_FILE"] == "/ca.pem"
    assert primary["UV_CACHE_DIR"] == "/cache"


def test_pips_default_index_is_the_resolvers_default_index() -> None:
    environ = uv_variables(PipSettings(extra_index_urls=("https://e.invalid",)), Where.ALL)
    assert "UV_DEFAULT_INDEX" not in environ
    assert environ["UV_INDEX"] == "https://e.invalid"
    assert uv_variables(PipSettings(no_index=True), Where.ALL)["UV_NO_INDEX"] == "1"


@pytest.mark.parametrize("url", ["https://u:p@h.invalid/a", "https://h.invalid/a?t=1", "https://h.invalid/a#f"])
def test_an_address_is_written_without_its_secrets(url: str) -> None:
    assert without_credentials(url) == "https://h.invalid/a"

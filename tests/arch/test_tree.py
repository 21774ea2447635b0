"""What must not stand anywhere in the tree, and sizes that keep files readable."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

TEXT = {
    ".py",
    ".ts",
    ".tsx",
    ".md",
    ".json",
    ".toml",
    ".yml",
    ".yaml",
    ".txt",
    ".lock",
    ".ipynb",
    ".sh",
    ".cfg",
    "",
}


def tracked(repository: Path) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return [repository / name for name in names if name and (repository / name).is_file()]


def index_hosts() -> set[str]:
    """Hosts of the package indexes, as the clients themselves name them, so that none stands here."""
    from pip._internal.models.index import PyPI

    urls = [PyPI.simple_url, f"https://{PyPI.file_storage_domain}/"]
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=False, capture_output=True, text=True
    ).stdout
    urls += re.findall(r"https?://[^\s'\"]+", listed)
    if shutil.which("npm"):
        urls.append(subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True).stdout)
    for source in (*Path("/etc/apt/sources.list.d").glob("*.sources"), Path("/etc/apt/sources.list")):
        if source.is_file():
            urls += re.findall(r"https?://[^\s]+", source.read_text(errors="replace"))
    hosts = {urlsplit(url.strip()).hostname for url in urls}
    return {host for host in hosts if host and host != "localhost" and not host.startswith("127.")}


def test_no_host_of_a_package_index_stands_in_the_tree(repository: Path) -> None:
    hosts = index_hosts()
    assert hosts
    pattern = re.compile("|".join(re.escape(host) for host in sorted(hosts)))
    found = [
        f"{path.relative_to(repository)}: {match[0]}"
        for path in tracked(repository)
        if (match := pattern.search(path.read_bytes().decode("utf-8", "replace")))
    ]
    assert found == []


def test_no_path_of_a_checkout_stands_in_the_tree(repository: Path) -> None:
    pattern = re.compile(r"\.\./shared/|" + re.escape(f"{repository}/"))
    found = [
        str(path.relative_to(repository))
        for path in tracked(repository)
        if path.suffix in TEXT
        and path != Path(__file__).resolve()
        and pattern.search(path.read_text(errors="replace"))
    ]
    assert found == []


def test_no_source_file_is_longer_than_one_sitting(repository: Path) -> None:
    long = [
        f"{path.relative_to(repository)} ({lines})"
        for path in tracked(repository)
        if path.suffix in {".py", ".ts", ".tsx"} and (lines := len(path.read_text().splitlines())) > 500
    ]
    assert long == []


def test_scripts_can_be_executed(repository: Path) -> None:
    scripts = [
        repository / ".ci/run",
        *(p for p in (repository / "dev").rglob("*") if p.is_file() and p.suffix == ""),
    ]
    assert [str(p) for p in scripts if not p.stat().st_mode & 0o100] == []
    assert all(p.read_text().startswith("#!") for p in scripts)

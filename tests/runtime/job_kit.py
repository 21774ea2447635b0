"""Real jobs for tests: notebooks and bundles written, the supervisor run as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
import psutil
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from jupyter_clusterbridge.model.bundle import BundleManifest
from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.lock import BaseImage, Lock
from jupyter_clusterbridge.model.record import FileRecord
from jupyter_clusterbridge.model.run import GuardPolicy, RunStatus
from jupyter_clusterbridge.runtime.bundle import seal
from jupyter_clusterbridge.runtime.status import read_status

NO_DIGEST = "sha256:" + "0" * 64


def write_notebook(path: Path, *sources: str) -> Path:
    """A notebook whose cell 0 is text and whose code cells follow from index 1."""
    cells = [new_markdown_cell("# A job"), *(new_code_cell(source) for source in sources)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def write_bundle(
    folder: Path,
    *sources: str,
    files: Mapping[str, bytes] | None = None,
    data: Sequence[FileRecord] = (),
    artifacts: Sequence[str] = (),
    guards: Mapping[str, GuardPolicy] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Path:
    """A sealed bundle with everything that a supervisor reads."""
    folder.mkdir()
    write_notebook(folder / "notebook.ipynb", *sources)
    for name, content in (files or {}).items():
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_bytes(content)
    digests = dict.fromkeys(("code", "env", "data", "order", "seeds"), NO_DIGEST)
    manifest = BundleManifest(
        name="training",
        written_by="0",
        identity=Identity.of(**digests),
        lock=Lock("3.11", "linux/amd64", (), dict(variables or {})),
        base_image=BaseImage("python:3.11-slim"),
        data=tuple(data),
        artifacts=tuple(artifacts),
        guards=dict(guards or {}),
    )
    seal(folder, manifest)
    return folder


class RunningJob:
    """A supervisor's process and its run directory."""

    def __init__(self, arguments: Sequence[str], run_dir: Path, env: Mapping[str, str] | None = None) -> None:
        self.run_dir = run_dir
        command = [sys.executable, "-m", "jupyter_clusterbridge.runtime", *arguments, "--run-dir", str(run_dir)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            text=True,
        )
        self.output = ""

    def wait(self, timeout_s: float = 60) -> int:
        """Wait for the end; returns the exit code."""
        self.output, _ = self.process.communicate(timeout=timeout_s)
        return self.process.returncode

    def status(self) -> RunStatus:
        return read_status(self.run_dir)

    def wait_for(self, condition: Callable[[], object], timeout_s: float = 40) -> None:
        """Wait until something is the case while the job runs."""
        end = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            assert self.process.poll() is None, f"the job has ended: {self.process.communicate()[0]}"
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def executed(self) -> nbformat.NotebookNode:
        """The notebook on disk, validated."""
        return read_valid(self.run_dir / "executed.ipynb")

    def text_of(self, cell_index: int) -> str:
        """All that a cell has printed so far, as it stands on disk."""
        outputs = self.executed().cells[cell_index].outputs
        return "".join(output.get("text", "") for output in outputs)

    def log(self) -> str:
        return (self.run_dir / "supervisor.log").read_text("utf-8")


def read_valid(path: Path) -> nbformat.NotebookNode:
    """Read and validate a notebook strictly."""
    content = json.loads(path.read_bytes())
    node = nbformat.from_dict(content)
    nbformat.validate(node)
    return nbformat.v4.rwbase.rejoin_lines(node)


@contextlib.contextmanager
def notebook_job(
    tmp_path: Path, *sources: str, arguments: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[RunningJob]:
    """A job from cells, without a bundle; killed at the end of the block."""
    notebook = write_notebook(tmp_path / "training.ipynb", *sources)
    job = RunningJob(["--notebook", str(notebook), "--role", "job", *arguments], tmp_path / "run", env)
    try:
        yield job
    finally:
        if job.process.poll() is None:
            job.kill()
        if job.process.stdout is not None:
            job.process.stdout.close()


@contextlib.contextmanager
def bundle_job(
    tmp_path: Path, bundle: Path, arguments: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[RunningJob]:
    """A job from a bundle; killed at the end of the block."""
    job = RunningJob(["--bundle", str(bundle), *arguments], tmp_path / "run", env)
    try:
        yield job
    finally:
        if job.process.poll() is None:
            job.kill()
        if job.process.stdout is not None:
            job.process.stdout.close()


def is_running(pid: int) -> bool:
    """Whether a process runs, a dead one that nobody waited for not counted."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

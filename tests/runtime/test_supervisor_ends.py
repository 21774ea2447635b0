"""How a job ends: each on a real supervisor with a real kernel."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest
from job_kit import bundle_job, notebook_job, read_valid, write_bundle, write_notebook

from jupyter_clusterbridge.model.canonical import digest_bytes
from jupyter_clusterbridge.model.record import FileRecord
from jupyter_clusterbridge.model.run import JobExit, RunState


def test_a_job_whose_cells_all_run_succeeds_and_leaves_everything(tmp_path):
    bundle = write_bundle(
        tmp_path / "bundle",
        "import helper, os\nprint(helper.WORD, os.environ['OMP_NUM_THREADS'])",
        "import clusterbridge as cb\ncb.metric('accuracy', 0.75, step=3)",
        "open('model.bin', 'wb').write(b'weights')\ncb.artifact('model.bin')",
        files={"helper.py": b"WORD = 'hello'"},
        variables={"OMP_NUM_THREADS": "1"},
    )
    with bundle_job(tmp_path, bundle) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    status = job.status()
    assert (status.state, status.exit_code, status.cell_index) == (RunState.SUCCEEDED, 0, 3)
    assert job.text_of(1) == "hello 1\n"
    metrics = json.loads((job.run_dir / "metrics.json").read_bytes())
    assert metrics["metrics"] == [{"name": "accuracy", "step": 3, "value": 0.75}]
    assert (job.run_dir / "artifacts" / "model.bin").read_bytes() == b"weights"
    record = json.loads((job.run_dir / "record" / "record.json").read_bytes())
    assert [cell["status"] for cell in record["cells"]] == ["ok", "ok", "ok"]
    assert (job.run_dir / "guards.jsonl").read_bytes() == b""
    assert "hello 1" in job.output
    assert list(bundle.rglob("model.bin")) == []


ENDS = {
    "an exception": (
        ["x = 1", "raise ValueError('no data')", "y = 2"],
        JobExit.CELL_ERROR,
        2,
        "ValueError: no data",
    ),
    "typed input": (["name = input('who? ')"], JobExit.CELL_ERROR, 1, "typed input"),
    "sys.exit(0) before the last cell": (
        ["import sys\nsys.exit(0)", "x = 1"],
        JobExit.EARLY_EXIT,
        1,
        "sys.exit(0); 1 code cell after it did not run",
    ),
    "exit() before the last cell": (["exit()", "x = 1"], JobExit.EARLY_EXIT, 1, "exit()"),
    "os._exit(0)": (["import os\nos._exit(0)", "x = 1"], JobExit.EARLY_EXIT, 1, "exit code 0"),
    "a killed kernel": (
        ["import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"],
        JobExit.KERNEL_DIED,
        1,
        "SIGKILL",
    ),
    "a crash": (["import os\nos.abort()"], JobExit.KERNEL_DIED, 1, "SIGABRT"),
    "a failing shell escape": (["!false", "x = 1"], JobExit.SHELL_FAILED, 1, "exit code 1: false"),
    "the first of several": (["!true\n!exit 7\n!exit 8\nx = 1"], JobExit.SHELL_FAILED, 1, "exit code 7: exit 7"),
    "a failing assigned escape": (["x = !ls /nowhere-at-all"], JobExit.SHELL_FAILED, 1, "ls /nowhere-at-all"),
    "a failing %%bash": (["%%bash\necho one\nexit 4"], JobExit.SHELL_FAILED, 1, "exit code 4: %%bash"),
    "a script that raises": (
        ["open('s.py', 'w').write('1 / 0')", "%run s.py", "x = 1"],
        JobExit.CELL_ERROR,
        2,
        "ZeroDivisionError",
    ),
    "a script that exits with a failure": (
        ["open('s.py', 'w').write('import sys; sys.exit(3)')", "%run s.py", "x = 1"],
        JobExit.CELL_ERROR,
        2,
        "SystemExit: 3",
    ),
    "an exception below %%capture": (["%%capture\n1 / 0", "x = 1"], JobExit.CELL_ERROR, 1, "ZeroDivisionError"),
    "an artifact declared after a cell within the cell": (
        ["get_ipython().run_cell('y = 1')\nimport clusterbridge as cb\ncb.artifact('out/late.bin')"],
        JobExit.ARTIFACT_MISSING,
        1,
        "out/late.bin is missing",
    ),
    "a missing artifact": (
        ["import clusterbridge as cb\ncb.artifact('out/model.bin')"],
        JobExit.ARTIFACT_MISSING,
        1,
        "out/model.bin is missing",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_end_that_is_no_success_has_its_own_code(tmp_path, name):
    sources, code, cell_index, said = ENDS[name]
    with notebook_job(tmp_path, *sources) as job:
        assert job.wait() == code, job.output
    status = job.status()
    assert (status.state, status.exit_code, status.cell_index) == (RunState.FAILED, code, cell_index)
    assert said in status.reason
    assert "Traceback (most recent call last):\n  File" not in job.output
    assert (job.run_dir / "metrics.json").exists()
    assert (job.run_dir / "record" / "record.json").exists()
    job.executed()


def test_what_only_looks_like_a_failure_succeeds(tmp_path):
    sources = [
        "!false || true",
        "!false\nif _exit_code != 0:\n    print('handled')",
        "def f():\n    word = 'inner'\n    !test {word} = inner\n    return word\nf()",
        "x = !printf 'a\\nb\\n'\nprint(list(x), len(x.n))",
        "",
        "import sys\nsys.exit(0)",
        "  \n",
    ]
    with notebook_job(tmp_path, *sources) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert job.status().state is RunState.SUCCEEDED
    assert job.text_of(2) == "handled\n"
    assert job.text_of(4) == "['a', 'b'] 3\n"


def test_a_notebook_may_end_with_exit(tmp_path):
    with notebook_job(tmp_path, "x = 1", "exit()") as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output


def test_declared_data_is_linked_and_checked_before_the_kernel_starts(tmp_path):
    content = b"a,b\n1,2\n"
    entry = FileRecord("data/train.csv", len(content), digest_bytes(content))
    bundle = write_bundle(tmp_path / "bundle", "print(open('data/train.csv').read())", data=[entry])
    (tmp_path / "store" / "data").mkdir(parents=True)
    (tmp_path / "store" / "data" / "train.csv").write_bytes(content)
    with bundle_job(tmp_path, bundle, ["--data-dir", str(tmp_path / "store")]) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert job.text_of(1).startswith("a,b\n1,2\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "is missing"), (b"a,b\n1,9\n", "has another content"), (b"longer than it was", "bytes here")],
)
def test_data_that_is_not_the_declared_one_ends_the_job_at_once(tmp_path, content, said):
    declared = b"a,b\n1,2\n"
    entry = FileRecord("train.csv", len(declared), digest_bytes(declared))
    bundle = write_bundle(tmp_path / "bundle", "print('started')", data=[entry])
    store = tmp_path / "store"
    store.mkdir()
    if content is not None:
        (store / "train.csv").write_bytes(content)
    with bundle_job(tmp_path, bundle, ["--data-dir", str(store)]) as job:
        assert job.wait() == JobExit.DATA_MISMATCH, job.output
    assert said in job.status().reason
    assert job.executed().cells[1].execution_count is None


def test_a_declared_artifact_of_the_bundle_must_exist(tmp_path):
    bundle = write_bundle(tmp_path / "bundle", "x = 1", artifacts=["weights/model.pt"])
    with bundle_job(tmp_path, bundle) as job:
        assert job.wait() == JobExit.ARTIFACT_MISSING, job.output
    assert "weights/model.pt" in job.status().reason


def test_a_modified_bundle_is_refused_with_one_message(tmp_path):
    bundle = write_bundle(tmp_path / "bundle", "x = 1", files={"helper.py": b"A = 1"})
    (bundle / "project" / "helper.py").write_bytes(b"A = 2")
    with bundle_job(tmp_path, bundle) as job:
        assert job.wait() == 20, job.output
    assert "Traceback" not in job.output
    assert job.status().state is RunState.FAILED


def test_a_run_directory_that_cannot_be_made_is_one_message(tmp_path):
    (tmp_path / "run").write_text("a file is in the way")
    with notebook_job(tmp_path, "x = 1") as job:
        assert job.wait() == 15
    assert "Traceback" not in job.output
    assert "cannot be written" in job.output


def test_a_disk_that_fills_up_ends_with_one_message_and_a_valid_notebook(tmp_path):
    # a limit on the size of any file stands in for a full disk; the error is handled as one
    notebook = write_notebook(tmp_path / "training.ipynb", "print('small')", "print('x' * 300_000)")
    command = [sys.executable, "-m", "jupyter_clusterbridge.runtime", "--notebook", str(notebook)]
    done = subprocess.run(
        [*command, "--run-dir", str(tmp_path / "run")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == JobExit.INTERNAL
    assert "no space is left on the disk" in done.stderr
    assert "Traceback" not in done.stderr
    assert read_valid(tmp_path / "run" / "executed.ipynb").cells[1].outputs[0].text == "small\n"
    assert list((tmp_path / "run").glob(".executed*")) == []

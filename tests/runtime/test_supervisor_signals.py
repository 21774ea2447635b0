"""Signals, kills and time limits, on real processes."""

from __future__ import annotations

import os
import random
import signal
import time

from job_kit import is_running, notebook_job, read_valid

from jupyter_clusterbridge.model.run import JobExit, RunState

LONG = "print('began', flush=True)\nimport time\nfor _ in range(600):\n    time.sleep(0.1)"


def _begun(job, cell_index=1):
    return (job.run_dir / "executed.ipynb").exists() and "began" in job.text_of(cell_index)


def test_sigterm_interrupts_the_cell_and_keeps_what_it_printed(tmp_path):
    source = LONG + "\nprint('never')"
    wrapped = (
        "try:\n" + "".join(f"    {line}\n" for line in source.split("\n")) + "finally:\n    print('cleaned up')"
    )
    with notebook_job(tmp_path, wrapped, "print('next')") as job:
        job.wait_for(lambda: _begun(job))
        job.process.send_signal(signal.SIGTERM)
        assert job.wait() == JobExit.CANCELLED, job.output
    status = job.status()
    assert (status.state, status.exit_code, status.cell_index) == (RunState.CANCELLED, 143, 1)
    assert "SIGTERM" in status.reason
    assert "cleaned up" in job.text_of(1)
    assert "never" not in job.text_of(1)
    assert job.executed().cells[2].execution_count is None
    assert (job.run_dir / "record" / "record.json").exists()


def test_a_handler_of_the_notebook_hears_sigterm_and_ends_the_cell_in_order(tmp_path):
    source = (
        "import signal, time\n"
        "stop = []\n"
        "signal.signal(signal.SIGTERM, lambda *_: stop.append(1))\n"
        "print('began', flush=True)\n"
        "while not stop:\n    time.sleep(0.05)\n"
        "open('checkpoint.bin', 'w').write('saved')\nprint('saved')"
    )
    with notebook_job(tmp_path, source, "print('next')") as job:
        job.wait_for(lambda: _begun(job))
        job.process.send_signal(signal.SIGTERM)
        assert job.wait() == JobExit.CANCELLED, job.output
    assert (tmp_path / "checkpoint.bin").read_text() == "saved"
    assert "saved" in job.text_of(1)
    assert job.executed().cells[2].execution_count is None


def test_a_cell_that_does_not_end_in_its_grace_time_is_killed(tmp_path):
    source = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LONG
    with notebook_job(tmp_path, source, arguments=["--grace", "1s"]) as job:
        job.wait_for(lambda: _begun(job))
        started = time.monotonic()
        job.process.send_signal(signal.SIGTERM)
        assert job.wait() == JobExit.CANCELLED, job.output
    assert time.monotonic() - started < 20
    assert job.status().state is RunState.CANCELLED
    assert "began" in job.text_of(1)


def test_a_signal_before_the_first_cell_cancels_too(tmp_path):
    with notebook_job(tmp_path, "print('ran')") as job:
        job.wait_for(lambda: (job.run_dir / "status.json").exists())
        job.process.send_signal(signal.SIGINT)
        assert job.wait() == JobExit.CANCELLED, job.output
    assert job.status().state is RunState.CANCELLED


def test_the_time_limit_ends_the_job_as_timed_out(tmp_path):
    with notebook_job(tmp_path, LONG, arguments=["--time-limit", "4s", "--grace", "2s"]) as job:
        assert job.wait() == JobExit.TIMED_OUT, job.output
    status = job.status()
    assert (status.state, status.exit_code) == (RunState.TIMED_OUT, 46)
    assert "4 s" in status.reason


def test_after_kill_9_of_the_supervisor_nothing_lives_on_and_the_status_is_true(tmp_path):
    source = (
        "import os, subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "orphan = ['sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $!']\n"
        "orphan = int(subprocess.check_output(orphan, start_new_session=True))\n"
        "print('pids', os.getpid(), child.pid, orphan, flush=True)\n" + LONG
    )
    with notebook_job(tmp_path, "x = 1\nprint('first')", source) as job:
        job.wait_for(lambda: _begun(job, 2))
        pids = [int(word) for word in job.text_of(2).split("pids ")[1].split("\n")[0].split()]
        assert all(is_running(pid) for pid in pids)
        assert job.status().state is RunState.RUNNING
        job.kill()
    end = time.monotonic() + 15
    while any(is_running(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert [pid for pid in pids if is_running(pid)] == []
    notebook = job.executed()
    assert notebook.cells[1].outputs[0].text == "first\n"
    status = job.status()
    assert (status.state, status.exit_code, status.cell_index) == (RunState.FAILED, 48, 2)
    assert status == job.status()


def test_the_notebook_on_disk_is_valid_whenever_the_supervisor_is_killed(tmp_path):
    source = (
        "import time\nfrom IPython.display import display\n"
        "print('began')\n"
        "for number in range(400):\n"
        "    print('line', number, '\\r' if number % 3 else '', flush=True)\n"
        "    display({'text/plain': number, 'application/json': {'x': float('nan')}}, raw=True)\n"
        "    time.sleep(0.01)"
    )
    with notebook_job(tmp_path, source, source, LONG) as job:
        target = job.run_dir / "executed.ipynb"
        job.wait_for(target.exists)
        end = time.monotonic() + random.uniform(2, 7)
        looked = 0
        while time.monotonic() < end:
            read_valid(target)
            looked += 1
            time.sleep(0.01)
        job.kill()
    assert looked > 10
    job.executed()


def test_background_processes_end_with_the_job(tmp_path):
    source = "import subprocess\nprint(subprocess.Popen(['sleep', '600'], start_new_session=True).pid)"
    with notebook_job(tmp_path, source) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert not is_running(int(job.text_of(1)))


def test_a_worker_pool_can_still_be_terminated(tmp_path):
    source = (
        "import multiprocessing as mp, time\n"
        "process = mp.get_context('fork').Process(target=time.sleep, args=(600,))\n"
        "process.start(); time.sleep(0.3); process.terminate(); process.join(5)\n"
        "print(process.exitcode)"
    )
    with notebook_job(tmp_path, source) as job:
        assert job.wait() == JobExit.SUCCEEDED, job.output
    assert job.text_of(1) == f"{-signal.SIGTERM}\n"


def test_a_second_supervisor_does_not_take_a_folder_in_use(tmp_path):
    with notebook_job(tmp_path, LONG) as job:
        job.wait_for(lambda: _begun(job))
        with notebook_job(tmp_path, "x = 1") as second:
            assert second.wait() == 15
            assert "a job is running" in second.output
        assert job.process.poll() is None
        assert job.status().supervisor_pid == job.process.pid
        assert os.path.exists(job.run_dir / "executed.ipynb")

"""Runs one job from the first status to the last: the process that owns the kernel."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from nbclient.exceptions import DeadKernelError

from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.run import JobExit
from jupyter_clusterbridge.runtime.closing import close_run
from jupyter_clusterbridge.runtime.exits import End, JobEnded, kernel_died
from jupyter_clusterbridge.runtime.job import Job
from jupyter_clusterbridge.runtime.judge import Judge
from jupyter_clusterbridge.runtime.kernel_process import KernelProcess
from jupyter_clusterbridge.runtime.memory import MemoryKills
from jupyter_clusterbridge.runtime.notebook import EXECUTED_FILE, CellRunner, LiveNotebook
from jupyter_clusterbridge.runtime.watch import Watch
from jupyter_clusterbridge.runtime.work import prepare_work

T = TypeVar("T")
_IOPUB_TIMEOUT_S = 30
_KILL_SLACK_S = 10.0


class Supervisor:
    """One job. Made and run once.

    Args:
        job: what to run; its run directory exists and is ours.
        log: takes one line of text.
    """

    def __init__(self, job: Job, log: Callable[[str], None]) -> None:
        self._job = job
        self._log = log
        self._memory = MemoryKills()
        self._judge = Judge(job.run_dir, job.record_dir, self._memory)
        self._live: LiveNotebook | None = None
        self._kernel: KernelProcess | None = None
        self._watch: Watch | None = None
        self._work = job.workdir
        self._stopping: End | None = None
        self._killed = False
        self._cell: int | None = None
        self._main: asyncio.Task[End] | None = None

    async def run(self) -> End:
        """Run the job, write all that it leaves except the final status, and return its end.

        Raises:
            ClusterBridgeError: the notebook or the run directory is unusable.
        """
        loop = asyncio.get_running_loop()
        self._main = asyncio.ensure_future(self._run_notebook())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal, number)
        if self._job.time_limit_s is not None:
            loop.call_later(self._job.time_limit_s, self._on_time_limit, self._job.time_limit_s)
        try:
            end = await self._main
        except JobEnded as ended:
            end = ended.end
        except asyncio.CancelledError:
            end = self._stopping or End(JobExit.INTERNAL, "the supervisor was cancelled")
        finally:
            await self._close_kernel()
        return await _in_thread(lambda: self._close(end))

    def stop(self, end: End) -> None:
        """Ask for the end of the job: the notebook hears SIGTERM and has its grace time; asked twice, none."""
        loop = asyncio.get_running_loop()
        if self._stopping is not None:
            self._log("asked to stop again: no more grace time")
            self._kill()
            return
        self._stopping = end
        self._log(f"stopping: {end.reason}")
        if self._cell is None or self._kernel is None:
            if self._main is not None:
                self._main.cancel()
            return
        self._kernel.signal(signal.SIGTERM)
        loop.call_later(self._job.grace_s, self._kill)

    def _on_signal(self, number: int) -> None:
        name = signal.Signals(number).name
        self.stop(End(JobExit.CANCELLED, f"cancelled: the job was asked to stop ({name})", cell_index=self._cell))

    def _on_time_limit(self, limit_s: float) -> None:
        if self._stopping is None:
            self.stop(End(JobExit.TIMED_OUT, f"the time limit of {limit_s:g} s has passed", cell_index=self._cell))

    def _kill(self) -> None:
        if self._killed or self._main is None or self._main.done():
            return
        self._killed = True
        self._log("the grace time is over: the kernel is killed")
        if self._kernel is not None:
            self._kernel.signal(signal.SIGKILL)
        asyncio.get_running_loop().call_later(_KILL_SLACK_S, self._main.cancel)

    async def _run_notebook(self) -> End:
        job = self._job
        live = self._live = await _in_thread(lambda: LiveNotebook(job.notebook, job.run_dir / EXECUTED_FILE))
        live.save()
        work = self._work = await self._prepare_work()
        kernel = self._kernel = KernelProcess(job, work, self._log)
        client = await kernel.start()
        runner = _runner(live, kernel)
        info = await client.kernel_info(reply=True, timeout=60)
        live.node.metadata["language_info"] = info["content"]["language_info"]
        self._watch = Watch(job, live, kernel, self.stop, self._log)
        watching = asyncio.ensure_future(self._watch.run())
        try:
            return await self._run_cells(live, runner)
        finally:
            watching.cancel()
            runner.set_widgets_metadata()

    async def _prepare_work(self) -> Any:
        job = self._job
        if job.bundle is None or job.manifest is None:
            return job.workdir
        bundle, manifest = job.bundle, job.manifest
        return await _in_thread(lambda: prepare_work(bundle, manifest, job.run_dir, job.data_dir, self._log))

    async def _run_cells(self, live: LiveNotebook, runner: CellRunner) -> End:
        todo = [cell for cell in live.cells if cell.kind == "code" and cell.source.strip()]
        for number, cell in enumerate(todo, start=1):
            left = len(todo) - number
            self._log(f"cell {cell.index} ({number} of {len(todo)})")
            reply = await self._run_cell(live, runner, cell.index, cell.id, left)
            if self._stopping is not None:
                raise JobEnded(self._stopping)
            end = self._judge.cell(live.node.cells[cell.index], cell.index, reply, left, runner.shown_error)
            if end is not None:
                raise JobEnded(end)
        return End(
            JobExit.SUCCEEDED, f"all {len(todo)} code cells ran", cell_index=todo[-1].index if todo else None
        )

    async def _run_cell(
        self, live: LiveNotebook, runner: CellRunner, index: int, cell_id: str, left: int
    ) -> dict[str, Any]:
        assert self._watch is not None
        assert self._kernel is not None
        assert self._kernel.client is not None
        self._cell = index
        self._watch.begin_cell(index)
        self._kernel.client.cell_id = cell_id
        runner.begin_cell()
        try:
            await runner.async_execute_cell(live.node.cells[index], index)
        except DeadKernelError:
            if self._stopping is not None:
                raise JobEnded(self._stopping) from None
            code = await self._kernel.wait_dead()
            raise JobEnded(kernel_died(index, code, memory=self._memory.moved(), left=left)) from None
        finally:
            self._cell = None
            self._watch.end_cell()
            live.dirty = True
            self._watch.save(interval_s=0.0)
        return runner.reply

    async def _close_kernel(self) -> None:
        if self._kernel is not None:
            await self._kernel.stop(now=self._killed)

    def _close(self, end: End) -> End:
        if end.step is None and self._watch is not None:
            end = End(end.code, end.reason, end.guard, self._watch.step(), end.cell_index)
        if self._live is not None:
            try:
                self._live.save()
            except ClusterBridgeError as error:
                self._log(f"the executed notebook could not be saved: {error}")
                if end.code == JobExit.SUCCEEDED:
                    end = End(
                        JobExit.INTERNAL, f"the executed notebook could not be saved: {error}", step=end.step
                    )
        return close_run(self._job, self._work, end, self._log)


def _runner(live: LiveNotebook, kernel: KernelProcess) -> CellRunner:
    runner = CellRunner(
        live,
        km=kernel.manager,
        allow_errors=True,
        timeout=None,
        iopub_timeout=_IOPUB_TIMEOUT_S,
        # a cell that is skipped without a word would be a green end that was not earned
        skip_cells_with_tag="",
    )
    runner.kc = kernel.client
    return runner


async def _in_thread(action: Callable[[], T]) -> T:
    """Run blocking work so that signals are still heard; a cancelled caller does not wait for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, error = None, None
        try:
            result = action()
        except BaseException as caught:
            error = caught
        loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, daemon=True).start()
    return await future

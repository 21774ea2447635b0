"""The main job on the example: record in a live kernel, export, run on the local engine, compare."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from live import LiveNotebook

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "train_classifier.ipynb"
CLUSTERBRIDGE = [sys.executable, "-m", "jupyter_clusterbridge"]


def step(title: str) -> None:
    """Print a heading."""
    print(f"\n== {title}", flush=True)


def command(*arguments: str, expect: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """Run a command with JSON output and return the document; stop the demo on another exit code."""
    shown = " ".join(arguments)
    print(f"$ clusterbridge {shown}", flush=True)
    result = subprocess.run([*CLUSTERBRIDGE, *arguments, "--format", "json"], stdout=subprocess.PIPE, text=True)
    if result.returncode not in expect:
        print(result.stdout)
        sys.exit(f"demo: 'clusterbridge {shown}' ended with exit code {result.returncode}")
    return dict(json.loads(result.stdout))


def main(folder: Path) -> int:
    """Run the steps in a fresh folder and return the exit code of compare."""
    began = time.monotonic()
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    notebook = folder / EXAMPLE.name
    shutil.copy(EXAMPLE, notebook)

    step("the notebook runs in a live kernel, with %load_ext clusterbridge in its first cell")
    with LiveNotebook(notebook) as live:
        live.run_all()
        print(live.execute("%clusterbridge status"))

    step("export: environment, data and baseline become a bundle")
    bundle = folder / "bundle"
    command("export", str(notebook), "-o", str(bundle))

    step("run: a fresh environment from the lock, the supervisor, the guards")
    run = folder / "run"
    command("run", str(bundle), "--out", str(run))

    step("compare: is it still the same model?")
    comparison = command("compare", str(bundle), str(run), expect=(0, 3, 4))
    report(comparison, bundle, run, time.monotonic() - began)
    return {"same": 0, "different": 3}.get(comparison["verdict"], 4)


def report(comparison: dict[str, Any], bundle: Path, run: Path, seconds: float) -> None:
    """Print the verdict as a short table, and where everything lies."""
    path = run / "verdict.json"
    path.write_text(json.dumps(comparison, indent=2, sort_keys=True) + "\n")
    print(f"\n  verdict   {comparison['verdict'].upper()}")
    print(f"            {comparison['summary']}")
    first = comparison["first_difference"]
    if first is not None:
        print(f"  first     {first['link']}: {first['where']}: {first['baseline']} -> {first['run']}")
    print(f"  bundle    {bundle}\n  run       {run}\n  report    {path}\n  time      {seconds:.0f} s")
    docker = engine("docker")
    if docker["usable"]:
        print(f"\nDocker is here ({docker['reason']}). Run the same bundle in it with:")
        print(f"  clusterbridge run {bundle} --engine docker --out {run}-docker")
        print(f"  clusterbridge compare {run} {run}-docker")


def engine(name: str) -> dict[str, Any]:
    """What ``clusterbridge engines`` says of one engine."""
    engines = command("engines")["engines"]
    return dict(next(entry for entry in engines if entry["name"] == name))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

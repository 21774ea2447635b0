"""What the recorder says of scripted notebook sessions, against the right answer written down beside each.

    python benchmarks/state [--only NAME ...] [--list] [--json] [--write-docs]

Every session runs in a kernel of its own over the Jupyter protocol; the saved file is judged as
``clusterbridge check`` judges it. Recall counts every item of the written answers (a diverged, edited or never run
cell, an unsafe cell, a kind of intervention, a location with its cell in a reason); a false alarm is anything that
the tool says beyond them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import sessions
from harness import SESSIONS, Session
from judge import Result, play
from kernels import Zygote
from table import as_json, lines, write_docs


def main() -> int:
    """Run the benchmark; the exit code says whether all were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks/state", description="Recall and false alarms of the recorder."
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="sessions or groups, also a part of a name")
    parser.add_argument("--list", action="store_true", help="print the sessions and leave")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--write-docs", action="store_true", help="write the result into docs/state-benchmark.md")
    options = parser.parse_args()
    for module in pkgutil.iter_modules(sessions.__path__):
        importlib.import_module(f"sessions.{module.name}")
    chosen = [one for one in SESSIONS if not options.only or any(_is_meant(one, name) for name in options.only)]
    if options.list:
        print("\n".join(f"{one.group:<14}{one.name:<58}{one.note}" for one in chosen))
        return 0
    results = _run(chosen, quiet=options.json)
    if options.json:
        print(json.dumps(as_json(results), indent=1))
    else:
        print("\n".join(lines(results)))
    if options.write_docs:
        write_docs(results)
    return 0 if all(result.right for result in results) else 1


def _is_meant(one: Session, name: str) -> bool:
    return name == one.group or name in one.name


def _run(chosen: list[Session], quiet: bool) -> list[Result]:
    results: list[Result] = []
    with Zygote() as zygote:
        for one in chosen:
            result = play(one, zygote)
            results.append(result)
            if not quiet and not result.right:
                print(f"wrong: {one.group}/{one.name}", file=sys.stderr, flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())

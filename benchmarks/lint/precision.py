"""How many of lint's findings on public notebooks are right, as a person judged them one by one.

Run: ``python benchmarks/lint/precision.py`` prints the judgements by rule. With ``--notebooks FOLDER`` it lints
the corpus anew and says which judged findings still stand; with ``--sample N`` it prints a new sample to judge.

``corpus.json`` names the notebooks: public repositories that were not looked at while the rules were written, each
with its commit. FOLDER holds a checkout of each as ``owner/name``. ``judgements.tsv`` is a random sample of the
findings on them, each judged by reading the cell and those around it: *right* when what the message says is true
of the notebook and a person who runs it as a job would want to know, else *wrong*, with the reason.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from collections import Counter
from pathlib import Path

from jupyter_clusterbridge.lint.runner import lint_notebook
from jupyter_clusterbridge.model.errors import ClusterBridgeError
from jupyter_clusterbridge.model.notebook import read_notebook

HERE = Path(__file__).parent
COLUMNS = ("repository", "notebook", "cell", "line", "code", "severity")


def judgements() -> list[dict[str, str]]:
    """The judged findings."""
    with (HERE / "judgements.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def print_table(judged: list[dict[str, str]]) -> None:
    """Right and wrong by rule, and the reasons of the wrong ones."""
    right = Counter(row["code"] for row in judged if row["judgement"] == "right")
    every = Counter(row["code"] for row in judged)
    print(f"{'rule':<8}{'right':>6}{'wrong':>7}")
    for code in sorted(every):
        print(f"{code:<8}{right[code]:>6}{every[code] - right[code]:>7}")
    print(f"{'all':<8}{sum(right.values()):>6}{len(judged) - sum(right.values()):>7}")
    for row in judged:
        if row["judgement"] == "wrong":
            print(
                f"wrong: {row['code']} {row['repository']} {row['notebook']} cell {row['cell']}: {row['reason']}"
            )


def lint_corpus(folder: Path) -> list[dict[str, str]]:
    """Findings on the corpus as rows like those of the judgements."""
    rows: list[dict[str, str]] = []
    missing = 0
    for repository, entry in json.loads((HERE / "corpus.json").read_text(encoding="utf-8")).items():
        for name in entry["notebooks"]:
            try:
                findings = lint_notebook(read_notebook(folder / repository / name))
            except ClusterBridgeError:
                missing += 1
                continue
            for found in findings:
                place = (repository, name, str(found.cell_index), str(found.line))
                rows.append(dict(zip(COLUMNS, (*place, found.code, found.severity.value), strict=True)))
    if missing:
        print(f"{missing} notebooks of the corpus are not in {folder} or cannot be read", file=sys.stderr)
    return rows


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notebooks", type=Path, metavar="FOLDER")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.notebooks is None:
        print_table(judgements())
        return
    rows = lint_corpus(options.notebooks)
    if options.sample is not None:
        chosen = random.Random(options.seed).sample(rows, min(options.sample, len(rows)))
        print("\n".join(["\t".join(COLUMNS), *("\t".join(row.values()) for row in chosen)]))
        return
    found = {tuple(row.values()) for row in rows}
    judged = judgements()
    still = [row for row in judged if tuple(row[name] for name in COLUMNS) in found]
    print(f"{len(rows)} findings; {len(still)} of {len(judged)} judged ones still stand:")
    print_table(still)


if __name__ == "__main__":
    main()

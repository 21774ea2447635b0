"""Writing made files, or checking that they are current; shared by the ``gen_*`` scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path


def update(pages: Mapping[Path, bytes], present: Iterable[Path], *, check: bool) -> int:
    """Write the pages and remove files that no longer belong to any; with ``check`` only say what differs.

    Args:
        pages: content of each file that should be there.
        present: files that are there and would be stale unless they are among the pages.
        check: whether to write nothing.

    Returns:
        The exit code: 1 when ``check`` found a difference.
    """
    stale = sorted(set(present) - set(pages))
    changed = [path for path, content in pages.items() if not path.is_file() or path.read_bytes() != content]
    if check:
        for path in [*changed, *stale]:
            print(f"{path.name} is not current; run dev/{Path(sys.argv[0]).name}", file=sys.stderr)
        return 1 if changed or stale else 0
    for path in stale:
        path.unlink()
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pages[path])
    print(f"{len(pages)} files, {len(changed)} written, {len(stale)} removed")
    return 0

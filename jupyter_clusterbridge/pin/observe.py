"""Observes the environment of another interpreter, which need not have ClusterBridge."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Collection
from pathlib import Path

from jupyter_clusterbridge.model.codec import from_json
from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import KernelNotFound, LockFailed

_TIMEOUT_S = 60
_TOO_OLD = 3
_MARK = "clusterbridge-environment:"
# old interpreters have to get through the first lines; our own code is on sys.path only while it is imported,
# so that what lies beside it does not count as installed there
_SCRIPT = """
import sys
if sys.version_info < (3, 10):
    print("%d.%d" % sys.version_info[:2])
    sys.exit(3)
import json
sys.path[:] = [entry for entry in sys.path if entry]
sys.path.insert(0, sys.argv[1])
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.runtime.environment import observe_environment
del sys.path[0]
seen = observe_environment(loaded=False, imports=sys.argv[3:])
print(sys.argv[2] + json.dumps(to_json(seen)))
"""


def observe_python(executable: Path, imports: Collection[str] = ()) -> Environment:
    """Describe the packages and the machine of another interpreter.

    Nothing is loaded there, so thread counts and framework settings stay unknown.

    Args:
        executable: the interpreter, Python 3.10 or newer; only its standard library is needed.
        imports: top-level modules that the notebook imports; the distributions that hold them count as
            loaded. Where none is given, none does.

    Raises:
        KernelNotFound: the interpreter cannot be started.
        LockFailed: it is too old, or it failed.
    """
    home = Path(__file__).parents[2]
    command = [str(executable), "-c", _SCRIPT, str(home), _MARK, *sorted(imports)]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, cwd=os.sep, env=environ
        )
    except OSError as error:
        raise KernelNotFound(f"{executable}: cannot be started ({error.strerror})") from None
    except subprocess.TimeoutExpired:
        raise LockFailed(f"{executable}: did not answer within {_TIMEOUT_S} s") from None
    if done.returncode == _TOO_OLD:
        raise LockFailed(
            f"{executable} is Python {done.stdout.strip()}; notebooks can be exported from Python 3.10 on",
            hint="Choose a kernel with Python 3.10 or newer, or pass --python PATH.",
        )
    # a sitecustomize or a .pth file may print too
    answers = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if done.returncode != 0 or not answers:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise LockFailed(
            f"{executable}: its packages could not be listed ({last[0]})",
            hint="Check that this interpreter starts and is a Python, or pass --python PATH.",
        )
    return from_json(Environment, json.loads(answers[-1].removeprefix(_MARK)), str(executable))

"""Questions that a cell puts to a person, and the installs that it asks for."""

from __future__ import annotations

from jupyter_clusterbridge.model.state import InterventionKind
from jupyter_clusterbridge.recorder.inputs import InputWatch
from jupyter_clusterbridge.recorder.installs import find_installs
from jupyter_clusterbridge.recorder.watch.base import Scene, Watch
from jupyter_clusterbridge.recorder.watch.debugger import in_debugger

_ASKED = "a job has nobody to ask: make it a parameter, or read a secret from an environment variable"
_STOPPED = "take `breakpoint()` or `%debug` out: a job has nobody at the debugger"
_INSTALLED = "install packages before the notebook runs, so that they enter the lock; then take the line out"


class AskedWatch(Watch):
    """Writes down that ``input`` or ``getpass`` asked; what was typed is never looked at."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._inputs = InputWatch(scene.shell, lambda name: self.guarded(self._asked, name))
        self._stopped = False

    def start(self) -> None:
        """Wrap the two."""
        self._inputs.start()

    def stop(self) -> None:
        """Put back what was there."""
        self._inputs.stop()

    def cell_begun(self) -> None:
        """Nothing was asked yet."""
        self._stopped = False

    def _asked(self, name: object) -> None:
        if not in_debugger():
            self.scene.intervene(
                InterventionKind.TYPED_INPUT, f"the cell asked a person for input with `{name}`", _ASKED
            )
        elif not self._stopped:
            self._stopped = True  # each command is a question of its own, and all of them are one stop
            message = "the cell stopped in the debugger and asked a person"
            self.scene.intervene(InterventionKind.TYPED_INPUT, message, _STOPPED)


class InstallWatch(Watch):
    """Writes down the install commands of a cell as its text names them."""

    def stop(self) -> None:
        """Nothing was replaced."""

    def cell_begun(self) -> None:
        """Read the text."""
        for install in find_installs(self.scene.source):
            packages = ", ".join(f"`{package}`" for package in install.packages) or "packages"
            message = f"the cell installed {packages} with `{install.tool}`"
            self.scene.intervene(InterventionKind.INSTALL, message, _INSTALLED)

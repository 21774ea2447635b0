"""torch.save writes through C++, which no audit event shows: name the files that it writes."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, ClassVar

from jupyter_clusterbridge.runtime.hooks import EvidenceSink, Hook
from jupyter_clusterbridge.runtime.patches import Patches


class TorchSaveHook(Hook):
    """Patches the function inside ``torch.save`` that opens a zip file by name."""

    name: ClassVar[str] = "torch_save"
    module: ClassVar[str | None] = "torch.serialization"

    def __init__(self, sink: EvidenceSink) -> None:
        super().__init__(sink)
        self._patches = Patches()

    def install(self) -> None:
        """Patch the opener, where this version of torch has it."""
        module: Any = sys.modules["torch.serialization"]
        if not self._patches.active and "_open_zipfile_writer" in vars(module):
            self._patches.replace(module, "_open_zipfile_writer", self._wrap)

    def uninstall(self) -> None:
        """Put the opener back."""
        self._patches.undo()

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def opener(target: Any) -> Any:
            if self._patches.active and self.sink.run and isinstance(target, (str, os.PathLike)):
                self.guarded(self.sink.wrote, os.fspath(target))
            return original(target)

        return opener


HOOK = TorchSaveHook

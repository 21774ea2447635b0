"""torch's DataLoader: what was drawn, what came out, and when an epoch began."""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from jupyter_clusterbridge.model.evidence import RowKind
from jupyter_clusterbridge.runtime.fingerprint import content_hash, index_hash
from jupyter_clusterbridge.runtime.hooks import EvidenceSink, Hook
from jupyter_clusterbridge.runtime.patches import Patches
from jupyter_clusterbridge.runtime.untraced import untraced


class _Iteration:
    """What we know of one running iterator; workers draw ahead, so drawn indices wait in order."""

    def __init__(self, ordered: bool) -> None:
        self.ordered = ordered
        self.drawn: deque[int] = deque()


class TorchLoaderHook(Hook):
    """Patches the base iterator class, which every loader goes through, also those that wrap torch's.

    Each batch gives a row with the hash of its indices and of its content; each new pass over a loader one with
    the loader's ordinal and its epoch. Workers are forked with the patches in place; there the hook is silent.
    """

    name: ClassVar[str] = "torch_loader"
    module: ClassVar[str | None] = "torch.utils.data.dataloader"

    def __init__(self, sink: EvidenceSink) -> None:
        super().__init__(sink)
        self._patches = Patches()
        self._iterations: weakref.WeakKeyDictionary[Any, _Iteration] = weakref.WeakKeyDictionary()
        self._loaders: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()
        self._last: tuple[weakref.ref[Any], _Iteration] | None = None
        self._ordinals = itertools.count()
        self._iterable: object = None

    def install(self) -> None:
        """Patch the base iterator."""
        if self._patches.active:
            return
        module: Any = sys.modules["torch.utils.data.dataloader"]
        base = module._BaseDataLoaderIter
        self._iterable = module._DatasetKind.Iterable
        self._patches.replace(base, "__init__", self._wrap(self._created, before=True))
        self._patches.replace(base, "_reset", self._wrap(self._reset, before=True))
        self._patches.replace(base, "_next_index", self._wrap(self._drew))
        self._patches.replace(base, "__next__", self._wrap(self._yielded))

    def uninstall(self) -> None:
        """Put the base iterator back."""
        self._patches.undo()

    def _wrap(self, note: Callable[..., None], *, before: bool = False) -> Callable[[Any], Any]:
        """A wrapper that calls ``note`` before the original with its arguments, or after it with its result."""

        def wrap(original: Any) -> Any:
            patches, sink = self._patches, self.sink

            @functools.wraps(original)
            def early(iterator: Any, *args: Any, **kwargs: Any) -> Any:
                if patches.active and sink.run:
                    self.guarded(note, iterator, *args, **kwargs)
                return original(iterator, *args, **kwargs)

            @functools.wraps(original)
            def late(iterator: Any) -> Any:
                result = original(iterator)
                if patches.active and sink.run:
                    try:
                        note(iterator, result)
                    except Exception as error:
                        sink.failed(self, error)
                return result

            return untraced(sys.modules["torch"], early if before else late)

        return wrap

    def _created(self, iterator: Any, loader: Any) -> None:
        ordered = getattr(loader, "in_order", True) and loader._dataset_kind != self._iterable
        self._iterations[iterator] = _Iteration(ordered)
        self._epoch(loader)

    def _reset(self, iterator: Any, loader: Any = None, first_iter: bool = False) -> None:
        iteration = self._iterations.get(iterator)
        if iteration is not None:
            iteration.drawn.clear()
            if not first_iter and loader is not None:
                self._epoch(loader)

    def _epoch(self, loader: Any) -> None:
        state = self._loaders.get(loader)
        if state is None:
            state = self._loaders[loader] = [next(self._ordinals), 0]
        self.sink.row(RowKind.EPOCH, state[0], state[1])
        state[1] += 1

    def _find(self, iterator: Any) -> _Iteration | None:
        if self._last is None or self._last[0]() is not iterator:
            found = self._iterations.get(iterator)
            if found is None:  # it began before we did
                return None
            self._last = weakref.ref(iterator), found
        return self._last[1]

    def _drew(self, iterator: Any, index: object) -> None:
        iteration = self._find(iterator)
        if iteration is not None and iteration.ordered:
            iteration.drawn.append(index_hash(index))

    def _yielded(self, iterator: Any, batch: object) -> None:
        iteration = self._find(iterator)
        drawn = iteration.drawn.popleft() if iteration is not None and iteration.drawn else 0
        self.sink.row(RowKind.BATCH, drawn, content_hash(batch))


HOOK = TorchLoaderHook

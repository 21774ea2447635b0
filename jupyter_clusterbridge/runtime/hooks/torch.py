"""torch: losses at ``backward``, optimizer steps, and the weights before an optimizer's first step."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any, ClassVar

from jupyter_clusterbridge.model.evidence import RowKind, loss_bits
from jupyter_clusterbridge.runtime.fingerprint import CAP, Fingerprint
from jupyter_clusterbridge.runtime.hooks import EvidenceSink, Hook
from jupyter_clusterbridge.runtime.patches import Patches
from jupyter_clusterbridge.runtime.untraced import untraced


class TorchHook(Hook):
    """Patches ``torch.autograd.backward``, which ``Tensor.backward`` goes through, and uses the global step hooks.

    A GradScaler that skips a step calls no step hook, so a skipped step has a loss row and no step row. Nothing
    synchronises with a GPU: values travel behind the work and are read when they have arrived.
    """

    name: ClassVar[str] = "torch"
    module: ClassVar[str | None] = "torch"

    def __init__(self, sink: EvidenceSink) -> None:
        super().__init__(sink)
        self._patches = Patches()
        self._handles: list[Any] = []
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()
        self._last: weakref.ref[Any] | None = None
        self._torch: Any = None

    def install(self) -> None:
        """Patch ``backward`` and register the step hooks."""
        if self._handles:
            return
        self._torch = torch = sys.modules["torch"]
        self._patches.replace(torch.autograd, "backward", self._wrap)
        optimizer: Any = sys.modules["torch.optim.optimizer"]  # torch.optim hides it
        self._handles = [
            optimizer.register_optimizer_step_pre_hook(untraced(torch, self._before_step)),
            optimizer.register_optimizer_step_post_hook(untraced(torch, self._after_step)),
        ]

    def uninstall(self) -> None:
        """Put ``backward`` back and remove the step hooks."""
        self._patches.undo()
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _wrap(self, original: Any) -> Any:
        patches, sink, losses = self._patches, self.sink, self._losses

        @functools.wraps(original)
        def backward(*args: Any, **kwargs: Any) -> Any:
            if patches.active and sink.run:
                try:
                    losses(args, kwargs)
                except Exception as error:
                    sink.failed(self, error)
            return original(*args, **kwargs)

        return untraced(self._torch, backward)

    def _losses(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        roots = args[0] if args else kwargs.get("tensors")
        gradients = args[1] if len(args) > 1 else kwargs.get("grad_tensors")
        tensor = self._torch.Tensor
        found = (roots,) if isinstance(roots, tensor) else tuple(roots or ())
        if gradients is not None and len(found) > 1:  # an inner backward, as in checkpointing: no losses
            return
        for root in found:
            if isinstance(root, tensor) and root.numel() == 1:
                self._loss(root)

    def _loss(self, root: Any) -> None:
        if root.is_complex():
            return
        if root.is_cpu:
            self.sink.loss_seen(self.sink.steps + 1, root.item())
        elif root.is_cuda and not self._torch.cuda.is_current_stream_capturing():
            self.sink.drain()
            self.sink.defer(_PendingLoss(self._torch, root, self.sink))

    def _before_step(self, optimizer: Any, args: object, kwargs: object) -> None:
        if self._last is not None and self._last() is optimizer:
            return
        if self.sink.run:
            self._last = weakref.ref(optimizer)
            if optimizer not in self._stepped:
                self._stepped.add(optimizer)
                self.guarded(self._weights, optimizer)

    def _after_step(self, optimizer: Any, args: object, kwargs: object) -> None:
        if self.sink.run:
            self.guarded(self.sink.step_done)

    def _weights(self, optimizer: Any) -> None:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if any(parameter.device.type == "cuda" for parameter in parameters):
            if not self._torch.cuda.is_current_stream_capturing():
                self.sink.defer(_PendingWeights(self._torch, parameters, self.sink.run))
            return
        a, b = _hash_weights(parameters)
        self.sink.row(RowKind.WEIGHTS, a, b)


def _hash_weights(parameters: list[Any]) -> tuple[int, int]:
    fingerprint = Fingerprint(cap=None)
    for parameter in parameters:
        fingerprint.add_tensor(parameter)
    return fingerprint.value, sum(parameter.numel() for parameter in parameters)


class _Arriving:
    """Copies that travel to the CPU behind the work of the current stream."""

    def __init__(self, torch: Any, tensors: list[Any]) -> None:
        self.copies = [tensor.detach().to("cpu", non_blocking=True) for tensor in tensors]
        self._events = []
        for device in {tensor.device for tensor in tensors if tensor.device.type == "cuda"}:
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(device))
            self._events.append(event)

    def ready(self) -> bool:
        return all(event.query() for event in self._events)

    def wait(self) -> None:
        for event in self._events:
            event.synchronize()


class _PendingLoss:
    kind = RowKind.LOSS

    def __init__(self, torch: Any, root: Any, sink: EvidenceSink) -> None:
        self.run = sink.run
        self._step = sink.steps + 1
        self._sink = sink
        self._arriving = _Arriving(torch, [root])
        self._value = 0.0

    def ready(self) -> bool:
        return self._arriving.ready()

    def values(self) -> tuple[int, int]:
        self._arriving.wait()
        self._value = float(self._arriving.copies[0].item())
        return loss_bits(self._value), int(self._value - self._value == 0.0)

    def done(self) -> None:
        self._sink.tell_loss(self._step, self._value)


class _PendingWeights:
    """Weights on a GPU: whole when small, a fixed sample of rows when large, so that little travels."""

    kind = RowKind.WEIGHTS

    def __init__(self, torch: Any, parameters: list[Any], run: int) -> None:
        self.run = run
        self._count = sum(parameter.numel() for parameter in parameters)
        self._arriving = _Arriving(torch, [_sample(parameter) for parameter in parameters])

    def ready(self) -> bool:
        return self._arriving.ready()

    def values(self) -> tuple[int, int]:
        self._arriving.wait()
        fingerprint = Fingerprint(cap=None)
        for copy in self._arriving.copies:
            fingerprint.add_tensor(copy)
        return fingerprint.value, self._count

    def done(self) -> None:
        return


def _sample(parameter: Any) -> Any:
    size = parameter.numel() * parameter.element_size()
    if size <= CAP or parameter.shape[0] < 2:
        return parameter
    return parameter.detach()[:: -(-size // CAP)]


HOOK = TorchHook

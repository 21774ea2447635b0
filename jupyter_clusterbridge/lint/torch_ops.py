"""torch operations without a deterministic implementation by default, by torch version.

Source: the documentation of ``torch.use_deterministic_algorithms``, held against that of 2.13, and the calls of
``alertNotDeterministic`` in ATen (for ``index_reduce``, which the documentation leaves out). ``kthvalue`` on CUDA
became deterministic by pytorch/pytorch#165762.
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int]


@dataclass(frozen=True)
class NondeterministicOp:
    """One operation."""

    when: str
    """In which case it is nondeterministic, in words."""
    raises: bool = False
    """Whether torch 2.13 has no deterministic implementation at all, so that asking for one raises."""
    deterministic_since: Version | None = None
    """First version in which it is deterministic by default; None when it is not yet."""
    cuda_only: bool = True

    def applies(self, version: Version | None) -> bool:
        """Whether it holds for a torch version; None stands for the newest."""
        if self.deterministic_since is None:
            return True
        return version is not None and version < self.deterministic_since


_BACKWARD = "in the backward pass"
_FORWARD = "in the forward pass"

METHODS: dict[str, NondeterministicOp] = {
    "scatter_add": NondeterministicOp(_FORWARD),
    "scatter_add_": NondeterministicOp(_FORWARD),
    "scatter_reduce": NondeterministicOp(_FORWARD),
    "scatter_reduce_": NondeterministicOp(_FORWARD),
    "index_add": NondeterministicOp(_FORWARD),
    "index_add_": NondeterministicOp(_FORWARD),
    "index_reduce": NondeterministicOp(_FORWARD, raises=True),
    "index_reduce_": NondeterministicOp(_FORWARD, raises=True),
    "index_copy_": NondeterministicOp("when an index occurs twice", cuda_only=False),
    "index_put_": NondeterministicOp("with accumulate=True"),
    "kthvalue": NondeterministicOp("when values are equal", raises=True, deterministic_since=(2, 10)),
}
"""Methods of tensors whose names no other library uses."""

FUNCTIONS: dict[str, NondeterministicOp] = {
    "torch.scatter_add": METHODS["scatter_add"],
    "torch.scatter_reduce": METHODS["scatter_reduce"],
    "torch.index_add": METHODS["index_add"],
    "torch.index_reduce": METHODS["index_reduce"],
    "torch.kthvalue": METHODS["kthvalue"],
    "torch.histc": NondeterministicOp(_FORWARD, raises=True),
    "torch.cumsum": NondeterministicOp("for floating-point tensors", raises=True),
    "torch.repeat_interleave": NondeterministicOp(_BACKWARD),
    "torch.nn.AdaptiveAvgPool2d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.AdaptiveAvgPool3d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.AdaptiveMaxPool2d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.AvgPool3d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.MaxPool3d": NondeterministicOp(_BACKWARD),
    "torch.nn.FractionalMaxPool2d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.FractionalMaxPool3d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.MaxUnpool1d": NondeterministicOp(_FORWARD, raises=True),
    "torch.nn.MaxUnpool2d": NondeterministicOp(_FORWARD, raises=True),
    "torch.nn.MaxUnpool3d": NondeterministicOp(_FORWARD, raises=True),
    "torch.nn.ReflectionPad1d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.ReflectionPad2d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.ReflectionPad3d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.ReplicationPad1d": NondeterministicOp(_BACKWARD),
    "torch.nn.ReplicationPad2d": NondeterministicOp(_BACKWARD),
    "torch.nn.ReplicationPad3d": NondeterministicOp(_BACKWARD),
    "torch.nn.CTCLoss": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.functional.ctc_loss": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.functional.grid_sample": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.functional.adaptive_avg_pool2d": NondeterministicOp(_BACKWARD, raises=True),
    "torch.nn.functional.max_pool3d": NondeterministicOp(_BACKWARD),
}
"""Functions and modules by qualified name."""

INTERPOLATE = NondeterministicOp(_BACKWARD, raises=True)
"""``interpolate`` and ``Upsample`` in one of :data:`INTERPOLATE_MODES`."""
INTERPOLATE_MODES = ("linear", "bilinear", "bicubic", "trilinear")
INTERPOLATE_NAMES = ("torch.nn.functional.interpolate", "torch.nn.Upsample")
BINCOUNT = NondeterministicOp("with weights", raises=True)
EMBEDDING_BAG_MAX = NondeterministicOp(f"{_BACKWARD}, with mode='max'", raises=True)
PUT = NondeterministicOp("with accumulate=True", raises=True)

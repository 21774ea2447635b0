"""torch operations without a deterministic implementation by default, by torch version.

Source: the docstring of ``torch.use_deterministic_algorithms`` in each version from 2.2 to 2.14, read side by
side; what changed is a version in the table. ``index_reduce`` is not in it, but ATen warns of it as well.
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int]


@dataclass(frozen=True)
class NondeterministicOp:
    """One operation, and what decides whether a call of it is a hazard."""

    when: str
    """In which case it is nondeterministic, in words."""
    backward: bool = False
    """Whether only its gradient is nondeterministic."""
    cuda_only: bool = True
    switches_since: Version | None = (2, 2)
    """First version with a deterministic form that torch switches to when asked; None when asking raises."""
    since: Version = (2, 2)
    """First version that documents it (2.2 stands for that and all before)."""
    deterministic_since: Version | None = None
    """First version in which it is deterministic by default; None when it is not yet."""
    ordinary: bool = False
    """Whether it is in nearly every network, so that naming each use says little."""
    doubtful: bool = False
    """Whether what decides cannot be seen in a source."""
    rare: bool = False
    """Whether most calls are harmless, so that it is worth a word only where determinism is asked for."""

    def applies(self, version: Version | None) -> bool:
        """Whether it is nondeterministic in a torch version; None stands for the newest."""
        if version is None:
            return self.deterministic_since is None
        return version >= self.since and (self.deterministic_since is None or version < self.deterministic_since)

    def raises(self, version: Version | None) -> bool:
        """Whether it raises in a torch version when determinism is asked for.

        >>> [METHODS["kthvalue"].raises(version) for version in ((2, 9), (2, 10), None)]
        [True, False, False]
        """
        if not self.applies(version):
            return False
        return self.switches_since is None or (version is not None and version < self.switches_since)


_BACKWARD = "in the backward pass"
_FORWARD = "in the forward pass"
_Op = NondeterministicOp


def _gradient(when: str = _BACKWARD, *, switches: Version | None = None, ordinary: bool = False) -> _Op:
    return _Op(when, backward=True, switches_since=switches, ordinary=ordinary)


_CONVOLUTION = _Op("where cuDNN picks such an algorithm", ordinary=True)
_REPLICATION = _gradient(switches=(2, 8))
_GATHER = _gradient(switches=(2, 2), ordinary=True)
_SCATTER = _Op("for a tensor `src` when an index occurs twice")
_INDEX_COPY = _Op("when an index occurs twice", cuda_only=False)

SCATTER_REDUCE = {
    "sum": _Op("with reduce='sum'"),
    "mean": _Op("with reduce='mean'"),
    "prod": _Op("with reduce='prod'", switches_since=None),
}
"""By the argument ``reduce``; the other reductions are deterministic."""

METHODS: dict[str, NondeterministicOp] = {
    "scatter_": _SCATTER,
    "scatter_add": _Op(_FORWARD),
    "scatter_add_": _Op(_FORWARD),
    "scatter_reduce": SCATTER_REDUCE["sum"],
    "scatter_reduce_": SCATTER_REDUCE["sum"],
    "index_add": _Op(_FORWARD),
    "index_add_": _Op(_FORWARD),
    "index_reduce": _Op(_FORWARD, switches_since=None),
    "index_reduce_": _Op(_FORWARD, switches_since=None),
    "index_select": _GATHER,
    "index_copy": _INDEX_COPY,
    "index_copy_": _INDEX_COPY,
    "index_put": _Op("when an index occurs twice", cuda_only=False),
    "index_put_": _Op("when an index occurs twice", cuda_only=False),
    "kthvalue": _Op("when values are equal", switches_since=None, deterministic_since=(2, 10)),
    "put_": _Op("with accumulate=False", switches_since=None, cuda_only=False),
    "repeat_interleave": _gradient(switches=(2, 2)),
}
"""Methods of tensors whose names no other library uses."""

FUNCTIONS: dict[str, NondeterministicOp] = {
    "torch.scatter": _SCATTER,
    "torch.scatter_add": METHODS["scatter_add"],
    "torch.scatter_reduce": METHODS["scatter_reduce"],
    "torch.index_add": METHODS["index_add"],
    "torch.index_copy": _INDEX_COPY,
    "torch.index_put": METHODS["index_put"],
    "torch.index_reduce": METHODS["index_reduce"],
    "torch.index_select": _GATHER,
    "torch.gather": _GATHER,
    "torch.kthvalue": METHODS["kthvalue"],
    "torch.histc": _Op(_FORWARD, switches_since=None),
    "torch.bincount": _Op("with weights", switches_since=None),
    "torch.median": _Op("for the indices", switches_since=None),
    "torch.cumsum": _Op("for floating-point tensors", switches_since=(2, 14), doubtful=True),
    "torch.repeat_interleave": METHODS["repeat_interleave"],
    "torch.sparse.mm": _Op("for sparse tensors"),
    "torch.nn.Conv1d": _CONVOLUTION,
    "torch.nn.Conv2d": _CONVOLUTION,
    "torch.nn.Conv3d": _CONVOLUTION,
    "torch.nn.ConvTranspose1d": _CONVOLUTION,
    "torch.nn.ConvTranspose2d": _CONVOLUTION,
    "torch.nn.ConvTranspose3d": _CONVOLUTION,
    "torch.nn.Embedding": _Op(_BACKWARD, backward=True, since=(2, 14), ordinary=True),
    "torch.nn.EmbeddingBag": _gradient(f"{_BACKWARD}, with mode='max'"),
    "torch.nn.AdaptiveAvgPool2d": _gradient(),
    "torch.nn.AdaptiveAvgPool3d": _gradient(),
    "torch.nn.AdaptiveMaxPool2d": _gradient(),
    "torch.nn.AvgPool3d": _gradient(),
    "torch.nn.MaxPool3d": _gradient(switches=(2, 13)),
    "torch.nn.FractionalMaxPool2d": _gradient(),
    "torch.nn.FractionalMaxPool3d": _gradient(),
    "torch.nn.MaxUnpool1d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.MaxUnpool2d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.MaxUnpool3d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.ReflectionPad1d": _gradient(),
    "torch.nn.ReflectionPad2d": _gradient(),
    "torch.nn.ReflectionPad3d": _gradient(),
    "torch.nn.ReplicationPad1d": _REPLICATION,
    "torch.nn.ReplicationPad2d": _gradient(switches=(2, 2)),
    "torch.nn.ReplicationPad3d": _REPLICATION,
    "torch.nn.NLLLoss": _Op(
        "for images and other inputs of many dimensions", switches_since=None, doubtful=True, rare=True
    ),
    "torch.nn.CTCLoss": _gradient(),
    "torch.nn.Upsample": _gradient("in the backward pass of the linear modes"),
    "torch.nn.functional.interpolate": _gradient("in the backward pass of the linear modes"),
    "torch.nn.functional.grid_sample": _gradient(),
    "torch.nn.functional.avg_pool3d": _gradient(),
    "torch.nn.functional.adaptive_avg_pool2d": _gradient(),
    "torch.nn.functional.adaptive_avg_pool3d": _gradient(),
    "torch.nn.functional.adaptive_max_pool2d": _gradient(),
    "torch.nn.functional.max_pool3d": _gradient(switches=(2, 13)),
    "torch.nn.functional.fractional_max_pool2d": _gradient(),
    "torch.nn.functional.fractional_max_pool3d": _gradient(),
    "torch.nn.functional.max_unpool1d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.functional.max_unpool2d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.functional.max_unpool3d": _Op(_FORWARD, switches_since=None, cuda_only=False),
    "torch.nn.functional.ctc_loss": _gradient(),
}
"""Functions and modules by qualified name."""

PUT_ACCUMULATE = _Op("with accumulate=True", switches_since=None)
"""``put_`` with ``accumulate=True``: torch switches on a CPU and raises on CUDA."""
INTERPOLATE_MODES = ("linear", "bilinear", "bicubic", "trilinear")

NOT_IN_A_SOURCE = frozenset({"__getitem__", "resize_", "bmm"})
"""Documented operations that hang on types no source shows; the kernel's own warnings catch them."""

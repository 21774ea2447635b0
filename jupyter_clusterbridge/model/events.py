"""Events of a journal: one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Union

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.state import Intervention

JOURNAL_SCHEMA = "clusterbridge/journal/2"


@dataclass(frozen=True)
class KernelStart:
    """First line of every journal."""

    EVENT: ClassVar[str] = "kernel_start"

    kernel_id: str
    role: str
    """``notebook``, ``job`` or ``baseline``."""
    python: str
    at: str
    schema: str = JOURNAL_SCHEMA
    notebook: str | None = None
    """File name of the notebook, no folder."""
    memory_bytes: int | None = None
    """Memory that the kernel may use: of its container where that has a limit, else of the machine."""
    oom_kills: int | None = None
    """Processes that the system had ended here for want of memory before the kernel began."""


@dataclass(frozen=True)
class CellStart:
    """A cell begins. Locations are strings ``kind:name``, for example ``name:model`` or ``env:SEED``."""

    EVENT: ClassVar[str] = "cell_start"

    run: int
    """Number of the run in this kernel, from 1."""
    cell_id: str | None
    """None when the front end sends none (plain IPython); then match by source."""
    source: str
    at: str
    rng: Mapping[str, str] = field(default_factory=dict)
    """Fingerprint by stream (``python``, ``numpy``, ``torch``, ``torch_cuda``) before the cell."""
    deleted_cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellEnd:
    """A cell ends."""

    EVENT: ClassVar[str] = "cell_end"

    run: int
    status: str
    """``ok``, ``error``, ``interrupted`` or ``exit``."""
    at: str
    duration_s: float
    rng: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    """Class name of the exception; never its text, which may hold data."""
    reads: tuple[str, ...] = ()
    """Locations read before any write in the cell."""
    writes: tuple[str, ...] = ()
    """Locations whose value was bound, changed in place or deleted."""
    mutates: tuple[str, ...] = ()
    """Those of ``writes`` that accumulate: changed in place, or bound from their own old value."""
    untracked: tuple[str, ...] = ()
    """Locations that were too costly to follow."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What written locations hold after the cell, where that is known for certain: equal text for equal values.

    Keyed with a secret of the kernel that is written nowhere, so that no value can be guessed from it; the source
    of a module has its plain digest.
    """


@dataclass(frozen=True)
class FileRead:
    """A cell read a file. Paths are relative to the notebook's folder where they lie below it."""

    EVENT: ClassVar[str] = "file_read"

    run: int
    path: str
    size: int
    digest: str | None
    """``sha256:...``; None when the file was gone or too large to hash in the session."""
    own: bool = False
    """Whether this kernel had written the file before: no data that comes from outside."""


@dataclass(frozen=True)
class FileWrite:
    """A cell wrote a file."""

    EVENT: ClassVar[str] = "file_write"

    run: int
    path: str
    digest: str | None = None
    """What the file held at the end of the cell; None when it is large or gone."""
    appends: bool = False
    """Whether the cell added to what the file held before."""


@dataclass(frozen=True)
class Listing:
    """A cell listed a folder."""

    EVENT: ClassVar[str] = "listing"

    run: int
    path: str
    count: int
    order_digest: str
    """Digest of the names in the order that the system gave."""
    set_digest: str
    """Digest of the sorted names."""


@dataclass(frozen=True)
class MetricLogged:
    """``cb.metric`` was called."""

    EVENT: ClassVar[str] = "metric"

    run: int
    name: str
    value: float
    step: int | None = None


@dataclass(frozen=True)
class ArtifactDeclared:
    """``cb.artifact`` was called."""

    EVENT: ClassVar[str] = "artifact"

    run: int
    path: str


@dataclass(frozen=True)
class EnvironmentSeen:
    """The environment as it stood after a run; written when what is loaded or installed has changed."""

    EVENT: ClassVar[str] = "environment"

    run: int
    environment: Environment


@dataclass(frozen=True)
class InterventionSeen:
    """An intervention that only the kernel could see (input, install, interrupt, restart)."""

    EVENT: ClassVar[str] = "intervention"

    run: int
    intervention: Intervention


@dataclass(frozen=True)
class NondeterminismSeen:
    """torch warned of an operation without a deterministic implementation while a cell ran."""

    EVENT: ClassVar[str] = "nondeterminism"

    run: int
    line: int | None
    """Line in the cell, from 1; None where the cell's own code was not on the stack."""
    operation: str
    """As torch names it, for example ``max_unpooling2d_forward_out``; nothing else of the warning's text."""


@dataclass(frozen=True)
class StoppedAt:
    """Where a run was when it was interrupted."""

    EVENT: ClassVar[str] = "stopped_at"

    run: int
    step: int | None = None
    """Optimizer steps done in this kernel; None before the first."""
    loops: Mapping[str, int] = field(default_factory=dict)
    """Counters of the loops that it was in, outermost first."""


@dataclass(frozen=True)
class WidgetMoved:
    """The front end changed a widget, which only a person does; the code's own changes are left out."""

    EVENT: ClassVar[str] = "widget_moved"

    run: int
    """Number of the last run that had begun by then."""
    widget: str
    """Class name."""
    description: str
    """The label that the person saw; may be empty."""
    names: tuple[str, ...]
    """Variables that hold the widget."""
    trait: str
    """``click`` where a button was clicked."""
    old: str | None
    """None where the value is not to be written down: a password, a file's content."""
    new: str | None
    at: str
    writes: tuple[str, ...] = ()
    """Variables that the widget's callbacks bound anew or changed in place."""


@dataclass(frozen=True)
class OutsideChange:
    """Something changed while no cell ran, or beside one: a variable, the environment, the working directory."""

    EVENT: ClassVar[str] = "outside_change"

    run: int
    """Number of the last run before it; 0 before the first."""
    location: str
    """``name:NAME``, ``env:NAME`` or ``cwd:.``."""
    at: str
    by: str = ""
    """``thread`` or ``task`` where code of the notebook that ran beside the cells can have done it."""


@dataclass(frozen=True)
class ModuleSource:
    """The source of an imported module of the user's own, whenever it is another one."""

    EVENT: ClassVar[str] = "module_source"

    run: int
    module: str
    path: str
    digest: str
    """Of the file as it lies on disk."""
    how: str
    """``loaded``, ``reloaded``, ``autoreloaded``, or ``changed`` while the old source is still in memory."""
    at: str


@dataclass(frozen=True)
class KernelEnd:
    """The kernel shut down in order, or the extension was unloaded."""

    EVENT: ClassVar[str] = "kernel_end"

    at: str


Event = Union[
    KernelStart,
    CellStart,
    CellEnd,
    FileRead,
    FileWrite,
    Listing,
    MetricLogged,
    ArtifactDeclared,
    EnvironmentSeen,
    InterventionSeen,
    NondeterminismSeen,
    StoppedAt,
    WidgetMoved,
    OutsideChange,
    ModuleSource,
    KernelEnd,
]

EVENTS: dict[str, type[Event]] = {
    cls.EVENT: cls
    for cls in (
        KernelStart,
        CellStart,
        CellEnd,
        FileRead,
        FileWrite,
        Listing,
        MetricLogged,
        ArtifactDeclared,
        EnvironmentSeen,
        InterventionSeen,
        NondeterminismSeen,
        StoppedAt,
        WidgetMoved,
        OutsideChange,
        ModuleSource,
        KernelEnd,
    )
}
"""Event classes by the value of their ``event`` key."""

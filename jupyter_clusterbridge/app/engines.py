"""Which engines are usable here, and if not, why."""

from __future__ import annotations

from jupyter_clusterbridge.engines.registry import ENGINE_NAMES, get_engine
from jupyter_clusterbridge.model.engine import EngineInfo, EngineReport
from jupyter_clusterbridge.model.errors import EngineUnavailable


def list_engines() -> EngineReport:
    """Ask every engine; one that cannot even be loaded is in the list with the reason."""
    return EngineReport(tuple(_info(name) for name in ENGINE_NAMES))


def _info(name: str) -> EngineInfo:
    try:
        return get_engine(name).availability()
    except EngineUnavailable as error:
        return EngineInfo(name, False, str(error))

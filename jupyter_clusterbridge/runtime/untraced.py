"""Functions of ours that torch.compile must run as they are."""

from __future__ import annotations

from typing import Any


def untraced(torch: Any, function: Any) -> Any:
    """Mark a function so that torch.compile breaks its graph there and compiles nothing below it.

    The same as ``torch.compiler.disable``, without importing the compiler, which takes a second, and without
    another frame in the user's traceback.
    """
    plain = getattr(function, "__func__", function)
    plain._torchdynamo_disable = True
    plain._torchdynamo_disable_msg = "records the run for ClusterBridge"
    frames: Any = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    strategy = getattr(frames, "_FrameExecStrategy", None)
    if strategy is not None:
        skip = frames._FrameAction.SKIP
        frames.set_code_exec_strategy(plain.__code__, strategy(skip, skip))
    return function

"""CB522: devices of a desktop machine."""

from __future__ import annotations

import ast

from jupyter_clusterbridge.lint.calls import argument, constant
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.model.findings import Severity

_CALLS = {
    "pandas.read_clipboard": "the clipboard", "polars.read_clipboard": "the clipboard",
    "pyperclip.paste": "the clipboard", "pyperclip.copy": "the clipboard", "sounddevice.rec": "a microphone",
    "sounddevice.play": "a loudspeaker", "playsound.playsound": "a loudspeaker", "winsound.Beep": "a loudspeaker",
    "pyautogui.screenshot": "a screen", "PIL.ImageGrab.grab": "a screen", "webbrowser.open": "a browser",
    "webbrowser.open_new_tab": "a browser", "os.startfile": "a desktop",
    "speech_recognition.Microphone": "a microphone",
    "pyaudio.PyAudio": "a microphone", "turtle.Screen": "a screen", "pyttsx3.init": "a loudspeaker",
}  # fmt: skip
_CAMERA = "cv2.VideoCapture"


class DesktopDevice(Rule):
    """A cell uses a camera, a microphone, the clipboard or a browser of this machine.

    ## What it does

    Reports `cv2.VideoCapture(0)`, `pd.read_clipboard()`, `webbrowser.open`, sound and screenshots: as an
    error where a cell does it itself and as a warning in functions.

    ## Why it matters on a cluster

    A node has none of these. The call fails, or gives nothing, as a camera that cannot be opened does.

    ## Bad example

    ```python
    import cv2
    import pandas as pd

    camera = cv2.VideoCapture(0)  # <-- here
    table = pd.read_clipboard()  # <-- here
    ```

    ## Good example

    ```python
    import cv2
    import pandas as pd

    film = cv2.VideoCapture("film.mp4")
    table = pd.read_csv("table.csv")
    ```

    ## Remedy

    Put what the device gave into a file and read that.
    """

    code = "CB522"
    name = "desktop-device"
    severity = Severity.ERROR
    words = frozenset(
        {"VideoCapture", "clip", "sounddevice", "playsound", "winsound", "pyautogui", "ImageGrab", "webbrowser",
         "startfile", "Microphone", "pyaudio", "turtle", "pyttsx3"}
    )  # fmt: skip
    calls = frozenset({*_CALLS, _CAMERA})

    def visit_call(self, node: ast.Call, cell: CellContext) -> None:
        """Look at calls."""
        device = _CALLS.get(cell.callee or "", "a camera")
        number = constant(argument(node, "index", 0), cell)
        if cell.callee == _CAMERA and (not isinstance(number, int) or isinstance(number, bool)):
            return
        # without a browser `webbrowser` only says no
        certain = cell.function is None and not (cell.callee or "").startswith("webbrowser.")
        severity = Severity.ERROR if certain else Severity.WARNING
        self.report(cell, node, f"`{cell.callee}` needs {device}", severity=severity)

"""A headless Chromium driven by its DevTools protocol: open a page, ask it questions, see its complaints.

The browser is Debian's package `chromium`, or the program that the variable ``CHROMIUM`` names.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync",
    "--remote-debugging-port=0", "--window-size=1280,900",
)  # fmt: skip
PATIENCE = 120.0  # seconds for any single answer, on a busy machine


def find_chromium() -> str | None:
    """Return the path of the browser, or None."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else PROGRAMS
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One browser with one tab; a context manager.

    Attributes
    ----------
    complaints : list of str
        Errors of the console, of scripts and of loading, since the last `open`.
    requests : list of str
        Every address asked for, since the start.
    """

    def __init__(self, profile: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self._process = subprocess.Popen(
            [find_chromium() or PROGRAMS[0], *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port, path = self._address(profile / "DevToolsActivePort")
        self._socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}{path}", timeout=PATIENCE, suppress_origin=True
        )
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _address(self, file: Path) -> list[str]:
        for _ in range(int(PATIENCE / 0.05)):
            if file.is_file() and len(lines := file.read_text().split()) == 2:
                return lines
            time.sleep(0.05)
        raise TimeoutError("Chromium did not say where it listens.")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        self._socket.send(json.dumps(message | ({"sessionId": self._session} if self._session else {})))
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        message = json.loads(self._socket.recv())
        if "method" in message:
            self._events.append(message)
            self._note(message["method"], message["params"])
        return message

    def _note(self, event: str, said: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif event == "Network.loadingFailed" and not said.get("canceled"):
            self.complaints.append(f"not loaded: {said['errorText']}")
        elif event == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(part.get("value")) for part in said["args"]))
        elif event == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")

    def open(self, address: str) -> None:
        """Open an address, and wait until the page is loaded and its formulas are typeset."""
        self.complaints.clear()
        self._events.clear()
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._receive()
        self.ask("window.MathJax?.startup?.promise?.then(() => true)")

    def ask(self, expression: str) -> Any:
        """Evaluate JavaScript in the page (a promise is awaited) and return its value."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def look(self, *, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Set the size of the window and whether the reader prefers "light" or "dark"."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key: str, *, code: int) -> None:
        """Press and release a key, such as ``"Tab"`` with code 9."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what the window shows, or the whole page, as PNG."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

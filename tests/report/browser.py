"""A headless Chromium, driven over a pipe by the DevTools protocol: no other package is needed.

Debian: ``apt-get install chromium``. Where there is none, tests that need it are skipped.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root; the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)


class Browser:
    """One browser with one tab; ``events`` has what the browser told, in order."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="otherhalf-browser-", ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def as_three_and_four() -> None:
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        assert CHROMIUM is not None
        self.process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=as_three_and_four,
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.events: list[dict[str, Any]] = []
        self.rest, self.last, self.session = b"", 0, None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.profile.cleanup()

    def open(
        self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False, script: bool = True
    ) -> float:
        """Open a file; return the seconds until it is there and was painted."""
        self.events.clear()
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        started = time.perf_counter()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self._wait(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))
        self.call("Page.captureScreenshot", format="jpeg", quality=1)  # waits for a painted page
        return time.perf_counter() - started

    def evaluate(self, expression: str) -> Any:
        """Return the JSON value of an expression in the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **more)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of the window, or of the whole page."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def complaints(self) -> list[str]:
        """Return errors, warnings and messages of the console since the page was opened."""
        told = []
        for event in self.events:
            if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                told.append(json.dumps(event["params"]))
        return told

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened, without those inside it."""
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        addresses = [event["params"]["request"]["url"] for event in asked]
        return [address for address in addresses if not address.startswith("data:")]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its answer."""
        self.last += 1
        message: dict[str, Any] = {"id": self.last, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        answers: list[dict[str, Any]] = []
        number = self.last

        def answered() -> bool:
            answers.extend(event for event in self.events if event.get("id") == number)
            return bool(answers)

        self._wait(answered)
        self.events[:] = [event for event in self.events if "id" not in event]
        assert "error" not in answers[0], (method, answers[0])
        result: dict[str, Any] = answers[0]["result"]
        return result

    def _wait(self, done: Any, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not done():
            ready, _, _ = select.select([self.into], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"the browser did not answer in {seconds:.0f} s"
            chunk = os.read(self.into, 1 << 20)
            assert chunk, "the browser has ended"
            *messages, self.rest = (self.rest + chunk).split(b"\0")
            self.events.extend(json.loads(message) for message in messages)

"""A headless Chromium that the tests of pages drive, by the DevTools protocol over two pipes.

with Browser() as browser:
    page = browser.open("page.html", width=390, dark=True)
    page.value("document.title")
"""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile

SECONDS = 120  # what has not come by then never does
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new --remote-debugging-pipe --no-first-run --no-default-browser-check --disable-gpu --no-sandbox"
    " --disable-extensions --disable-background-networking --disable-component-update --disable-sync --mute-audio"
    " --hide-scrollbars --force-color-profile=srgb --disable-dev-shm-usage --font-render-hinting=none"
).split()


def program():
    """The browser's path, None where none is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Failed(Exception):
    """What the browser answered instead of a result."""


class Browser:
    def __enter__(self):
        self.stack = contextlib.ExitStack()
        home = self.stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()

        def place():  # the browser reads commands from 3 and writes to 4
            read, write = os.dup(down_read), os.dup(up_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program(), *FLAGS, f"--user-data-dir={home}"], preexec_fn=place, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down_read)
        os.close(up_write)
        self.rest, self.number, self.events = b"", 0, []
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.down)
        os.close(self.up)
        self.stack.close()

    def message(self):
        """The next message, an answer or an event."""
        while b"\0" not in self.rest:
            if not select.select([self.up], [], [], SECONDS)[0]:
                raise Failed("the browser is silent")
            more = os.read(self.up, 1 << 20)
            if not more:
                raise Failed("the browser has ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.down, data) :]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width=1440, height=900, dark=False, script=True, media="", scale=1):
        """A new tab with the file, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session, width, height, scale)
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            page.call(f"{domain}.enable")
        page.size(width, height)
        page.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])  # fmt: skip
        if not script:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        page.wait_for("Page.loadEventFired")
        return page


KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32,
}  # fmt: skip


class Page:
    def __init__(self, browser, target, session, width, height, scale):
        self.browser, self.target, self.session = browser, target, session
        self.width, self.height, self.scale = width, height, scale

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height):
        self.width, self.height = width, height
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=self.scale, mobile=width < 600)  # fmt: skip

    def own_events(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def wait_for(self, method):
        while not any(event["method"] == method for event in self.own_events()):
            answer = self.browser.message()
            if "method" in answer:
                self.browser.events.append(answer)

    def value(self, script):
        """What the expression gives; of a promise, what it becomes."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise Failed(done["exceptionDetails"]["exception"].get("description", "a script failed"))
        return done["result"].get("value")

    def settle(self):
        """Waits for two frames: what was asked for is drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def complaints(self):
        """All that a console would show, and requests that left the page."""
        found = []
        for event in self.own_events():
            method, what = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(what["exceptionDetails"]["exception"].get("description", "exception"))
            elif method == "Runtime.consoleAPICalled":
                found.append(what["type"] + ": " + " ".join(str(one.get("value")) for one in what["args"]))
            elif method == "Log.entryAdded":
                found.append(what["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:")):
                found.append("request: " + what["request"]["url"])
            elif method == "Page.javascriptDialogOpening":
                found.append("dialog: " + what["message"])
        return found

    def place_of(self, selector):
        """The middle of the first element, scrolled into view."""
        quoted = json.dumps(selector)
        box = self.value(f"""(() => {{ const found = document.querySelector({quoted});
            if (!found) return null;
            found.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = found.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }})()""")
        if box is None:
            raise Failed(f"no element {selector}")
        return box

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector, across=0.5, down=0.5):
        x, y, width, height = self.place_of(selector)
        self.mouse("mouseMoved", x + across * width, y + down * height)
        self.settle()

    def click(self, selector):
        x, y, width, height = self.place_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x + width / 2, y + height / 2, button="left", clickCount=1)
        self.settle()

    def key(self, name, shift=False):
        for kind in ("keyDown", "keyUp"):
            more = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {"text": " "} if name == " " and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code="Space" if name == " " else name,
                      windowsVirtualKeyCode=KEYS[name], modifiers=8 if shift else 0, **more)  # fmt: skip
        self.settle()

    def write(self, selector, text):
        """Puts the text into a field, as if it were typed."""
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)
        self.settle()

    def picture(self, path, whole=True):
        """A screenshot; of the whole page, or of what is in view."""
        more = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True,
                    "clip": {"x": 0, "y": 0, "width": self.width, "height": size["height"], "scale": 1}}  # fmt: skip
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def print_to(self, path):
        data = self.call("Page.printToPDF", printBackground=False)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

#!/usr/bin/env python3
"""The site of the documentation in a browser: on a phone and on a wide screen, light and dark, no page scrolls to the
side, nothing is loaded from elsewhere, and the console stays empty. LONG=1: all pages, else some.

Needs Chromium and what `scripts/deps.sh site` installs; without them these tests are skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from lib import browser  # noqa: E402

PYTHON = TESTS.parent / "build/site-venv/bin/python"
SOME = ("index.html", "start/yolo.html", "from-onnxruntime.html", "notebooks/llm-to-gguf.html")
WAYS = ((390, False), (390, True), (1440, False), (1440, True))
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BROKEN = "[...document.images].filter((one) => !one.naturalWidth).map((one) => one.src)"
MENU = "getComputedStyle(document.querySelector('nav div')).display"


@unittest.skipUnless(browser.program() and PYTHON.exists(), "needs Chromium, and scripts/deps.sh site")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = pathlib.Path(cls.folder.name) / "site"
        subprocess.run([PYTHON, TESTS.parent / "scripts/site.py", cls.site], check=True, stdout=subprocess.DEVNULL)
        cls.browser = browser.Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__(None, None, None)
        cls.folder.cleanup()

    def pages(self):
        found = sorted(path for path in self.site.rglob("*.html") if "files" not in path.parts)
        return found if os.environ.get("LONG") else [self.site / name for name in SOME]

    def test_widths(self):
        for path in self.pages():
            for width, dark in WAYS if os.environ.get("LONG") else WAYS[::3]:
                with self.subTest(page=path.name, width=width, dark=dark):
                    page = self.browser.open(path, width=width, dark=dark)
                    self.assertEqual(page.value(TOO_WIDE), 0)
                    self.assertEqual(page.value(BROKEN), [])
                    self.assertEqual(page.complaints(), [])
                    self.browser.call("Target.closeTarget", targetId=page.target)

    def test_menu(self):
        page = self.browser.open(self.site / "index.html", width=390)
        self.assertEqual(page.value(MENU), "none")
        page.value("document.querySelector('nav label').click()")
        self.assertEqual(page.value(MENU), "block")
        page.size(1440, 900)
        self.assertEqual(page.value(MENU), "block")


if __name__ == "__main__":
    unittest.main()

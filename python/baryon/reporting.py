"""Reports as pages.

    >>> baryon.report("report.json").save("report.html")
"""

import ctypes
import html
import json
import os

from . import _library
from ._call import call


class Report:
    """A self-contained page; a notebook shows it. data: the JSON as a dict."""

    def __init__(self, text):
        self.data = json.loads(text)
        raw = text.encode() if isinstance(text, str) else bytes(text)
        page, size = ctypes.c_void_p(), ctypes.c_size_t()
        call("baryon_report_html", raw, len(raw), ctypes.byref(page), ctypes.byref(size))
        try:
            self.html = ctypes.string_at(page, size.value).decode()
        finally:
            _library.library().baryon_bytes_free(page)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self):
        return f"<Report: {self.data.get('outcome', {}).get('text', '')}>"

    def _repr_html_(self):
        """A frame, so that styles and scripts of the page and the notebook stay apart."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="Report" sandbox="allow-scripts" '
            'style="width: 100%; height: 640px; border: 0"></iframe>'
        )


def report(source):
    """The Report of a file that --report wrote, of its JSON as text or dict, or of a Search."""
    if hasattr(source, "report_data"):
        source = source.report_data()
    if isinstance(source, dict):
        return Report(json.dumps(source))
    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip().startswith("{")):
        return Report(source)
    with open(os.fspath(source), encoding="utf-8") as file:
        return Report(file.read())

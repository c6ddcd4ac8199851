#!/usr/bin/env python3
"""The page of a report in a browser: it says the same without a script, sorts, filters, is used by
mouse and keys, stays harmless, can be read in both color schemes, on a phone and printed.

Needs Chromium; without it these tests are skipped. tidy checks the markup where it is installed.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import process

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from lib import browser  # noqa: E402
from report import made  # noqa: E402

REPORTS = TESTS / "report"

WIDTHS = (390, 1440)
STATUS = "document.querySelector('#table .status').textContent"
NAMES = "[...document.querySelectorAll('#table tr[data-row]')].map((row) => Number(row.dataset.row))"

# Ratios of all texts that are seen to what is behind them, by WCAG's formula: those below `least`.
CONTRAST = """(() => {
  const channels = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (front, back) => { const a = front[3] === undefined ? 1 : front[3];
    return [0, 1, 2].map((i) => front[i] * a + back[i] * (1 - a)); };
  const linear = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const light = (rgb) => 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(channels(getComputedStyle(at).backgroundColor));
    return layers.reverse().filter((one) => one.length).reduce((back, front) => over(front, back), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement, box = element.getBoundingClientRect();
    if (!node.data.trim() || !box.width || element.closest("script, style, noscript, .unseen, .picture, .skip")) continue;
    const style = getComputedStyle(element);
    const back = behind(element), front = over(channels(element instanceof SVGElement ? style.fill : style.color), back);
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`${node.data.trim().slice(0, 30)} (${element.className}): ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
})()"""

# The same of what charts are made of, which has to differ from the page by 3.
MARKS = """(() => {
  const linear = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number); return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b); };
  const page = light(getComputedStyle(document.body).backgroundColor);
  const found = [];
  for (const mark of document.querySelectorAll(".fill, .width, .cost, .whole, .alone, .goal, .climb, .bars-of-values, .range, .comb, .cursor")) {
    const style = getComputedStyle(mark), color = style.fill === "none" || mark.matches("line, .whole, .alone, .comb, .climb, .range") ? style.stroke : style.fill;
    const [high, low] = [light(color), page].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 3) found.push(`${mark.getAttribute("class")}: ${color}`);
  }
  return [...new Set(found)];
})()"""

# What leaves the width of the page, but for what scrolls in a box of its own.
TOO_WIDE = """[...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1
    && !one.closest(".scroll, nav, pre, .full-name")).map((one) => one.tagName + "." + one.className).slice(0, 5)"""


@unittest.skipUnless(browser.program(), "no Chromium to show pages with")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="page-")))
        cls.reports = {name: make() for name, make in made.MADE.items()}
        for name, report in cls.reports.items():
            cls.write(name, json.dumps(report))
        for path in REPORTS.glob("*.json"):
            cls.write("file-" + path.stem, path.read_text("utf-8"))
        cls.browser = cls.enterClassContext(browser.Browser())

    @classmethod
    def write(cls, name, text):
        (cls.folder / f"{name}.json").write_text(text, "utf-8")
        done = process.run("report", f"{name}.json", "-o", f"{name}.html", cwd=cls.folder)
        assert done.status == 0, done.err

    def open(self, name, **options):
        page = self.browser.open(self.folder / f"{name}.html", **options)
        self.addCleanup(page.close)
        if options.get("script", True):
            page.settle()
        return page

    # --- What everybody gets

    def test_nothing_is_in_the_console_and_nothing_is_fetched(self):
        for path in sorted(self.folder.glob("*.html")):
            for width in WIDTHS:
                with self.subTest(path.stem, width=width):
                    page = self.open(path.stem, width=width)
                    self.assertEqual(page.complaints(), [])
                    self.assertEqual(page.value(TOO_WIDE), [])
                    self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)

    def test_the_policy_forbids_network_and_foreign_script(self):
        page = self.open("small")
        policy = page.value("document.querySelector('meta[http-equiv]').content")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        page.value("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))")
        page.value("document.body.append(Object.assign(document.createElement('img'), {src: 'http://127.0.0.1:9/x.png'}))")
        page.settle()
        self.assertIsNone(page.value("window.ran"))
        refused = " ".join(page.complaints())
        self.assertIn("Content Security Policy", refused)
        self.assertNotIn("request: ", refused.replace("request: http://127.0.0.1:9/x.png", ""))

    def test_contrast(self):
        for name in ("small", "file-rich"):
            for dark in (False, True):
                with self.subTest(name, dark=dark):
                    page = self.open(name, dark=dark)
                    page.value("document.querySelectorAll('.name-button').forEach((one, i) => i < 3 && one.click())")
                    page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                    page.settle()
                    self.assertEqual(page.value(CONTRAST), [])
                    self.assertEqual(page.value(MARKS), [])
                    self.assertEqual(page.complaints(), [])

    def test_schemes_differ(self):
        light, dark = (self.open("small", dark=dark).value("getComputedStyle(document.body).backgroundColor") for dark in (False, True))
        self.assertNotEqual(light, dark)

    def test_everything_has_a_name(self):
        """Each part that can be used has a name for those who hear the page."""
        for name in ("small", "file-rich"):
            page = self.open(name)
            page.click(".name-button")
            nodes = page.call("Accessibility.getFullAXTree")["nodes"]
            used = [node for node in nodes if node.get("role", {}).get("value") in
                    ("button", "slider", "searchbox", "spinbutton", "combobox", "checkbox", "link", "image", "table")]  # fmt: skip
            tables = [node for node in used if node["role"]["value"] == "table"]
            self.assertGreater(len(used), 30)
            self.assertGreater(len(tables), 3)
            unnamed = [node["role"]["value"] for node in used if not node.get("name", {}).get("value") and node not in tables]
            self.assertEqual(unnamed, [])
            levels = page.value("[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))")
            self.assertEqual(levels[0], 1)
            self.assertTrue(all(later <= earlier + 1 for earlier, later in zip(levels, levels[1:])))

    @unittest.skipUnless(shutil.which("tidy"), "no tidy to check markup with")
    def test_markup_is_valid(self):
        for path in sorted(self.folder.glob("*.html")):
            with self.subTest(path.stem):
                done = subprocess.run(["tidy", "-q", "-e", path], capture_output=True, text=True, check=False)
                left = [line for line in done.stderr.splitlines() if "trimming empty" not in line]
                self.assertEqual(left, [])

    def test_ids_are_unique(self):
        page = self.open("small")
        self.assertEqual(page.value("(() => { const ids = [...document.querySelectorAll('[id]')].map((one) => one.id); return ids.length - new Set(ids).size; })()"), 0)

    def test_goal_that_the_last_samples_miss(self):
        report = json.loads(json.dumps(self.reports["small"]))
        report["goals"][0] |= {"value": 19.4, "met": False}
        self.write("missed-last", json.dumps(report))
        badges = self.open("missed-last").value("[...document.querySelectorAll('.badge')].map((one) => one.innerText)")
        self.assertEqual([text[2:] for text in badges], ["Goal met on the samples that chose", "Missed on the last samples"])

    # --- Without a script, printed

    def test_without_a_script(self):
        page = self.open("small", script=False)
        tree = json.dumps(page.call("DOM.getDocument", depth=-1))
        for text in ("21.3", "Goal met", "A8W8, solved rounding", "15 of 16", "/features/features.0/conv/conv.0/Conv.weight", "street_", "baryon auto models/street_detector.onnx"):
            self.assertIn(text, tree)
        whole = self.open("large", script=False)
        self.assertIn("The first 200 of ", json.dumps(whole.call("DOM.getDocument", depth=-1)))

    def test_printed(self):
        page = self.open("large", media="print", dark=True)
        self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(251, 251, 250)")
        self.assertEqual(page.value("getComputedStyle(document.querySelector('nav')).display"), "none")
        self.assertIn("cut", page.value("document.querySelector('#table .cut-note').textContent"))
        self.assertNotEqual(page.value("getComputedStyle(document.querySelector('#table .cut-note')).display"), "none")
        page.value("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.value("document.querySelectorAll('details:not([open])').length"), 0)
        page.value("dispatchEvent(new Event('afterprint'))")
        self.assertGreater(page.value("document.querySelectorAll('details:not([open])').length"), 0)

    # --- The table

    def test_sorting(self):
        page = self.open("small")
        tensors = self.reports["small"]["tensors"]
        head = "#table thead th:nth-child({}) button"
        column = page.value("[...document.querySelectorAll('#table thead th')].findIndex((one) => one.textContent === 'Scale') + 1")
        page.click(head.format(column))
        scales = [tensors[i]["scale"] for i in page.value(NAMES)]
        self.assertEqual(scales, sorted(scales))
        self.assertEqual(page.value(f"document.querySelector('#table thead th:nth-child({column})').ariaSort"), "ascending")
        page.click(head.format(column))
        scales = [tensors[i]["scale"] for i in page.value(NAMES)]
        self.assertEqual(scales, sorted(scales, reverse=True))
        self.assertEqual(page.value("document.querySelectorAll('#table [aria-sort]').length"), 1)

    def test_the_worst_comes_first_and_the_unknown_last(self):
        page = self.open("small")
        tensors = self.reports["small"]["tensors"]
        values = [tensors[i].get("whole_db") for i in page.value(NAMES)]
        some = [value for value in values if value is not None]
        self.assertEqual(values[: len(some)], sorted(some))

    def test_searching_and_filters(self):
        page = self.open("small")
        tensors = self.reports["small"]["tensors"]
        page.write("#table input[type=search]", "conv.3/ADD")
        found = page.value(NAMES)
        self.assertEqual(sorted(found), [i for i, one in enumerate(tensors) if "conv.3/add" in (one["name"] + one["why"]).lower()])
        self.assertEqual(page.value(STATUS), f"{len(found)} of {len(tensors)} tensors")
        page.write("#table input[type=search]", "no such name")
        self.assertEqual(page.value(NAMES), [])
        self.assertIn("No tensor matches", page.value("document.querySelector('#table tbody').textContent"))
        page.write("#table input[type=search]", " ")
        page.value("(() => { const one = document.querySelector('#table .filters select'); one.value = 'weight'; one.dispatchEvent(new Event('change')); })()")
        self.assertEqual({tensors[i]["role"] for i in page.value(NAMES)}, {"weight"})
        page.write("#table input[type=number]", "35")
        self.assertTrue(all(tensors[i]["alone_db"] < 35 for i in page.value(NAMES)))
        self.assertGreater(len(page.value(NAMES)), 3)

    def test_weights_of_language_models(self):
        rows = self.reports["llm"]["weights"]
        page, names = self.open("llm"), NAMES.replace("#table", "#linears")
        page.click("#linears .more button:last-child")
        found = [rows[i].get("output_error") for i in page.value(names)]
        known = [value for value in found if value is not None]
        self.assertEqual(known, sorted((row["output_error"] for row in rows if "output_error" in row), reverse=True))
        self.assertEqual(found[len(known) :], [None] * (len(rows) - len(known)))
        page.write("#linears input[type=search]", "layers.7.")
        self.assertEqual({rows[i]["name"].split(".")[2] for i in page.value(names)}, {"7"})
        page.value("(() => { const one = document.querySelectorAll('#linears .filters select')[1]; one.value = 'fp8'; one.dispatchEvent(new Event('change')); })()")
        self.assertEqual([rows[i]["name"] for i in page.value(names)], ["model.layers.7.mlp.down_proj.weight"])
        page.click("#linears tr[data-row] button")
        page.settle()
        self.assertIn("With nearest levels", page.value("document.querySelector('#linears .details').textContent"))
        self.assertEqual(page.value("document.querySelectorAll('#decoder tbody tr').length"), 30)
        self.assertEqual(page.value("document.title").count("owned"), 0)

    def test_search_for_bits(self):
        report = self.reports["llm-auto"]
        page, names = self.open("llm-auto"), NAMES.replace("#table", "#linears")
        found = [report["linears"][i]["predicted_kl"] for i in page.value(names)]
        self.assertEqual(found, sorted((row["predicted_kl"] for row in report["linears"]), reverse=True)[: len(found)])
        said = page.value("document.querySelector('.figures').textContent")
        for part in ("0.0123", "0.0321 with one type", "25.1", "the float model 24.2"):
            self.assertIn(part, said)
        widths = page.value("[...document.querySelectorAll('#decoder .fill')].map((one) => one.getBoundingClientRect().width)")
        greatest = max(report["layers_kl"])
        for width, kl in zip(widths, report["layers_kl"], strict=True):
            self.assertAlmostEqual(width / max(widths), kl / greatest, delta=0.02)

    def test_windows_of_an_evaluation(self):
        report = self.reports["llm-eval"]
        page = self.open("llm-eval")
        said = page.value("document.querySelector('.figures').textContent")
        for part in ("0.0812", "nats a token, \u00b1\u00a00.0021", "25.1", "the reference 24.2, \u00b1\u00a01.2", "81"):
            self.assertIn(part, said)
        widths = page.value("[...document.querySelectorAll('#windows .fill')].map((one) => one.getBoundingClientRect().width)")
        greatest = max(window["kl"] for window in report["by_window"])
        for width, window in zip(widths, report["by_window"], strict=True):
            self.assertAlmostEqual(width / max(widths), window["kl"] / greatest, delta=0.02)

    def test_layers_and_tensors(self):
        page = self.open("small")
        page.click("#table [data-kind=layers]")
        self.assertEqual(page.value(STATUS), "64 layers")
        self.assertEqual(page.value("document.querySelector('#table [data-kind=layers]').ariaPressed"), "true")
        page.click("#table [data-kind=tensors]")
        self.assertEqual(page.value(STATUS), f"{len(self.reports['small']['tensors'])} tensors")

    def test_long_tables_come_in_parts(self):
        page = self.open("large")
        rows = "document.querySelectorAll('#table tr[data-row]').length"
        self.assertEqual(page.value(rows), 100)
        page.click("#table .more button")
        self.assertEqual(page.value(rows), 200)
        self.assertEqual(page.value("document.activeElement.closest('tr') === document.querySelectorAll('#table tr[data-row]')[100]"), True)
        page.click("#table .more button:last-child")
        self.assertEqual(page.value(rows), len(self.reports["large"]["tensors"]))

    def test_details_have_histogram_range_and_steps(self):
        page = self.open("small")
        page.click(".name-button")
        self.assertEqual(page.value("document.querySelector('.name-button').ariaExpanded"), "true")
        row = self.reports["small"]["tensors"][page.value(NAMES)[0]]
        text = page.value("document.querySelector('.details').textContent")
        self.assertIn(row["name"], text)
        self.assertIn("256 levels", text)
        self.assertIn(row["why"], text)
        self.assertGreater(len(page.value("document.querySelector('.details .bars-of-values').getAttribute('d')")), 100)
        self.assertGreater(page.value("document.querySelectorAll('.details svg .range').length"), 0)
        before = page.value("document.querySelector('.details .bars-of-values').getAttribute('d')")
        page.click(".details .switch input")
        self.assertNotEqual(page.value("document.querySelector('.details .bars-of-values').getAttribute('d')"), before)
        page.click(".name-button")
        self.assertIsNone(page.value("document.querySelector('.details')"))
        self.assertEqual(page.complaints(), [])

    # --- Charts

    def test_hover_along_the_graph(self):
        page = self.open("small")
        readout = "document.querySelector('#graph .readout').textContent"
        page.hover("#graph svg", 0.1)
        first = page.value(readout)
        page.hover("#graph svg", 0.9)
        self.assertNotEqual(page.value(readout), first)
        self.assertIn("of 64", first)
        index = int(first.split(" of ")[0]) - 1
        self.assertIn(self.reports["small"]["layers"][index]["name"], first)

    def test_hover_of_steps(self):
        page = self.open("small")
        for i, step in enumerate(self.reports["small"]["steps"]):
            page.hover(f"#search svg [data-step='{i}']")
            self.assertIn(step["name"], page.value("document.querySelector('#search .readout').textContent"))
            self.assertEqual(page.value("document.querySelector('#search tr.at').dataset.step"), str(i))

    def test_keys(self):
        page = self.open("small")
        page.key("Tab")
        self.assertEqual(page.value("document.activeElement.className"), "skip")
        self.assertGreaterEqual(page.value("document.activeElement.getBoundingClientRect().top"), 0)
        for _ in range(60):
            if page.value("document.activeElement.getAttribute('aria-label')") == "Layers along the graph":
                break
            page.key("Tab")
        slider = "document.activeElement.getAttribute('aria-valuetext')"
        self.assertNotEqual(page.value("getComputedStyle(document.activeElement).outlineStyle"), "none")
        page.key("Home")
        self.assertTrue(page.value(slider).startswith("layer 1 of 64: Conv "))
        page.key("ArrowRight")
        self.assertTrue(page.value(slider).startswith("layer 2 of 64"))
        page.key("PageDown")
        self.assertTrue(page.value(slider).startswith("layer 1 of 64"))
        page.key("End")
        self.assertTrue(page.value(slider).startswith("layer 64 of 64"))
        page.key("Enter")
        self.assertEqual(page.value("document.activeElement.closest('tr').dataset.row"), "63")
        self.assertEqual(page.value("document.activeElement.ariaExpanded"), "true")
        self.assertEqual(page.value("document.querySelector('#table [data-kind=layers]').ariaPressed"), "true")
        page.key("Enter")
        self.assertEqual(page.value("document.activeElement.ariaExpanded"), "false")

    def test_zoom(self):
        page = self.open("large")
        ticks = "document.querySelectorAll('#graph .axis-title').length && document.querySelector('#graph svg').textContent"
        before = page.value(ticks)
        for _ in range(3):
            page.click("#graph .tools button")
        self.assertNotEqual(page.value(ticks), before)
        for _ in range(3):
            page.click("#graph .tools button:last-child")
        self.assertEqual(page.value(ticks), before)

    def test_charts_follow_the_width(self):
        page = self.open("small")
        self.assertGreater(page.value("document.querySelector('#graph svg').getBoundingClientRect().width"), 900)
        page.size(390, 800)
        page.settle()
        page.settle()
        self.assertLess(page.value("document.querySelector('#graph svg').getBoundingClientRect().width"), 390)
        self.assertEqual(page.value(TOO_WIDE), [])

    # --- Samples, command

    def test_samples(self):
        page = self.open("small")
        self.assertEqual(page.value("document.querySelectorAll('.sample').length"), 3)
        drawn = "[...document.querySelectorAll('.sample:nth-of-type(1) .picture > g')].map((one) => getComputedStyle(one).display)"
        self.assertEqual(page.value(drawn), ["inline", "none", "inline"])
        page.click(".sample:nth-of-type(1) .switch:nth-child(2) input")
        self.assertEqual(page.value(drawn), ["inline", "inline", "inline"])
        self.assertIn("\u2717", page.value("document.querySelector('.sample td.changed').textContent"))
        self.assertIn("Egyptian cat", page.value("document.querySelector('.sample').textContent"))

    def test_copying(self):
        page = self.open("small")
        page.click(".copy")
        page.value("new Promise((done) => setTimeout(done, 50))")
        self.assertIn(page.value("document.querySelector('.copy').textContent"), ("Copied", "Selected"))
        self.assertIn("The command is", page.value("document.querySelector('#say').textContent"))

    # --- Hostile texts

    def test_hostile_texts_are_harmless(self):
        page = self.open("hostile")
        page.value("document.querySelectorAll('.name-button').forEach((one) => one.click())")
        page.click("#table [data-kind=layers]")
        page.value("document.querySelectorAll('.name-button').forEach((one) => one.click())")
        page.settle()
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.value("document.scripts.length"), 2)
        self.assertEqual(page.value("document.querySelectorAll('[onerror], iframe, object, embed, form, base').length"), 0)
        self.assertEqual(page.value("document.querySelectorAll('h1').length"), 1)
        self.assertNotIn("\u202e", page.value("document.body.innerText"))
        self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 1440)

    def test_long_names_are_whole_in_the_details(self):
        page = self.open("hostile")
        page.value("document.querySelectorAll('.name-button').forEach((one) => one.click())")
        page.settle()
        texts = page.value("[...document.querySelectorAll('.full-name')].map((one) => one.textContent)")
        self.assertTrue("x" * 10000 in texts)
        self.assertIn("\\u202edesrever\\u202c \\u2066iso", texts)
        heights = page.value("[...document.querySelectorAll('.full-name')].map((one) => one.getBoundingClientRect().height)")
        self.assertLess(max(heights), 200)


if __name__ == "__main__":
    unittest.main()

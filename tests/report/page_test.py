#!/usr/bin/env python3
"""Looks at the pages that krylith solve writes: well-formed, self-contained, nothing unescaped.

    page_test.py KRYLITH
"""
import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

KRYLITH = os.path.abspath(sys.argv.pop(1))
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 2 5\n3 3 6\n2 1 -1\n3 2 -1\n"


class Tags(html.parser.HTMLParser):
    """Elements that are open at the end, or closed without being open; and all attributes."""

    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="krylith_page_")
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def solve(self, *arguments):
        done = subprocess.run([KRYLITH, "solve", *arguments, "--backend", "host", "--quiet"], cwd=self.folder.name,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def page(self, name):
        with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("<!DOCTYPE html>\n"))
        root = xml.etree.ElementTree.fromstring(text)  # throws where it is not well-formed
        tags = Tags()
        tags.feed(text)
        self.assertEqual((tags.open, tags.wrong), ([], []))
        for tag, attribute, value in tags.attributes:
            self.assertNotIn(attribute, ("src", "srcset", "onload", "onclick"))
            if attribute == "href":
                self.assertTrue(value.startswith("#"), value)
        for word in ("@import", "url(", "<script", "<link"):
            self.assertNotIn(word, text)
        self.assertIn("prefers-color-scheme: dark", text)
        return text, root

    def headings(self, root):
        return [heading.text for heading in root.iter(XHTML + "h3")]

    def test_one_solve(self):
        status, _ = self.solve("gallery:poisson2d:20", "--devices", "2", "--report", "a.html")
        self.assertEqual(status, 0)
        text, root = self.page("a.html")
        for heading in ("What was solved", "Convergence", "Where the time went", "Memory by device",
                        "Where the entries lie", "The command"):
            self.assertIn(heading, self.headings(root))
        self.assertEqual(len(list(root.iter(SVG + "svg"))), 2)
        self.assertIn("krylith solve gallery:poisson2d:20 --devices 2 --report a.html", text)
        bars = [row for table in root.iter(XHTML + "table") if table.get("class") == "bars"
                for row in table.iter(XHTML + "tr")]
        names = [row.find(XHTML + "th").text for row in bars]
        self.assertEqual(names, ["load", "setup", "transfer", "solve", "device 0", "device 1"])

    def test_several_solves_and_one_that_fails(self):
        self.write("a.mtx", MATRIX)
        status, errors = self.solve("a.mtx", "none.mtx", "gallery:poisson2d:9", "--report", "all.html", "--plot",
                                    "all.svg")
        self.assertEqual(status, 3)
        self.assertIn("none.mtx", errors)
        text, root = self.page("all.html")
        self.assertEqual(len(list(root.iter(XHTML + "h2"))), 3)
        self.assertIn("Not solved: none.mtx: no such file", text)
        links = [link.get("href") for link in root.iter(XHTML + "a")]
        places = [heading.get("id") for heading in root.iter(XHTML + "h2")]
        self.assertEqual(links, ["#" + place for place in places])
        plot = xml.etree.ElementTree.parse(os.path.join(self.folder.name, "all.svg")).getroot()
        self.assertEqual(len(list(plot.iter(SVG + "polyline"))), 2)

    def test_names_are_text(self):
        name = "<b onload='x'>&\"c\".mtx"
        self.write(name, MATRIX)
        self.assertEqual(self.solve(name, "--report", "a.html")[0], 0)
        text, root = self.page("a.html")
        self.assertNotIn("<b ", text)
        self.assertEqual(next(root.iter(XHTML + "h2")).text, name)

    def test_a_solve_that_does_not_converge(self):
        status, _ = self.solve("gallery:poisson2d:20", "--max-iterations", "3", "--report", "a.html")
        self.assertEqual(status, 1)
        text, root = self.page("a.html")
        self.assertIn("NOT converged", text)
        self.assertIn("To try next", self.headings(root))

    def test_json_of_several(self):
        status, _ = self.solve("gallery:poisson2d:4", "gallery:poisson2d:5", "--report", "a.json")
        self.assertEqual(status, 0)
        with open(os.path.join(self.folder.name, "a.json"), encoding="utf-8") as file:
            reports = json.load(file)
        self.assertEqual([report["matrix"]["rows"] for report in reports], [16, 25])
        self.assertEqual([report["schema_version"] for report in reports], [1, 1])


if __name__ == "__main__":
    unittest.main()

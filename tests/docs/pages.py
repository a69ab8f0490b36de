#!/usr/bin/env python3
"""The pages of the documentation, and what is wrong with them without running anything:

    pages.py SOURCE_DIR

Every ```cpp and ```cmake block of README.md and docs/, and all code in comments of the public headers, must stand
word for word in a file that a test compiles or configures (below examples/ or tests/), but for spaces; every relative link must lead to a file,
and its #anchor to a heading; headers that a page for users names must be installed. Prints each offence with its place, and exits with 1 if there is one.
"""
import pathlib
import re
import sys


def pages(root):
    """The .md files that users and contributors read."""
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("bench/**/*.md")])


def blocks(page, *languages):
    """(line number, text) of each fenced block in one of these languages."""
    found, start, lines = [], None, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if start is None and line.startswith("```") and line[3:].strip() in languages:
            start, lines = number, []
        elif start is not None and line.startswith("```"):
            found.append((start, "\n".join(lines)))
            start = None
        elif start is not None:
            lines.append(line)
    if start is not None:
        raise SystemExit(f"{page}:{start}: the block does not end")
    return found


PUBLIC = ("device", "comm", "matrix", "partition", "vector", "sparse", "spmspv", "spmv", "precond", "solvers", "graph", "adapters")


def comment_code(header):
    """(line number, text) of each piece of code in a header's comments: consecutive lines that are indented by four
    spaces or more, of which the first ends as a statement does. A line that begins with "..." is between two."""
    pieces, lines, start = [], [], 0
    for number, line in enumerate(header.read_text(encoding="utf-8").splitlines() + [""], 1):
        shown = re.match(r"\s*///? {4,}(\S.*)", line)
        if shown and not shown.group(1).startswith("..."):
            start = start if lines else number
            lines.append(shown.group(1))
            continue
        if lines and re.search(r"[;{]\s*(//.*)?$", lines[0]):
            pieces.append((start, "\n".join(lines)))
        lines = []
    return pieces


def flush_left(text):
    """Without indentation and alignment, which a page may change, and blank lines at the ends."""
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def code_offences(root):
    sources = [flush_left(f.read_text(encoding="utf-8"))
               for folder in ("examples", "tests") for pattern in ("*.cpp", "*.cu", "CMakeLists.txt")
               for f in sorted((root / folder).rglob(pattern))]
    shown = [(page, *block) for page in [root / "README.md", *sorted(root.glob("docs/**/*.md"))]
             for block in blocks(page, "cpp", "cmake")]
    shown += [(header, *piece) for folder in PUBLIC for header in sorted((root / folder).rglob("*.hpp"))
              for piece in comment_code(header)]
    for page, line, text in shown:
        if not any(f"\n{flush_left(text)}\n" in f"\n{source}\n" for source in sources):
            yield f"{page}:{line}: this code is in no file of examples/ or tests/"


def anchors(page):
    """What headings can be linked to as, by GitHub's rule."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ +(.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def link_offences(root):
    for page in pages(root):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m.group()),
                      page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.finditer(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = link.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            place = f"{page}:{text.count(chr(10), 0, link.start()) + 1}"
            file = (page.parent / target).resolve() if target else page
            if not file.exists():
                yield f"{place}: {target} does not exist"
            elif anchor and anchor not in anchors(file):
                yield f"{place}: {file.name} has no heading #{anchor}"


# The others tell how krylith is built, and may name what is internal.
INSIDE = ("CONTRIBUTING.md", "design.md", "kernels.md", "measured.md", "papers.md")


def installed_headers(root):
    """As cmake/KrylithHeaders.cmake finds them."""
    named = re.search(r"^set\(waiting ([^)]*)\)", (root / "cmake/KrylithHeaders.cmake").read_text(), flags=re.M)
    waiting = [*named.group(1).split(), *(f"{room}/{h.name}" for room in PUBLIC for h in (root / room).glob("*.hpp"))]
    found = set()
    while waiting:
        header = waiting.pop()
        if header not in found and header != "config.hpp":
            found.add(header)
            waiting += re.findall(r"# *include <krylith/([^>]*)>", (root / header).read_text(encoding="utf-8"))
    return found


def header_offences(root):
    installed = installed_headers(root) | {"krylith.hpp"}
    for page in pages(root):
        if page.name in INSIDE or page.parts[len(root.parts)] == "bench":
            continue
        for link in re.findall(r"\]\(([^)#]+\.hpp)\)", page.read_text(encoding="utf-8")):
            header = (page.parent / link).resolve().relative_to(root.resolve()).as_posix()
            if header.split("/")[0] in PUBLIC and header not in installed:
                yield f"{page}: {header} is for users, and isn't installed"


if __name__ == "__main__":
    tree = pathlib.Path(sys.argv[1])
    offences = [*code_offences(tree), *link_offences(tree), *header_offences(tree)]
    print("\n".join(offences) or f"{len(pages(tree))} pages, all code and links found")
    sys.exit(bool(offences))

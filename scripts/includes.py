"""The include directions of the library (scripts/lint --structure, ctest lint.structure).

Fails where
  - a line includes a room that stands behind its own in KRYLITH_ROOMS (CMakeLists.txt), or the library
    includes tools/, bench/ or tests/;
  - folders inside a room, tools/ or bench/ include each other in a circle. Each public header of a room counts
    as a folder, together with that of its name; a source that includes one implements it, which is no direction;
  - a .hpp or .cpp includes a .cuh, which only a .cu or another .cuh may;
  - an included header is not there;
  - a header that lies directly in a room is named neither by docs/api.md nor, as the header of a solver, a
    preconditioner or a graph algorithm, by the table "Names" of docs/reference.md; or one of these names as
    a header of a room what lies in none;
  - there are more than MOST_FACES such headers beside those of that table, or one has more than 300 lines.

Usage: python3 scripts/includes.py [ROOT]
"""
import os
import re
import sys
from collections import defaultdict

MOST_FACES = 69
MOST_LINES = 300
METHODS = r"\| (Solvers|Preconditioners|Graphs) \|"
SOURCE = re.compile(r"\.(hpp|cuh|cpp|cu)$")
INCLUDE = re.compile(r"^\s*#\s*include\s+<krylith/([^>]+)>")


def rooms_of(root):
    with open(os.path.join(root, "CMakeLists.txt")) as file:
        found = re.search(r"set\(KRYLITH_ROOMS ([^)]*)\)", file.read())
    if not found:
        sys.exit("includes.py: CMakeLists.txt has no set(KRYLITH_ROOMS ...)")
    return found.group(1).split()


def sources(root, tops):
    for top in tops:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if SOURCE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes(root, path):
    with open(os.path.join(root, path)) as file:
        for number, line in enumerate(file, 1):
            found = INCLUDE.match(line)
            if found:
                yield number, found.group(1)


def headers_named(root, rooms, page, rows=""):
    """The headers of rooms that the page links to, in lines that begin with `rows`."""
    path = os.path.join(root, page)
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        lines = [line for line in file if re.match(rows, line)]
    return set(re.findall(r"\.\./((?:%s)/[\w/]+\.hpp)" % "|".join(rooms), "".join(lines)))


def circles(graph):
    """The strongly connected sets of two folders and more (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(part) > 1:
                out.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return out


def folder_of(path):
    """The folder of a file, and for one directly in a room the folder of its name."""
    folder = os.path.dirname(path)
    return folder if "/" in folder else os.path.splitext(path)[0]


def check(root):
    rooms = rooms_of(root)
    place = {room: k for k, room in enumerate(rooms)}
    complaints = []
    graph = defaultdict(dict)
    faces = []
    for path in sources(root, rooms + ["tools", "bench"]):
        room, folder = path.split("/")[0], os.path.dirname(path)
        if room in place and folder == room and path.endswith(".hpp"):
            faces.append(path)
        for number, header in includes(root, path):
            if header == "config.hpp":
                continue
            line = f"{path}:{number}"
            if not os.path.exists(os.path.join(root, header)):
                complaints.append(f"{line}: there is no {header}")
                continue
            other, other_folder = header.split("/")[0], os.path.dirname(header)
            if room in place and other not in place:
                complaints.append(f"{line}: the library includes {header}")
            elif room in place and place[other] > place[room]:
                complaints.append(f"{line}: {room}/ includes {header}, but {other}/ stands behind it in "
                                  f"the order of rooms")
            if header.endswith(".cuh") and path.endswith((".hpp", ".cpp")):
                complaints.append(f"{line}: includes {header}; only a .cu or .cuh may include a .cuh")
            implements = path.endswith((".cpp", ".cu")) and room in (folder, other_folder)
            if room == other and folder_of(path) != folder_of(header) and not implements:
                graph[folder_of(path)].setdefault(folder_of(header), f"{line} includes {header}")
                graph[folder_of(header)]
    for circle in circles(graph):
        complaints.append(f"the folders {', '.join(circle)} include each other in a circle:")
        complaints += [f"    {graph[a][b]}" for a in circle for b in graph[a] if b in circle]

    named = headers_named(root, rooms, "docs/api.md")
    methods = headers_named(root, rooms, "docs/reference.md", METHODS)
    for face in faces:
        if face not in named | methods:
            complaints.append(f"{face}: a header directly in a room is public, and docs/api.md doesn't name it, "
                              f"nor does docs/reference.md as that of a method")
        with open(os.path.join(root, face)) as file:
            lines = sum(1 for _ in file)
        if lines > MOST_LINES:
            complaints.append(f"{face}: {lines} lines, at most {MOST_LINES} are allowed in a public header")
    for page, headers in (("docs/api.md", named), ("docs/reference.md", methods)):
        for header in sorted(headers - set(faces)):
            complaints.append(f"{page} names {header}, which is no public header")
    others = len(set(faces) - methods)
    if others > MOST_FACES:
        complaints.append(f"{others} public headers beside those of solvers, preconditioners and graph algorithms, "
                          f"at most {MOST_FACES} are allowed")
    return complaints, len(faces)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    complaints, faces = check(root)
    for complaint in complaints:
        print(complaint)
    print(f"   includes: {len(complaints)} complaints, {faces} public headers")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

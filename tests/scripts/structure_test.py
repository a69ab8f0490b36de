"""scripts/includes.py and functions.py: what they accept, and an example of each complaint."""
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import functions
import includes

GOOD = {
    "CMakeLists.txt": "set(KRYLITH_ROOMS low high)\n",
    "docs/api.md": "[a](../low/a.hpp) [b](../high/b.hpp)\n",
    "docs/reference.md": "| Solvers | [`m`](../high/m.hpp) |\nas [b](../low/parts/c.hpp)\n",
    "low/a.hpp": "#pragma once\n#include <krylith/low/parts/c.hpp>\n",
    "low/parts/c.hpp": "#pragma once\n",
    "low/parts/c.cpp": "#include <krylith/low/parts/c.hpp>\n#include <krylith/low/a.hpp>\n",
    "low/parts/k.cuh": "#pragma once\n",
    "low/parts/k.cu": "#include <krylith/low/parts/k.cuh>\n",
    "high/b.hpp": "#pragma once\n#include <krylith/config.hpp>\n#include <krylith/low/a.hpp>\n",
    "high/m.hpp": "#pragma once\n",
    "tools/main.cpp": "#include <krylith/high/b.hpp>\n",
}


def complaints(changes):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**GOOD, **changes}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(text)
        return includes.check(root)[0]


def expect(part, changes):
    found = complaints(changes)
    assert any(part in complaint for complaint in found), (part, found)


assert complaints({}) == [], complaints({})
expect("high/ stands behind it", {"low/parts/c.cpp": "#include <krylith/high/b.hpp>\n"})
expect("the library includes tools/t.hpp",
       {"low/parts/c.cpp": "#include <krylith/tools/t.hpp>\n", "tools/t.hpp": "#pragma once\n"})
expect("only a .cu or .cuh", {"low/parts/c.cpp": "#include <krylith/low/parts/k.cuh>\n"})
expect("there is no low/gone.hpp", {"high/b.hpp": "#include <krylith/low/gone.hpp>\n"})
expect("in a circle", {"low/parts/c.hpp": "#include <krylith/low/others/d.hpp>\n",
                       "low/others/d.hpp": "#pragma once\n",
                       "low/others/d.cpp": "#include <krylith/low/parts/c.hpp>\n"})
expect("low/a, low/parts include each other", {"low/parts/c.hpp": "#include <krylith/low/a.hpp>\n"})
assert complaints({"low/a/d.hpp": "#include <krylith/low/a.hpp>\n",
                   "low/a.hpp": "#include <krylith/low/a/d.hpp>\n"}) == [] # a header and the folder of its name are one
expect("docs/api.md doesn't name it", {"low/new.hpp": "#pragma once\n"})
expect("which is no public header", {"docs/api.md": "[a](../low/a.hpp) [b](../high/b.hpp) [c](../low/parts/c.hpp)\n"})
expect("docs/api.md doesn't name it", {"docs/reference.md": "see [m](../high/m.hpp)\n"})
expect("docs/reference.md names low/parts/c.hpp, which is no public header",
       {"docs/reference.md": "| Solvers | [`m`](../high/m.hpp), [`c`](../low/parts/c.hpp) |\n"})
expect("at most 300", {"low/a.hpp": "\n" * 301})
expect(f"at most {includes.MOST_FACES}", {f"low/f{k}.hpp": "#pragma once\n" for k in range(includes.MOST_FACES + 1)})
methods = {f"high/m{k}.hpp": "#pragma once\n" for k in range(60)}
assert complaints({**methods, "docs/reference.md": "| Solvers | [`m`](../high/m.hpp) " +
                   " ".join(f"[`m{k}`](../{path})" for k, path in enumerate(methods)) + " |\n"}) == []


def long_functions(declaration, body="    f(); // {\n" * 61):
    return [found[1] for found in functions.long_functions(f"namespace a {{\n{declaration} {{\n{body}}}\n}}\n")]


assert long_functions("void g(int x) const") == [61]
assert long_functions("a::a(int x) : x_(x)") == [61]
assert long_functions("void g()", "    f();\n" * 60) == []
assert long_functions("__global__ void g(int x)") == []
assert long_functions("class g") == []
assert long_functions("void g()", "    static const int all[] = {\n" + "    1,\n" * 70 + "    };\n") == []
assert long_functions("void g()", "    for (int i = 0; i < 3; ++i) {\n" + "    f();\n" * 70 + "    }\n") == [72]
print("all complaints are made")

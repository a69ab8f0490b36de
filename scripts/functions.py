"""The lengths of functions (scripts/lint --structure, ctest lint.structure).

Fails where a function of the library, tools/ or bench/ has more than MOST_LINES lines between its braces. Code of
kernels may be longer (__global__, __device__, KRYLITH_HD), and so may a table: a function of which one initializer
is more than half. It reads text, not C++: what stands between braces behind a list of parameters is a function.

Usage: python3 scripts/functions.py [ROOT]
"""
import os
import re
import sys

import includes

MOST_LINES = 60
LITERALS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
FUNCTION = re.compile(r"\)\s*(const|noexcept|override|final|->[^;{}]*|\s|&)*$|\)\s*:\s*[^;]*$")
TABLE = re.compile(r"(=|\]|return|static (const|constexpr) [^;{}()]*)\s*$")
KERNEL = re.compile(r"__global__|__device__|KRYLITH_HD")


def blocks(text):
    """The places of each pair of braces."""
    open_ones = []
    for brace in re.finditer("[{}]", text):
        if brace.group() == "{":
            open_ones.append(brace.start())
        elif open_ones:
            yield open_ones.pop(), brace.start()


def long_functions(text):
    """The line, the number of lines and the declaration of each."""
    text = LITERALS.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    found = sorted(blocks(text))
    last = -1
    for begin, end in found:
        head = re.split(r"[;{}]", text[:begin])[-1].strip()
        if begin < last or not FUNCTION.search(head):
            continue
        last = end # what a function has inside is none
        lines = text.count("\n", begin, end) - 1
        if lines <= MOST_LINES or KERNEL.search(head):
            continue
        if any(begin < b and e < end and TABLE.search(text[:b]) and 2 * text.count("\n", b, e) > lines
               for b, e in found):
            continue
        yield text.count("\n", 0, begin) + 1, lines, " ".join(head.split())


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    complaints = 0
    for path in includes.sources(root, includes.rooms_of(root) + ["tools", "bench"]):
        with open(os.path.join(root, path)) as file:
            for line, lines, head in long_functions(file.read()):
                print(f"{path}:{line}: a function of {lines} lines, at most {MOST_LINES} are allowed: {head[-70:]}")
                complaints += 1
    print(f"   functions: {complaints} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

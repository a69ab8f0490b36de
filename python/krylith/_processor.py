"""Which of a release's two extension modules this processor can run.

One is for x86-64-v3, processors with AVX2. The other, in the folder _any, is for any x86-64, and has no
CUDA. Where there is no such folder, the one module was built for this machine, or for any.
"""

from __future__ import annotations

import importlib
import os
import sys

# x86-64-v3, as Linux names it.
NEEDED = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}


def flags() -> set[str]:
    """Returns what the processor has, in Linux's words; nothing where it doesn't tell."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def _choose() -> str:
    """Makes the right one krylith._krylith, before anything imports it; returns what it is for."""
    if not os.path.isdir(os.path.join(os.path.dirname(__file__), "_any")):
        return "as built"
    if flags() >= NEEDED and not os.environ.get("KRYLITH_ANY_PROCESSOR"):
        return "x86-64-v3"
    module = importlib.import_module("krylith._any._krylith")
    sys.modules["krylith._krylith"] = module
    setattr(sys.modules["krylith"], "_krylith", module)
    return "any x86-64"


CODE = _choose()

""".kcsr files, damaged at each field, truncated, and shrinking while they are read."""
import os
import time

from runner import Case


def shrink(seconds):
    def shrinking(folder, _process):
        time.sleep(seconds)
        os.truncate(os.path.join(folder, "a.kcsr"), 4096)
    return shrinking


def cases(backend, small, large):
    """`small`, `large`: the bytes of two good files."""
    places = list(range(0, 128, 4)) + [128, 135, 150, 200, len(small) // 2, len(small) - 1]
    for number, place in enumerate(places):
        broken = bytearray(small)
        broken[place] ^= 0x40
        command = (["info", "a.kcsr"], ["solve", "a.kcsr", "--quiet"] + backend)[number % 2]
        yield Case(f"kcsr damaged at {place}", command, (3,), {"a.kcsr": bytes(broken)}, ["a.kcsr"], ["a.kcsr"])
    for end in (0, 1, 7, 8, 64, 127, 128, 129, 136, 200, len(small) // 2, len(small) - 1):
        yield Case(f"kcsr truncated at {end}", ["solve", "a.kcsr", "--quiet"] + backend, (3,),
                   {"a.kcsr": small[:end]}, ["a.kcsr"])
    yield Case("kcsr with a byte more", ["info", "a.kcsr"], (3,), {"a.kcsr": small + b"\0"}, ["a.kcsr"])
    yield Case("kcsr named .mtx", ["info", "a.mtx"], (0, 3), {"a.mtx": small}, ["a.mtx"])
    for milliseconds in (5, 8, 12, 16, 20, 25, 30, 40):
        yield Case(f"kcsr that shrinks after {milliseconds} ms", ["info", "a.kcsr"], (0, 3), {"a.kcsr": large},
                   ["a.kcsr"], during=shrink(milliseconds / 1000))

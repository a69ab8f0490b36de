"""Which devices an operator is on."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Union

from . import _krylith as core
from ._processes import agreed

Devices = Union[int, Sequence[int], None]
Key = tuple[str, tuple[int, ...], int]


def key_of(devices: Devices, backend: str | None, threads: int, link: core.Link | None = None) -> Key:
    """Returns what names a group of devices: the back end, its devices, and threads. Processes that
    share a machine share its cores, and take its GPUs in turn."""
    if backend not in (None, "host", "cuda"):
        raise ValueError(f"backend is {backend!r}: allowed are 'host', 'cuda' and None")
    threads = operator.index(threads)
    if not 0 <= threads <= 4096:
        raise ValueError(f"threads is {threads}: allowed are 0 (all cores) to 4096")
    ordinals: tuple[int, ...] | None = None
    if devices is None:
        count = 1
    elif isinstance(devices, (str, bytes)):
        raise TypeError(f"devices is {devices!r}: a number, or a list of numbers, is needed")
    elif isinstance(devices, Sequence):
        ordinals = tuple(operator.index(d) for d in devices)
        count = len(ordinals)
    else:
        count = operator.index(devices)
    if not 1 <= count <= 16:
        raise ValueError(f"devices is {devices!r}: allowed are 1 to 16 devices")
    if ordinals is not None and any(not 0 <= d < 2**31 for d in ordinals):
        raise ValueError(f"devices is {devices!r}: allowed are numbers of GPUs, from 0")
    present = 0 if backend == "host" else core.cuda_device_count()
    if backend == "host" or (ordinals is None and present == 0 and backend is None):
        return ("host", (count,), threads if threads or link is None else link.threads)
    if ordinals is None:
        count = count if backend == "cuda" else min(count, present)
        ordinals = tuple(range(count) if link is None else link.gpus(count))
    return ("cuda", ordinals, 0)


@cache
def _find_libraries() -> None:
    """Makes cuSPARSE and NCCL be found where NVIDIA's packages for pip have them. They are loaded
    when an operator asks for them."""
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for folder in ("cu13/lib", "nccl/lib"):
            if (Path(place) / folder).is_dir():
                core.look_for_libraries_in(str(Path(place) / folder))


def make(key: Key) -> core.Group:
    kind, devices, threads = key
    if kind == "host":
        return core.Group.host(devices[0], threads)
    _find_libraries()
    return core.Group.cuda(list(devices))


def joined(key: Key, link: core.Link | None) -> core.Group:
    """Returns the devices with those of the processes that are linked. Collective."""
    with agreed(link):
        own = make(key)
    return own if link is None else own.joined(link)


class _Pool(threading.local):
    def __init__(self) -> None:
        self.groups: dict[Key, list[core.Group]] = {}


_pool = _Pool()
_of_parent: list[object] = []


def _after_fork() -> None:
    """Lets a child make groups of its own. Those of its parent can't end here: they are kept."""
    _of_parent.append(_pool.groups)
    _pool.groups = {}


os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def lent(key: Key, link: core.Link | None) -> Iterator[core.Group]:
    """Lends a group to one call of a function: this thread's, unless a call further out has it. That
    of several processes ends with the call."""
    if link is not None:
        yield joined(key, link)
        return
    free = _pool.groups.setdefault(key, [])
    group = free.pop() if free else make(key)
    try:
        yield group
    except (TypeError, ValueError):  # an argument was wrong: the group is as it was
        free.append(group)
        raise
    free.append(group)  # not after other exceptions: the group may have failed


def devices() -> list[str]:
    """Returns the names of the devices that krylith uses by default: GPUs, or else the CPU."""
    count = core.cuda_device_count()
    if count == 0:
        return list(core.Group.host(1, 0).descriptions)
    return list(core.Group.cuda(list(range(min(count, 16)))).descriptions)

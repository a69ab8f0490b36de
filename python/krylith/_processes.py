"""Processes of MPI that solve together, of which each has rows of its own."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Union

from . import _krylith as core
from ._errors import CommunicationError

Among = Union[core.Link, core.Group, None]  # those that exchange something; None: this process alone


def _number_of(comm: Any) -> int:
    """Returns the integer by which the link's library knows the communicator (comm/link.h)."""
    for name in ("toint", "py2f"):  # of mpi4py: the first one since 4.1
        if hasattr(comm, name):
            return int(getattr(comm, name)())
    if isinstance(comm, int) and not isinstance(comm, bool):
        return comm
    raise TypeError(f"comm is {type(comm).__name__}: allowed are communicators of mpi4py, and integers as "
                    "MPI_Comm_toint or MPI_Comm_c2f return them")


def link_of(comm: Any, group: core.Group | None, timeout: float = 600) -> core.Link | None:
    """Links the processes of a communicator; None where there is one, or a group that has them. Collective."""
    if comm is None or getattr(comm, "size", None) == 1:
        return None
    if group is not None:
        if group.processes == 1:
            raise ValueError("comm is given, and an operator of one process whose devices are to be used")
        return None
    library = os.environ.get("KRYLITH_LINK", "")
    link = core.Link.open("" if library == "none" else library, _number_of(comm), timeout)
    return link if link.processes > 1 else None


def _portable(failure: BaseException | None) -> bytes:
    try:
        pickle.loads(said := pickle.dumps(failure))
        return said
    except Exception:  # of a class that can't travel
        return pickle.dumps(RuntimeError(f"{type(failure).__name__}: {failure}"))


_OF_ALL = "_krylith_of_all_processes"  # marks what all processes raise


def _check_calls(given: list[Any]) -> None:
    """Raises where what the processes give shows that they are in different calls: the names of what
    must be the same are those of one step of one method."""
    steps = [set(one) if isinstance(one, dict) else None for one in given]
    for process, step in enumerate(steps[1:], 1):
        if step != steps[0]:
            said = ValueError(f"process {process} has called another method than process 0: all processes call the same "
                              "methods in the same order")
            setattr(said, _OF_ALL, True)
            raise said


def exchange(among: Among, given: Any, failure: BaseException | None = None) -> list[Any]:
    """Gives something to all processes, and returns what each has given. Where one comes with an
    exception, all raise it. Collective."""
    if among is None or among.processes == 1:
        if failure is not None:
            raise failure
        return [given]
    echoes = isinstance(among, core.Group) and among.failed_elsewhere
    try:
        all_given = among.all_gather(pickle.dumps((_portable(failure), failure is None, echoes, given)))
    except CommunicationError as lost:
        raise (failure or lost)
    items = [pickle.loads(one) for one in all_given]
    failed = sorted((echo, process) for process, (_, well, echo, _) in enumerate(items) if not well)
    if not failed:
        all_items = [item[3] for item in items]
        _check_calls(all_items)
        return all_items
    first: BaseException = pickle.loads(items[failed[0][1]][0])
    if failure is not None and (type(failure), str(failure)) == (type(first), str(first)):
        first = failure  # which knows where it was raised
    setattr(first, _OF_ALL, True)
    raise first


@contextmanager
def agreed(among: Among) -> Iterator[dict[str, Any]]:
    """Makes what one process raises in the block something that all raise. Into the dictionary goes
    what must be the same in all. Collective."""
    alike: dict[str, Any] = {}
    failure = None
    try:
        yield alike
    except BaseException as raised:
        if hasattr(raised, _OF_ALL):
            raise
        failure = raised
    first, *others = exchange(among, alike, failure)
    for process, other in enumerate(others, 1):
        for name, value in first.items():
            if other[name] != value:
                raise ValueError(f"{name} must be the same in all processes: it is {value!r} in process 0, and "
                                 f"{other[name]!r} in process {process}")

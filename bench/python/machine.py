"""Facts about the machine and what runs on it."""

import datetime
import importlib
import os
import platform
import subprocess

import krylith


def machine():
    """Returns them with the keys that machine.json of scripts/bench has, where it has them."""
    fields = "index,name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"
    here = os.path.dirname(os.path.abspath(__file__))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%FT%TZ"),
        "commit": "".join(lines("git", "-C", here, "describe", "--always", "--dirty")) or "unknown",
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": [line for line in lines("lscpu") if line.startswith(("Model name", "CPU(s):", "Core", "Socket"))],
        "cores_allowed": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "gpu_fields": fields,
        "gpus": lines("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"),
        "devices": krylith.devices(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("krylith", "numpy", "scipy", "cupy", "pyamg")},
    }


def lines(*command):
    """Returns what a command prints; nothing where it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def version(name):
    try:
        return importlib.import_module(name).__version__
    except Exception:  # CuPy without a driver raises others than ImportError
        return None

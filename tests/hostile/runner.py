"""Runs one case of the hostile-input test: a command in a folder of its own, and what must hold after it.

A status of 1 needs no message: a solve did not converge, and --quiet says no more."""
import os
import subprocess
import threading

SEVERE = ("std::", "terminate called", "Assertion", "Segmentation", "core dumped")


class Case:
    """`files`: name -> bytes, or a function of the path. `allowed`: exit statuses. `mentions`: one of
    these must be in the message. `intact`: names whose bytes and mode may not change.
    `outputs`: names that may be new."""

    def __init__(self, name, arguments, allowed=(3,), files=None, mentions=(), intact=(), outputs=(),
                 shell="", environment=None, seconds=20, during=None, after=None, signals=()):
        self.name, self.arguments, self.allowed = name, list(arguments), tuple(allowed)
        self.files, self.mentions, self.intact = files or {}, tuple(mentions), tuple(intact)
        self.outputs, self.shell, self.seconds = tuple(outputs), shell, seconds
        self.environment, self.during, self.after = environment or {}, during, after
        self.signals = tuple(signals)


def stored(path):
    return os.stat(path).st_mode, open(path, "rb").read()


def prepare(case, folder):
    for name, content in case.files.items():
        path = os.path.join(folder, name)
        if callable(content):
            content(path)
        else:
            with open(path, "wb") as file:
                file.write(content)


def command_line(case, krylith):
    """A shell sets limits and closes streams, and then is the command."""
    shell = case.shell or 'exec "$@"'
    return ["sh", "-c", shell, "sh", krylith] + case.arguments


def execute(case, krylith, folder):
    environment = dict(os.environ, KRYLITH_CACHE=os.path.join(folder, "..", "cache"), OMP_WAIT_POLICY="passive")
    environment.update(case.environment)
    process = subprocess.Popen(command_line(case, krylith), cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if case.during:
        threading.Thread(target=case.during, args=(folder, process), daemon=True).start()
    try:
        _, errors = process.communicate(timeout=case.seconds)
        return process.returncode, errors
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, b""


def complaints(case, status, errors, folder, before, there):
    """Says what is wrong; empty if nothing is."""
    found = []
    text = errors.decode("utf-8", "replace")
    if status is None:
        found.append(f"still running after {case.seconds} s")
    elif status < 0 and -status not in case.signals:
        found.append(f"ended by signal {-status}")
    elif status >= 0 and status not in case.allowed:
        found.append(f"exit status {status}, allowed {list(case.allowed)}")
    if status is not None and status > 1 and not case.signals:
        first = [line for line in text.split("\n") if line.startswith("krylith: ")]
        if not first:
            found.append("no message 'krylith: ...'")
        elif case.mentions and not any(word in text for word in case.mentions):
            found.append(f"the message names none of {list(case.mentions)}")
    if any(ord(c) < 32 and c != "\n" or ord(c) == 127 for c in text):
        found.append("control characters in the message")
    for word in SEVERE:
        if word in text:
            found.append(f"the message has '{word}'")
    new = sorted(set(os.listdir(folder)) - there - set(case.outputs))
    if new:
        found.append(f"left behind: {new}")
    for name, old in before.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            found.append(f"{name} is gone")
        elif stored(path) != old:
            found.append(f"{name} has changed")
    if not found and case.after:
        words = case.after(folder, status)
        if words:
            found.append(words)
    if found and text.strip():
        found.append("stderr: " + repr(text.strip()[:200]))
    return found


def run(case, krylith, folder):
    os.makedirs(folder)
    prepare(case, folder)
    before = {name: stored(os.path.join(folder, name)) for name in case.intact}
    there = set(os.listdir(folder))
    status, errors = execute(case, krylith, folder)
    return complaints(case, status, errors, folder, before, there)

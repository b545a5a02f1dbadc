"""Runs a case: limits, signals, streams, a full disk; and what the folder held before and after."""

import dataclasses
import hashlib
import os
import resource
import signal
import subprocess
import time

PATIENCE = 20.0  # seconds without an end or a word
LONGEST = 60.0


@dataclasses.dataclass
class Result:
    """How a run ended."""
    status: int
    seconds: float
    error: str
    timed_out: bool
    stopped: bool  # ended by us while it showed progress
    before: dict
    after: dict
    full_disk: bool


def picture(folder):
    """Every path below a folder with what it is: a link's target, a file's hash."""
    result = {}
    for base, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(base, name)
            relative = os.path.relpath(path, folder)
            if os.path.islink(path):
                result[relative] = "-> " + os.readlink(path)
            elif os.path.isdir(path):
                result[relative] = "folder"
            else:
                with open(path, "rb") as file:
                    result[relative] = hashlib.blake2b(file.read(), digest_size=12).hexdigest()
    return result


def limit(limits):
    """Sets a child's limits; runs in the child."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.get("memory", 6 << 30),) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.get("file size", 256 << 20),) * 2)
    if "descriptors" in limits:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits["descriptors"],) * 2)
    if "stack" in limits:
        resource.setrlimit(resource.RLIMIT_STACK, (limits["stack"],) * 2)
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def launcher(case):
    """The command that starts the program; a limit of processes needs a user who is not root."""
    if "processes" in case.limits and os.geteuid() == 0:
        # Threads count per user: 65534 ("nobody") has no others.
        return ["setpriv", "--reuid=65534", "--clear-groups", "prlimit",
                f"--nproc={case.limits['processes']}"]
    return []


def streams(case, folder):
    """Standard input, output and error as files."""
    source = {"empty": "/dev/null", "zero": "/dev/zero"}.get(case.standard_input)
    if source is None:
        source = folder + ".in"
        with open(source, "wb") as file:
            file.write(b"the path" if case.standard_input == "text" else os.urandom(3000))
    out = "/dev/full" if case.standard_output == "full" else folder + ".out"
    return open(source, "rb"), open(out, "wb"), open(folder + ".err", "wb")


def run(program, case, folder):
    """Runs the case and waits for its end, patiently while it shows progress."""
    full = os.path.join(folder, "full")
    os.mkdir(full)
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", full],
        stderr=subprocess.DEVNULL).returncode == 0
    if "processes" in case.limits:
        subprocess.run(["chmod", "-R", "a+rwX", folder], check=False)
    before = picture(folder)
    source, out, error = streams(case, folder)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AFM_")}
    environment.update(case.environment)
    started = time.monotonic()
    arguments = [each.replace("\0", "") for each in case.arguments]
    close = " <&-" if case.standard_input == "closed" else ""
    close += " >&-" if case.standard_output == "closed" else ""
    command = launcher(case) + [program] + arguments
    if close:
        command = ["/bin/sh", "-c", f'exec "$@"{close}', "sh"] + command
    process = subprocess.Popen(
        command, stdin=source, stdout=out, stderr=error, cwd=folder, env=environment,
        preexec_fn=lambda: limit(case.limits))
    timed_out = stopped = False
    if case.signal:
        try:
            process.wait(case.signal[1])
        except subprocess.TimeoutExpired:
            os.kill(process.pid, case.signal[0])
    size, heard = 0, time.monotonic()
    while True:
        try:
            process.wait(0.5)
            break
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            total = os.path.getsize(folder + ".err") + (
                os.path.getsize(folder + ".out") if os.path.exists(folder + ".out") else 0)
            if total > size:
                size, heard = total, now
            if now - heard > PATIENCE:
                timed_out = True
            elif now - started > LONGEST:
                stopped = True
            else:
                continue
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            break
    seconds = time.monotonic() - started
    for each in (source, out, error):
        each.close()
    with open(folder + ".err", "rb") as file:
        text = file.read().decode(errors="replace")
    after = picture(folder)
    if mounted:
        subprocess.run(["umount", full], check=False)
    return Result(process.returncode, seconds, text, timed_out, stopped, before, after, mounted)

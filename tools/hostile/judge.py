"""What a run must not do, whatever it was given."""

import os

# 130, 143, …: a run that keeps what it measured says which signal ended it.
DOCUMENTED = {0, 1, 2, 3, 4}
BUNDLE = {
    "README.md", "environment.json", "results.json", "samples.jsonl", "trace.afmtrace",
    "trace.perfetto-trace", "afm-bench.xxh64",
}
LONGEST_MESSAGE = 4000


def faults(case, result):
    """The faults of a run: none where it behaved."""
    found = []
    sent = case.signal[0] if case.signal else None
    if result.timed_out:
        found.append("no end and no sign of progress within 20 s")
        return found
    if result.stopped:
        return found
    code = result.status
    # The system's loader, before the program's first instruction.
    if code == 127 and "error while loading shared libraries" in result.error:
        return found
    ended_by_ours = sent is not None and code in (-sent, 128 + sent)
    if not ended_by_ours and code not in DOCUMENTED:
        found.append(f"exit code {code}")
    # Under a small limit of file sizes the message's own file takes nothing.
    if case.limits.get("file size", 1 << 20) >= 4096:
        found += message_faults(case, result)
    found += file_faults(case, result, sent)
    return found


def message_faults(case, result):
    text = result.error
    if any(ord(c) < 32 and c not in "\n\t" for c in text):
        yield "control characters in a message"
    if result.status in (2, 3, 4) and not text.strip():
        yield "no message"
    if len(text) > LONGEST_MESSAGE and result.status in (2, 3, 4):
        yield f"a message of {len(text)} characters"
    lines = [line for line in text.split("\n") if line.strip()]
    if result.status in (3, 4) and not any(line.startswith("afm-bench: ") for line in lines):
        yield "an error without the program's name"
    if "Fatal error" in text or "Swift/" in text or "\n0 0x" in text:
        yield "a trap's text"


def file_faults(case, result, sent):
    changed = [path for path in {**result.before, **result.after}
               if result.before.get(path) != result.after.get(path)]
    allowed, folders = allowed_paths(case, result)
    inputs = input_paths(case, result)
    for path in changed:
        name = os.path.basename(path)
        if name.endswith(".partial"):
            if sent != 9:
                yield f"a partial file stayed: {path}"
            continue
        if path in inputs:
            yield f"an input changed: {path}"
            continue
        parent = os.path.dirname(path)
        in_bundle = path in folders or (parent in folders and name in BUNDLE)
        if path not in allowed and not in_bundle:
            yield f"a file changed that is no output: {path}"
            continue
        if in_bundle and result.before.get(path) is not None and foreign(parent, result):
            yield f"a user's file changed: {path}"
        # A report that nobody could take is an error, though the output is there and whole.
        # `run` keeps its recording where every row ended with an error.
        kept = result.status in (0, 1) or sent is not None or case.standard_output != "file"
        kept = kept or (case.command == "run" and result.status == 3)
        if not kept and result.after.get(path) not in (None, "folder"):
            yield f"an output was written with exit {result.status}: {path}"
        if result.after.get(path) is None:
            yield f"a file vanished: {path}"
    yield from bundle_faults(case, result, folders, sent)


def foreign(folder, result):
    return os.path.basename(folder).startswith("foreign")


def bundle_faults(case, result, folders, sent):
    """A bundle is there whole or not at all."""
    for folder in folders:
        if result.before.get(folder) == "folder":
            continue
        held = {os.path.basename(path) for path in result.after
                if os.path.dirname(path) == folder}
        if held and not {"results.json", "environment.json"} <= held and sent != 9:
            yield f"part of a bundle: {sorted(held)}"


def resolve(path, result):
    """A path as given, relative to the case's folder, with links of before the run followed."""
    if not path:
        return None
    marker = "/case/"
    if path.startswith("/"):
        if marker not in path:
            return None
        path = path.split(marker, 1)[1]
    path = os.path.normpath(path)
    target = result.before.get(path, "")
    if target.startswith("-> "):
        return os.path.normpath(os.path.join(os.path.dirname(path), target[3:]))
    return path


def allowed_paths(case, result):
    allowed, folders = set(), set()
    for what, path in case.outputs:
        resolved = resolve(path, result)
        if resolved is None:
            continue
        if what == "run --bundle":
            folders.add(resolved)
            parts = resolved.split("/")
            folders.update("/".join(parts[:k]) for k in range(1, len(parts)))
        else:
            allowed.add(resolved)
    # A snapshot is written where it is missing, and only there.
    for path in case.inputs:
        resolved = resolve(path, result)
        if resolved and "--cache-file" in case.arguments and resolved not in result.before:
            allowed.add(resolved)
    return allowed, folders


def input_paths(case, result):
    """Files that were there and that the command was given to read, as paths and as hard links."""
    found = set()
    for path in case.inputs:
        resolved = resolve(path, result)
        if resolved in result.before and result.before[resolved] != "folder":
            found.add(resolved)
        elif resolved in result.before:
            found.update(
                each for each in result.before
                if each.startswith(resolved + "/") and each.endswith((".json", ".safetensors")))
    return found

#!/usr/bin/env python3
"""Makes a wheel of a folder that has bin/, share/ and the Python package afm_kernels:

    $ packaging/wheel.py 0.1.0 FOLDER OUTDIR
    OUTDIR/afm_bench-0.1.0-py3-none-manylinux_2_36_x86_64.whl

pip puts bin/ where programs are and share/ beside it. The platform's tag is the newest glibc that a
binary in it asks for. Times of files are SOURCE_DATE_EPOCH, names are sorted: one input makes one
file. Needs Python and objdump (binutils).
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile

NAME = "afm-bench"
SUMMARY = "Measures and profiles quantized language-model inference, tier by tier."
# What manylinux lets a binary take from the system that it runs on.
SYSTEM_LIBRARIES = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def files(folder):
    """Every file below a folder, as paths from it, sorted."""
    found = []
    for parent, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(parent, name), folder) for name in names]
    return sorted(found)


def platform_tag(folder):
    """The tag that is true of every binary in a folder."""
    newest, machine = (2, 17), None
    for path in files(folder):
        full = os.path.join(folder, path)
        with open(full, "rb") as file:
            head = file.read(20)
        if head[:4] != b"\x7fELF":
            continue
        machine = {62: "x86_64", 183: "aarch64"}[head[18] | head[19] << 8]
        text = subprocess.run(
            ["objdump", "-p", full], check=True, capture_output=True, text=True).stdout
        foreign = set(re.findall(r"NEEDED\s+(\S+)", text)) - SYSTEM_LIBRARIES
        if foreign:
            raise SystemExit(f"wheel.py: {path} needs {', '.join(sorted(foreign))}")
        for version in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text):
            newest = max(newest, tuple(map(int, version)))
    if machine is None:
        raise SystemExit(f"wheel.py: no binary in {folder}")
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def metadata(version, text):
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n"
            "License: Apache-2.0\nClassifier: Operating System :: POSIX :: Linux\n"
            "Classifier: Environment :: Console\n"
            "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n" + text)


def contents(version, folder, tag):
    """What is in the wheel: (name, bytes, may be run)."""
    base = f"afm_bench-{version}"
    places = (("bin/", f"{base}.data/scripts/"), ("share/", f"{base}.data/data/share/"),
              ("afm_kernels/", "afm_kernels/"))
    found = []
    for path in files(folder):
        for prefix, place in places:
            if path.startswith(prefix):
                full = os.path.join(folder, path)
                with open(full, "rb") as file:
                    found.append((place + path[len(prefix):], file.read(), os.access(full, os.X_OK)))
    with open(os.path.join(folder, "description.md"), encoding="utf-8") as file:
        found.append((f"{base}.dist-info/METADATA", metadata(version, file.read()).encode(), False))
    found.append((f"{base}.dist-info/WHEEL", (
        f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n").encode(),
        False))
    return found, f"{base}.dist-info/RECORD"


def write(path, found, record):
    stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name, data, may_run):
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if may_run else 0o100644) << 16
            archive.writestr(entry, data)
        for name, data, may_run in found:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}\n")
            add(name, data, may_run)
        add(record, ("".join(lines) + f"{record},,\n").encode(), False)


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    version, folder, out = sys.argv[1:]
    tag = f"py3-none-{platform_tag(folder)}"
    path = os.path.join(out, f"afm_bench-{version}-{tag}.whl")
    found, record = contents(version, folder, tag)
    write(path, found, record)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

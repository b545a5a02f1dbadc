"""Files of every kind that a command may be given: made once, then linked, damaged and renamed."""

import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "Tests", "Fixtures")

# The name of a sample, and the kind that it is of.
KINDS = {
    "tiny.gguf": "source", "qwen.gguf": "source", "weights.safetensors": "source",
    "hf": "source folder", "s8c.afmw": "model", "kernel.afmw": "model", "astc.afmw": "model",
    "preset.afmw": "preset", "adapter.safetensors": "adapter", "nan.safetensors": "adapter",
    "run.afmtrace": "recording",
    "run.perfetto-trace": "export", "bundle": "bundle", "foreign": "folder",
    "prompt.cache": "snapshot",
    "statistics.afmcal": "statistics", "logits.bin": "logits", "ids.json": "ids",
    "prompt.txt": "text", "long.txt": "text", "empty.txt": "text", "noise.bin": "text",
    "requests.jsonl": "requests", "requests.csv": "requests", "blocks.astc": "astc",
    "values.f32": "floats", "rows.json": "results",
}

CSV = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:{second:02d}.6805900,{40 + second},{3 + second % 4}\n"
    for second in range(20))


def make_samples(program, folder):
    """Makes a sample of every kind with the program itself; fails where it cannot."""
    def path(name):
        return os.path.join(folder, name)

    def afm(*arguments):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder)
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: {done.stderr}")

    for name, fixture in [("tiny.gguf", "tiny-llama.gguf"), ("qwen.gguf", "tiny-qwen2.gguf")]:
        shutil.copy(os.path.join(FIXTURES, "golden", fixture), path(name))
    text = "The path of the thread, and the end of the path. " * 30
    for name, content in [("prompt.txt", "the path"), ("long.txt", text), ("empty.txt", ""),
                          ("ids.json", "[1, 2, 3, 4]"), ("requests.csv", CSV)]:
        with open(path(name), "w") as file:
            file.write(content)
    with open(path("noise.bin"), "wb") as file:
        file.write(bytes((k * 7919 + k // 251) % 256 for k in range(4096)))
    with open(path("values.f32"), "wb") as file:
        file.write(bytes(4 * 36 * 12))
    afm("pack", "tiny.gguf", "s8c.afmw", "--weights", "s8c")
    afm("pack", "tiny.gguf", "kernel.afmw", "--weights", "u4g32", "--layout", "kernel")
    afm("pack", "tiny.gguf", "astc.afmw", "--weights", "astc6x6-ldr", "--layout", "kernel",
        "--effort", "fast")
    afm("pack", "tiny.gguf", "x.afmw", "--weights", "s8c", "--calibrate", "long.txt",
        "--save-calibration", "statistics.afmcal")
    os.remove(path("x.afmw"))
    afm("make", "afm-ondevice-tiny", "preset.afmw")
    afm("make", "afm-ondevice-tiny", "adapter.safetensors", "--adapter-rank", "2")
    with open(path("adapter.safetensors"), "rb") as file:
        adapter = bytearray(file.read())
    adapter[-4:] = b"\x00\x00\xc0\x7f"
    with open(path("nan.safetensors"), "wb") as file:
        file.write(adapter)
    afm("export", "s8c.afmw", "weights.safetensors")
    os.mkdir(path("hf"))
    afm("export", "s8c.afmw", "hf/model.safetensors", "--names", "huggingface")
    for name in ("config.json", "tokenizer.json"):
        with open(path(f"hf/{name}"), "w") as file:
            file.write("{}")
    afm("run", "s8c.afmw", "-p", "4", "-n", "2", "-r", "1", "--tier", "on-device", "--trace",
        "run.afmtrace", "--bundle", "bundle")
    shutil.copy(path("bundle/trace.perfetto-trace"), path("run.perfetto-trace"))
    shutil.copy(path("bundle/results.json"), path("rows.json"))
    os.mkdir(path("foreign"))
    for name in ("README.md", "results.json"):
        with open(path(f"foreign/{name}"), "w") as file:
            file.write("a user's own words")
    afm("generate", "--model", "s8c.afmw", "--prompt-file", "prompt.txt", "-n", "1",
        "--cache-file", "prompt.cache")
    afm("score", "--model", "s8c.afmw", "--text-file", "long.txt", "--ctx", "16", "--windows",
        "2", "--save-logits", "logits.bin")
    afm("cache", "generate", "mooncake-conversation", "requests.jsonl", "--requests", "12")
    afm("astc", "encode", "values.f32", "36x12", "blocks.astc", "--effort", "fast")
    missing = [name for name in KINDS if not os.path.exists(path(name))]
    if missing:
        raise SystemExit(f"no sample of {missing}")


def damage(source, data):
    """Returns `data` with a random fault."""
    data = bytearray(data)
    if not data:
        return bytes(source.randbytes(source.randrange(64)))
    way = source.randrange(6)
    if way == 0:
        for _ in range(source.choice([1, 1, 2, 8, 64])):
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    elif way == 1:
        del data[source.randrange(len(data)):]
    elif way == 2:
        data += source.randbytes(source.randrange(1, 5000))
    elif way == 3:
        start = source.randrange(len(data))
        end = min(len(data), start + source.randrange(1, 256))
        data[start:end] = source.choice([b"\x00", b"\xff", b"\x7f"]) * (end - start)
    elif way == 4:
        # Numbers in headers: eight bytes near the beginning become absurd.
        start = source.randrange(min(len(data), 512))
        data[start:start + 8] = source.choice([
            b"\xff" * 8, b"\x00" * 8, b"\xff" * 7 + b"\x7f", b"\x00" * 4 + b"\x01\x00\x00\x00"])
    else:
        start = source.randrange(len(data))
        del data[start:start + source.randrange(1, 64)]
    return bytes(data)


def lay_out(source, samples, folder):
    """Copies samples into a case's folder, with damaged ones and links beside them.

    Returns the names by kind."""
    os.makedirs(folder)
    names = {}
    for name, kind in KINDS.items():
        here = os.path.join(samples, name)
        there = os.path.join(folder, name)
        if os.path.isdir(here):
            shutil.copytree(here, there)
        else:
            shutil.copyfile(here, there)
        names.setdefault(kind, []).append(name)
    plain = [name for name in KINDS if os.path.isfile(os.path.join(folder, name))]
    for number in range(4):
        name = source.choice(plain)
        stem, ending = os.path.splitext(name)
        with open(os.path.join(folder, name), "rb") as file:
            data = damage(source, file.read())
        other = f"{stem}-damaged{number}{ending}"
        with open(os.path.join(folder, other), "wb") as file:
            file.write(data)
        names[KINDS[name]].append(other)
        names.setdefault("damaged", []).append(other)
    for number in range(3):
        name = source.choice(list(KINDS))
        stem, ending = os.path.splitext(name)
        link = f"{stem}-link{number}{ending}"
        whole = os.path.join(folder, name)
        if number == 0 and os.path.isfile(whole):
            os.link(whole, os.path.join(folder, link))
        else:
            os.symlink(name, os.path.join(folder, link))
        names[KINDS[name]].append(link)
    return names

"""Random command lines: every command and option that the program says it has."""

import dataclasses
import json
import os
import subprocess

# The kinds of file that an argument or option of a command is for, by its name in the help.
INPUTS = {
    "model": ["model", "preset", "source"], "--model": ["model", "preset", "source"],
    "input": ["source", "source folder"], "file": ["model", "preset"],
    "--adapter": ["adapter"], "--prompt-file": ["text"], "--text-file": ["text"],
    "--ids-file": ["ids"], "--reference": ["logits", "model"], "--calibrate": ["text", "statistics"],
    "--cache-file": ["snapshot"], "trace": ["requests"],
    "trace export input": ["recording"], "trace summary input": ["recording"],
    "compare a": ["results", "bundle"], "compare b": ["results", "bundle"],
    "export input": ["model"], "replay trace": ["requests"], "pack --model": ["source"], "astc decode input": ["astc"], "astc encode input": ["floats"],
}

# Arguments and options whose file or folder a command writes, with an ending that is right.
OUTPUTS = {
    "pack output": ".afmw", "pack --save-calibration": ".afmcal", "make output": ".afmw",
    "load --trace": ".afmtrace", "dump output": ".f32", "export output": ".safetensors",
    "generate --cache-file": ".cache", "score --save-logits": ".bin", "run --trace": ".afmtrace",
    "run --bundle": "", "replay --trace": ".afmtrace", "trace export output": ".perfetto-trace",
    "astc decode output": ".f32", "astc encode output": ".astc", "cache generate output": ".jsonl",
}

# What a value may be where it is no file; hostile ones come beside them.
VALUES = {
    "tier": ["on-device", "private-cloud", "on-device,private-cloud", "on-device, private-cloud"],
    "reasoning": ["none", "light", "none,deep"], "reasoning-budget": ["light=4,moderate=5,deep=6"],
    "isa": ["portable", "avx2", "avx512vnni"], "ctk": ["f32", "f16", "s8", "s8static", "u4g32"],
    "op": ["gemv", "gemm", "softmax", "rms"], "shape": ["64x64", "1x1", "36x12", "33x7"],
    "in": ["cache", "memory"], "preset": ["afm-ondevice-tiny"], "tensor": ["token_embd.weight"],
    "budget": ["1MiB", "64MiB", "unlimited", "1"], "instructions": ["Be brief."],
    "weights": ["s8c", "u4g32", "u2c", "astc6x6-ldr", "f16"], "pg": ["4,2"], "prompt": ["hello"],
}
SMALL = ["0", "1", "2", "3", "4", "7", "16"]
HOSTILE = [
    "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e39", "nan",
    "inf", "0x10", "", " ", "1,,2", "1-", "1-9+0", "1-9*1", "4,8,", "\x1b[31m", "a\nb", "é" * 40,
    "%s%n", "../..", "x" * 3000, "0.5", "--", "2147483648", "1-1000000000+1", "None",
]
# Numbers that ask for work: kept small but for a few, which have to show progress.
NEVER_LARGE = {"requests", "rows", "columns", "r", "max-tokens", "n", "p", "d", "tokens"}


@dataclasses.dataclass
class Case:
    """One run: what is asked, of which files, under which limits."""
    command: str
    arguments: list
    outputs: list  # (what, path) as given
    inputs: list
    limits: dict
    environment: dict
    signal: tuple = None  # (number, seconds)
    standard_input: str = "empty"
    standard_output: str = "file"


def command_table(program):
    """The commands with their arguments, from the program's own description of its help."""
    text = subprocess.run(
        [program, "--experimental-dump-help"], capture_output=True, check=True).stdout
    table = {}

    def walk(command, path):
        subcommands = [s for s in command.get("subcommands", []) if s["commandName"] != "help"]
        for each in subcommands:
            walk(each, path + [each["commandName"]])
        if not subcommands:
            table[" ".join(path)] = [
                argument for argument in command.get("arguments", [])
                if argument.get("valueName") not in ("help", "version")]

    walk(json.loads(text)["command"], [])
    return table


def option_names(argument):
    """The names of an option with their dashes."""
    return [("--" if name["kind"] == "long" else "-") + name["name"]
            for name in argument.get("names", [])]


def key_of(argument):
    names = option_names(argument)
    return next((name for name in names if name.startswith("--")), names[0] if names else
                argument["valueName"])


class Maker:
    def __init__(self, source, names, folder):
        self.source, self.names, self.folder = source, names, folder
        self.inputs, self.outputs = [], []

    def any_file(self):
        return self.source.choice([name for group in self.names.values() for name in group])

    def spelled(self, name):
        """The same path in another spelling."""
        way = self.source.randrange(10)
        if way == 0:
            return os.path.join(self.folder, name)
        if way == 1:
            return f"./foreign/../{name}"
        if way == 2:
            return f"{name}/"
        return name

    def input_path(self, kinds):
        roll = self.source.random()
        if roll < 0.72:
            group = [name for kind in kinds for name in self.names.get(kind, [])]
            name = self.source.choice(group or [self.any_file()])
        elif roll < 0.90:
            name = self.any_file()
        else:
            name = self.source.choice([
                "missing", "no/such/file", ".", "/", "/dev/null", "/dev/zero", "/dev/full", "-",
                "/proc/self/mem", "/proc/self/maps", "\x1b[2Jname", "a\nb", "n" * 300, ""])
        path = self.spelled(name) if os.path.lexists(os.path.join(self.folder, name)) else name
        self.inputs.append(path)
        return path

    def output_path(self, what, ending):
        roll = self.source.random()
        if roll < 0.40:
            name = f"new{len(self.outputs)}{ending}"
        elif roll < 0.65 and self.inputs:
            name = self.source.choice(self.inputs)
        elif roll < 0.80:
            name = self.any_file()
        elif roll < 0.88:
            name = f"full/out{len(self.outputs)}{ending}"
        else:
            name = self.source.choice([
                "foreign", "bundle", "hf/tokenizer.json", "hf", ".", "no/such/folder/x", "/dev/null",
                "/dev/full", "", f"bad{ending}.gguf", "name.txt", "x.json", f"{'n' * 300}{ending}"])
        if os.path.lexists(os.path.join(self.folder, name)):
            name = self.spelled(name)
        self.outputs.append((what, name))
        return name

    def value(self, command, argument):
        key = key_of(argument)
        name = argument["valueName"]
        what = f"{command} {key}"
        if what in OUTPUTS and not (key == "--cache-file" and self.source.random() < 0.5):
            return self.output_path(what, OUTPUTS[what])
        kinds = INPUTS.get(what) or INPUTS.get(key)
        if kinds and what not in OUTPUTS or key == "--cache-file":
            if key == "--cache-file":
                self.outputs.append((what, None))
            return self.input_path(kinds or ["snapshot"])
        bare = key.lstrip("-")
        if self.source.random() < 0.12:
            pool = HOSTILE
            if bare in NEVER_LARGE:
                pool = [v for v in HOSTILE if not v.isdigit() and "000" not in v]
            return self.source.choice(pool)
        known = argument.get("allValues") or VALUES.get(bare) or VALUES.get(name)
        if bare in ("ctv", "cache-type-k", "cache-type-v"):
            known = VALUES["ctk"]
        if known:
            return self.source.choice(known)
        if bare == "shape":
            return "36x12"
        if bare in ("rows", "columns"):
            return self.source.choice(["12", "36", "48"])
        return self.source.choice(SMALL)


# Options without which a command would work for long on this many cases.
BOUNDED = {
    "run": {"-p": "8", "-n": "2", "-r": "1", "--max-tokens": "4"}, "kernels": {
        "--shape": "64x64", "-r": "1", "--in": "cache", "--weights": "s8c", "--tokens": "1"},
    "roof": {"-r": "1"}, "load": {"-r": "1"}, "generate": {"-n": "4"},
    "astc benchmark": {"--rows": "12", "--columns": "12", "--effort": "fast"},
    "cache generate": {"--requests": "8"}, "replay": {"--limit": "3", "--time-scale": "0"},
    "cache replay": {}, "score": {"--ctx": "16", "--windows": "1"},
    "pack": {"--effort": "fast", "--calibration-tokens": "8"},
}
WEIGHT = {"roof": 0.15, "kernels": 0.4, "astc benchmark": 0.4, "run": 2, "pack": 2, "generate": 1.5}


# What a model's argument is called.
MODEL_PLACES = ("model", "file", "input")


def has_place(arguments):
    """Whether a command takes its model as an argument."""
    return any(a["kind"] == "positional" and a["valueName"] in MODEL_PLACES for a in arguments)


def make(source, commands, names, folder):
    """A random case in `folder`, where the files by kind in `names` lie."""
    command = source.choices(
        list(commands), [WEIGHT.get(name, 1) for name in commands])[0]
    maker = Maker(source, names, folder)
    arguments = command.split()
    given = set()
    # A model has a place of its own or an option: rarely both, which is refused.
    has_option = any(key_of(a) == "--model" for a in commands[command])
    by_option = has_option and source.random() < 0.3
    left_out = set()
    if has_option and source.random() < 0.97:
        left_out = set(MODEL_PLACES) if by_option else {"--model"}
    options = [a for a in commands[command] if a["kind"] != "positional"]
    source.shuffle(options)
    for argument in [a for a in commands[command] if a["kind"] == "positional"]:
        if key_of(argument) in left_out and has_place(commands[command]):
            continue
        if argument["isOptional"] and not by_option and source.random() < 0.05:
            continue
        for _ in range(source.choice([1, 1, 2]) if argument["isRepeating"] else 1):
            arguments.append(maker.value(command, argument))
    for argument in options:
        names_here = option_names(argument)
        if key_of(argument) == "--model":
            if key_of(argument) in left_out:
                continue
            arguments += [source.choice(names_here), maker.value(command, argument)]
            continue
        wanted = (not argument["isOptional"] and source.random() < 0.97) or source.random() < 0.14
        if not wanted:
            continue
        name = source.choice(names_here)
        given.update(names_here)
        arguments.append(name)
        if argument["kind"] == "option":
            arguments.append(maker.value(command, argument))
    for name, value in BOUNDED.get(command, {}).items():
        known = any(name in option_names(a) for a in options)
        if known and name not in given and source.random() < 0.97:
            arguments += [name, value]
    if source.random() < 0.02:
        source.shuffle(arguments)
    limits = {}
    roll = source.random()
    if roll < 0.06:
        limits["descriptors"] = source.choice([3, 4, 5, 6, 7, 8, 12, 20])
    elif roll < 0.13:
        limits["memory"] = source.choice([48, 80, 120, 128, 160, 200, 300, 600]) << 20
    elif roll < 0.18:
        limits["file size"] = source.choice([0, 1, 512, 4096, 65536, 1 << 20])
    elif roll < 0.21:
        limits["processes"] = source.choice([1, 2, 3, 4])
    elif roll < 0.23:
        limits["stack"] = source.choice([64, 128, 512, 1024]) << 10
    environment = {}
    if source.random() < 0.05:
        environment["AFM_ISA"] = source.choice(["portable", "avx2", "", "nonsense", "\x1b[31m" * 50])
    if source.random() < 0.03:
        environment["COLUMNS"] = source.choice(["0", "-1", "1", "99999999999"])
    case = Case(command, arguments, maker.outputs, maker.inputs, limits, environment)
    if source.random() < 0.08:
        # SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL.
        case.signal = (source.choice([2, 15, 1, 3, 9]), source.random() ** 2 * 0.4)
    case.standard_input = source.choices(["empty", "text", "noise", "closed", "zero"],
                                         [8, 2, 1, 1, 0.5])[0]
    case.standard_output = source.choices(["file", "closed", "full", "pipe"], [20, 1, 1, 1])[0]
    return case

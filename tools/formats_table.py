"""Measures models in every weight format and prints a Markdown table; see tools/formats-table.

Uses nothing but the standard library and `afm-bench pack`, `score` and `--json`.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time

RANK = 16
# Row name, options of `pack`. ASTC and 2-bit rows come with and without calibration.
ROWS = [
    ("f32", ["--weights", "f32"]),
    ("f16", ["--weights", "f16"]),
    ("s8c", ["--weights", "s8c"]),
    ("s8g32", ["--weights", "s8g32"]),
    ("u4g32", ["--weights", "u4g32"]),
    ("u4c", ["--weights", "u4c", "--embedding", "s8c"]),
    ("u4c, calibrated", ["--weights", "u4c", "--embedding", "s8c", "--calibrate"]),
    ("astc6x6-ldr", ["--weights", "astc6x6-ldr"]),
    ("astc6x6-ldr, calibrated", ["--weights", "astc6x6-ldr", "--calibrate"]),
    (
        f"astc6x6-ldr, calibrated, adapter of rank {RANK}",
        ["--weights", "astc6x6-ldr", "--calibrate", "--adapter-rank", str(RANK)],
    ),
    ("astc6x6-hdr, calibrated", ["--weights", "astc6x6-hdr", "--calibrate"]),
    ("u2g64", ["--weights", "u2g64"]),
    ("u2g64, calibrated", ["--weights", "u2g64", "--calibrate"]),
    ("u2c", ["--weights", "u2c"]),
    ("u2c, calibrated", ["--weights", "u2c", "--calibrate"]),
    ("u2t", ["--weights", "u2t"]),
    ("u2t, calibrated", ["--weights", "u2t", "--calibrate"]),
]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


class Measurement:
    """One model over one text; everything that is made lies in a folder of the cache."""

    def __init__(self, options, name, path):
        self.options, self.name, self.path = options, name, path
        key = [sha256(options.bench), sha256(path), sha256(options.text)]
        key += [options.windows, options.effort, options.tokens]
        stamp = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
        self.folder = os.path.join(options.cache, stamp)
        os.makedirs(self.folder, exist_ok=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        result = subprocess.run(
            [self.options.bench, *arguments, "--json"], stdout=subprocess.PIPE, text=True
        )
        if result.returncode != 0:
            sys.exit(f"afm-bench {' '.join(arguments)}: exit {result.returncode}")
        return json.loads(result.stdout)

    def once(self, name, make):
        """A JSON value that is made once and kept."""
        path = self.file(name + ".json")
        if not os.path.exists(path):
            value = make()
            with open(path + ".part", "w") as file:
                json.dump(value, file)
            os.replace(path + ".part", path)
        with open(path) as file:
            return json.load(file)

    def score(self, model, skipped, *more):
        return self.run(
            "score", "--model", model, "--text-file", self.options.text, "--ctx", "512",
            "--windows", str(self.options.windows), "--skip-windows", str(skipped), *more,
        )

    def references(self):
        """Perplexities of float32 and its logits over both parts of the text."""
        parts = []
        for skipped in (0, self.options.windows):
            logits = self.file(f"reference-{skipped}.safetensors")
            name = f"reference-{skipped}"
            if not os.path.exists(logits) and os.path.exists(self.file(name + ".json")):
                os.remove(self.file(name + ".json"))
            more = ["--save-logits", logits] if skipped == 0 else []
            if skipped:
                logits = None
            parts.append((self.once(name, lambda: self.score(self.path, skipped, *more)), logits))
            say(f"{self.name}: float32, windows from {skipped}: "
                f"perplexity {parts[-1][0]['perplexity']:.2f}")
        return parts

    def row(self, name, options, reference):
        def measure():
            packed = self.file("packed.afmw")
            statistics = self.file("statistics.safetensors")
            arguments = ["pack", self.path, packed, "--effort", self.options.effort]
            for option in options:
                arguments.append(option)
                if option == "--calibrate":
                    if os.path.exists(statistics):
                        arguments.append(statistics)
                    else:
                        arguments += [
                            "self", "--save-calibration", statistics,
                            "--calibration-tokens", str(self.options.tokens),
                        ]
            started = time.time()
            pack = self.run(*arguments)
            pack.pop("tensors")
            pack["seconds"] = time.time() - started
            first = self.score(packed, 0, "--reference", reference)
            later = self.score(packed, self.options.windows)
            os.remove(packed)
            return {"pack": pack, "first": first, "later": later}

        slug = "".join(c if c.isalnum() else "-" for c in name)
        value = self.once(f"row-{slug}", measure)
        say(f"{self.name}: {name}: {value['pack']['linear_payload_bpw']:.2f} bpw, perplexity "
            f"{value['first']['perplexity']:.2f}, packed in {value['pack']['seconds']:.0f} s")
        return value


def number(value):
    return f"{value:.2f}" if value < 1e4 else f"{value:.1e}"


def table(measurement, rows):
    (first, logits), (later, _) = measurement.references()
    lines = [
        f"### {measurement.name}", "",
        f"`{os.path.basename(measurement.path)}`, SHA-256 `{sha256(measurement.path)}`, run in "
        f"float32: perplexity {first['perplexity']:.2f}, on the later windows "
        f"{later['perplexity']:.2f}.", "",
        "| linear layers | embedding | payload bpw | total bpw | whole file bpw | file MB "
        "| perplexity | × f32 | later windows × f32 | mean KL | top-1 |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, options in rows:
        value = measurement.row(name, options, logits)
        pack, score = value["pack"], value["first"]
        lines.append(
            f"| {name} | {pack['embedding']} | {pack['linear_payload_bpw']:.2f} "
            f"| {pack['linear_total_bpw']:.2f} | {pack['file_bpw']:.2f} "
            f"| {pack['bytes'] / 1e6:.1f} | {number(score['perplexity'])} "
            f"| {number(score['perplexity'] / first['perplexity'])} "
            f"| {number(value['later']['perplexity'] / later['perplexity'])} "
            f"| {score['mean_kl']:.4f} | {100 * score['top1_agreement']:.1f} % |"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(prog="tools/formats-table TEXT")
    parser.add_argument("--bench", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--models", help="names of models, comma between; read by formats-table")
    parser.add_argument("--rows", help="formats to measure, comma between; all rows of each")
    parser.add_argument("--effort", default="medium", choices=["fast", "medium", "thorough"])
    parser.add_argument("--tokens", type=int, default=512, help="tokens of --calibrate self")
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--out", help="where the table goes; standard output without it")
    options = parser.parse_args()
    rows = ROWS
    if options.rows:
        wanted = options.rows.split(",")
        rows = [row for row in ROWS if row[1][1] in wanted]
        unknown = set(wanted) - {row[1][1] for row in ROWS}
        if unknown:
            parser.error(f"--rows: unknown formats {', '.join(sorted(unknown))}")
    lines = [
        f"Text: `{os.path.basename(options.text)}`, SHA-256 `{sha256(options.text)}`; context 512, "
        f"{options.windows} windows, then {options.windows} later ones; effort {options.effort}, "
        f"calibration over {options.tokens} tokens of the model's own.",
    ]
    for model in options.model:
        name, path = model.split("=", 1)
        lines += [""] + table(Measurement(options, name, path), rows)
    text = "\n".join(lines) + "\n"
    if options.out:
        with open(options.out, "w") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()

"""Derives what the workload generator and its tests know of the published request traces.

    python3 tools/oracles/workload_tables.py FOLDER

FOLDER holds azure2023_code.csv, azure2023_conv.csv (Azure LLM inference traces 2023, CC-BY-4.0) and
mooncake_conversation_trace.jsonl (Mooncake, Apache-2.0). Writes the tables of
Sources/Workloads/WorkloadProfile+Tables.swift and Tests/Fixtures/golden/workload-percentiles.json.
Needs Python alone.
"""

import collections
import datetime
import json
import math
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = 512
# Where the tables have a point; the generator interpolates between them.
POINTS = [0, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 92.5, 95,
          96, 97, 98, 98.5, 99, 99.25, 99.5, 99.7, 99.8, 99.9, 99.95, 99.98, 100]
# What the tests compare.
CHECKED = [10, 25, 50, 75, 90, 95, 99]


def quantile(values, percent):
    """The value below which that share lies, by linear interpolation between order statistics."""
    ordered = sorted(values)
    place = percent / 100 * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def table(values):
    return [round(quantile(values, percent)) for percent in POINTS]


def azure(name):
    rows = [line.split(",") for line in (FOLDER / name).read_text().splitlines()[1:]]
    times = []
    for stamp, _, _ in rows:
        seconds, fraction = stamp.split(".")
        when = datetime.datetime.strptime(seconds, "%Y-%m-%d %H:%M:%S")
        times.append(when.timestamp() + int(fraction) / 10 ** len(fraction))
    gaps = [(b - a) * 1e6 for a, b in zip(times, times[1:])]
    return dict(inputs=[int(r[1]) for r in rows], outputs=[int(r[2]) for r in rows], gaps=gaps,
                requests=len(rows), seconds=times[-1] - times[0])


def conversation():
    rows = [json.loads(line)
            for line in (FOLDER / "mooncake_conversation_trace.jsonl").read_text().splitlines()]
    owner, depth, continued = {}, [], set()
    facts = collections.defaultdict(list)
    for index, row in enumerate(rows):
        hashes = row["hash_ids"]
        hits = 0
        while hits < len(hashes) and hashes[hits] in owner:
            hits += 1
        if hits > 1:
            parent = owner[hashes[hits - 1]]
            continued.add(parent)
            depth.append(depth[parent] + 1)
            whole = rows[parent]["input_length"] // PAGE
            facts["whole"].append(hits >= whole)
            if hits < whole:
                facts["part"].append(1000 * hits / whole)
            facts["pauses"].append(row["timestamp"] - rows[parent]["timestamp"])
            facts["added"].append(max(1, row["input_length"] - hits * PAGE))
        else:
            depth.append(0)
            facts["first"].append(row["input_length"])
        for value in hashes:
            owner[value] = index
    facts = dict(facts)
    chance = collections.Counter(), collections.Counter()
    for index, row in enumerate(rows):
        key = (min(depth[index], 8), row["input_length"] <= 3 * PAGE)
        chance[0][key] += 1
        chance[1][key] += index in continued
    facts["chances"] = {key: chance[1][key] / chance[0][key] for key in sorted(chance[0])}
    facts.update(inputs=[r["input_length"] for r in rows], outputs=[r["output_length"] for r in rows],
                 requests=len(rows), seconds=rows[-1]["timestamp"] / 1000,
                 stamps=collections.Counter(r["timestamp"] for r in rows).values(), rows=rows)
    return facts


def hit_rate(rows, capacity):
    """Whole pages found at the beginnings, over all pages, with room for that many pages."""
    cached = collections.OrderedDict()
    hits = total = 0
    for row in rows:
        whole = row["hash_ids"][: row["input_length"] // PAGE]
        total += len(row["hash_ids"])
        for value in whole:
            if value not in cached:
                break
            hits += 1
        for value in reversed(whole):
            cached.pop(value, None)
            cached[value] = True
        while len(cached) > capacity:
            cached.popitem(last=False)
    return hits / total


def percentiles(values):
    return {str(percent): round(quantile(values, percent), 3) for percent in CHECKED}


def main():
    talk = conversation()
    traces = {"azureCode": azure("azure2023_code.csv"), "azureConversation": azure("azure2023_conv.csv")}
    lines = ["// Made by tools/oracles/workload_tables.py from the published traces; facts, no data.", "",
             "extension QuantileTable {",
             "  /// Percentages at which every table here has a point."]

    def numbers(name, values, comment):
        lines.append(f"  /// {comment}")
        lines.append(f"  static let {name} = QuantileTable([")
        text = ", ".join(f"{value:_}" for value in values)
        while text:
            cut = len(text) if len(text) <= 92 else text.rfind(" ", 0, 92) + 1
            lines.append("    " + text[:cut].rstrip())
            text = text[cut:]
        lines.append("  ])")
        lines.append("")

    points = ", ".join(f"{point:g}" for point in POINTS)
    lines.append("  static let percentages: [Double] = [")
    while points:
        cut = len(points) if len(points) <= 92 else points.rfind(" ", 0, 92) + 1
        lines.append("    " + points[:cut].rstrip())
        points = points[cut:]
    lines.append("  ]")
    lines.append("")
    numbers("conversationFirst", table(talk["first"]), "Prompts that begin a conversation: tokens.")
    numbers("conversationAdded", table(talk["added"]),
            "Tokens of a prompt after what it shares with the one it continues.")
    numbers("conversationPauses", table(talk["pauses"]),
            "From a request to the one that continues it: milliseconds.")
    numbers("conversationParts", table(talk["part"]),
            "Thousandths of the whole pages kept, where not all are.")
    numbers("conversationOutputs", table(talk["outputs"]), "Output tokens.")
    for name, trace in traces.items():
        label = "Azure 2023, code" if name == "azureCode" else "Azure 2023, conversation"
        numbers(f"{name}Inputs", table(trace["inputs"]), f"{label}: prompt tokens.")
        numbers(f"{name}Outputs", table(trace["outputs"]), f"{label}: output tokens.")
        numbers(f"{name}Gaps", table(trace["gaps"]), f"{label}: microseconds between arrivals.")
    lines[-1] = "}"
    path = ROOT / "Sources/Workloads/QuantileTable+Published.swift"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")

    golden = {}
    for name, trace in {"conversation": talk, **traces}.items():
        golden[name] = {"requests": trace["requests"], "seconds": round(trace["seconds"], 3),
                        "inputs": percentiles(trace["inputs"]),
                        "outputs": percentiles(trace["outputs"])}
        if "gaps" in trace:
            golden[name]["gaps_us"] = percentiles(trace["gaps"])
    golden["conversation"]["requests_per_3_s"] = percentiles(talk["stamps"])
    golden["conversation"]["hit_rates"] = {
        str(capacity): round(hit_rate(talk["rows"], capacity), 4)
        for capacity in (2000, 5000, 10000, 20000, 50000, 10**9)}
    path = ROOT / "Tests/Fixtures/golden/workload-percentiles.json"
    path.write_text(json.dumps(golden, indent=1) + "\n")
    print("whole", sum(talk["whole"]) / len(talk["whole"]), "first", len(talk["first"]))
    for key, value in talk["chances"].items():
        print(key, round(value, 3))


main()

#!/usr/bin/env python3
"""Reads what `afm-bench run` wrote with Python's own readers, for the tests of Sources/Report.

  report_reader.py sql|csv|json|jsonl FILE

Prints the rows as a JSON array of objects, and fails where the file is not of its format. SQL is
run by SQLite in memory; CSV fields are all text.
"""

import csv
import json
import sqlite3
import sys


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def read(kind, path):
    with open(path, newline="", encoding="utf-8") as file:
        if kind == "csv":
            return list(csv.DictReader(file, strict=True))
        text = file.read()
    if kind == "json":
        return json.loads(text, parse_constant=no_constant)
    if kind == "jsonl":
        # Line feeds alone: splitlines() would also split at U+2028 inside a string.
        lines = text.split("\n")
        return [json.loads(line, parse_constant=no_constant) for line in lines if line]
    database = sqlite3.connect(":memory:")
    database.executescript(text)
    database.row_factory = sqlite3.Row
    return [dict(row) for row in database.execute("SELECT * FROM afm_bench ORDER BY rowid")]


if __name__ == "__main__":
    json.dump(read(sys.argv[1], sys.argv[2]), sys.stdout)

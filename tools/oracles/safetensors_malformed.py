#!/usr/bin/env python3
"""Writes the committed malformed safetensors files, each with the defect that its name says.

  safetensors_malformed.py Tests/Fixtures/malformed/safetensors
"""

import os
import sys


def file(header, data=b"", length=None):
    """Length, header, data; another length where one is given."""
    raw = header.encode() if isinstance(header, str) else header
    return (len(raw) if length is None else length).to_bytes(8, "little") + raw + data


def entry(name, kind, shape, start, end):
    return f'"{name}":{{"dtype":"{kind}","shape":{shape},"data_offsets":[{start},{end}]}}'


A = entry("a", "U8", "[2]", 0, 2)
B = entry("b", "U8", "[2]", 2, 4)

FILES = {
    "empty": b"",
    "length-cut": b"\x02\x00\x00",
    "length-past-end": file("{}", length=1 << 40),
    "length-negative": file("{}", length=(1 << 64) - 1),
    "header-cut": file("{" + A, length=200),
    "header-of-no-bytes": file(""),
    "begins-with-space": file(" {}"),
    "begins-with-array": file("[]"),
    "not-json": file("{a}"),
    "not-utf8": file(b'{"\xff":1}'),
    "bytes-behind-json": file("{}x"),
    "trailing-comma": file("{" + A + ",}", b"12"),
    "deep": file('{"a":' + "[" * 200 + "]" * 200 + "}"),
    "half-a-surrogate": file('{"\\ud800":1}'),
    "duplicate-name": file("{" + A + "," + A + "}", b"12"),
    "duplicate-field": file('{"a":{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}}',
                            b"12"),
    "unknown-type": file("{" + entry("a", "U7", "[2]", 0, 2) + "}", b"12"),
    "unknown-field": file('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"scale":1}}', b"12"),
    "no-shape": file('{"a":{"dtype":"U8","data_offsets":[0,2]}}', b"12"),
    "negative-dimension": file("{" + entry("a", "U8", "[-2]", 0, 2) + "}", b"12"),
    "fractional-dimension": file("{" + entry("a", "U8", "[2.0]", 0, 2) + "}", b"12"),
    "huge-dimension": file("{" + entry("a", "U8", "[18446744073709551616]", 0, 2) + "}", b"12"),
    "shape-overflows": file("{" + entry("a", "U8", f"[{1 << 40},{1 << 40}]", 0, 2) + "}", b"12"),
    "bytes-overflow": file("{" + entry("a", "F64", f"[{1 << 61}]", 0, 2) + "}", b"12"),
    "nine-dimensions": file("{" + entry("a", "U8", "[1,1,1,1,1,1,1,1,2]", 0, 2) + "}", b"12"),
    "half-a-byte": file("{" + entry("a", "F4", "[3]", 0, 2) + "}", b"12"),
    "three-offsets": file('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,2]}}', b"12"),
    "offsets-reversed": file("{" + entry("a", "U8", "[0]", 2, 0) + "}", b"12"),
    "offsets-past-end": file("{" + entry("a", "U8", "[3]", 0, 3) + "}", b"12"),
    "shape-and-offsets-disagree": file("{" + entry("a", "U16", "[2]", 0, 2) + "}", b"12"),
    "overlap": file("{" + A + "," + entry("b", "U8", "[2]", 1, 3) + "}", b"123"),
    "hole": file("{" + A + "," + entry("b", "U8", "[2]", 3, 5) + "}", b"12345"),
    "hole-at-the-start": file("{" + entry("a", "U8", "[2]", 1, 3) + "}", b"123"),
    "bytes-behind-data": file("{" + A + "," + B + "}", b"12345"),
    "metadata-of-numbers": file('{"__metadata__":{"a":1}}'),
    "metadata-of-an-array": file('{"__metadata__":["a"]}'),
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, content in FILES.items():
        with open(os.path.join(sys.argv[1], name + ".safetensors"), "wb") as out:
            out.write(content)

#!/usr/bin/env python3
"""Dequantizes the planes of a packed tensor with NumPy, for the tests of Sources/PackedFormats.

  formats_oracle.py FORMAT ROWS COLUMNS FOLDER

Reads FOLDER/codes, FOLDER/scales, FOLDER/minimums, writes FOLDER/values: float32, row-major.
"""

import sys

import numpy as np


def main(name, rows, columns, folder):
    rows, columns = int(rows), int(columns)

    def read(plane, kind):
        return np.fromfile(f"{folder}/{plane}", dtype=kind)

    def spread(numbers, group):
        """One number a group, repeated for each of its columns."""
        numbers = numbers.reshape(rows, -1).astype(np.float32)
        return np.repeat(numbers, group, axis=1)[:, :columns]

    def scales(name):
        """A scale for each element: per tensor, channel or group, as the name ends."""
        if name.endswith("t"):
            return read("scales", "<f4")[0]
        if name.endswith("c"):
            return read("scales", "<f4").reshape(rows, 1)
        return spread(read("scales", "<f2"), int(name.split("g")[1]))

    def codes(bits):
        packed = read("codes", np.uint8).reshape(rows, -1)
        single = np.unpackbits(packed, axis=1, bitorder="little")[:, :columns * bits]
        weights = (1 << np.arange(bits)).astype(np.uint8)
        return (single.reshape(rows, columns, bits) * weights).sum(axis=2).astype(np.float32)

    if name == "f32":
        values = read("codes", "<f4")
    elif name == "f16":
        values = read("codes", "<f2").astype(np.float32)
    elif name in ("s8c", "s8g32"):
        values = read("codes", np.int8).reshape(rows, columns).astype(np.float32)
        values = values * scales(name)
    elif name == "u4g32":
        product = codes(4) * scales(name)
        values = spread(read("minimums", "<f2"), 32) + product
    elif name == "u4c":
        values = (codes(4) - np.float32(7.5)) * scales(name)
    elif name in ("u2c", "u2g64", "u2t"):
        values = (codes(2) - np.float32(1.5)) * scales(name)
    else:
        sys.exit(f"unknown format {name}")
    assert values.dtype == np.float32
    values.astype("<f4").tofile(f"{folder}/values")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])

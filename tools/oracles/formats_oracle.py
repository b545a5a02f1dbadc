#!/usr/bin/env python3
"""Dequantizes and chooses the planes of a packed tensor with NumPy, for the tests of PackedFormats.

  formats_oracle.py values FORMAT ROWS COLUMNS FOLDER
      reads FOLDER/codes, FOLDER/scales, FOLDER/minimums; writes FOLDER/values: float32, row-major

  formats_oracle.py planes FORMAT ROWS COLUMNS FOLDER FIT
      reads FOLDER/weights and, where it exists, FOLDER/importance (float32), and the stored scales
      and minimums; writes FOLDER/expected-codes, the nearest codes of those scales, and, for the
      fits that name one scale and no search, FOLDER/expected-scales
"""

import os
import sys

import numpy as np

GROUPS = {"s8g32": 32, "u4g32": 32, "u2g64": 64}
BITS = {"s8c": 8, "s8g32": 8, "u4g32": 4, "u4c": 4, "u2c": 2, "u2g64": 2, "u2t": 2}
OUTERMOST = {"s8c": 127, "s8g32": 127, "u4c": 7.5, "u2c": 1.5, "u2g64": 1.5, "u2t": 1.5}


class Tensor:
    def __init__(self, name, rows, columns, folder):
        self.name, self.rows, self.columns, self.folder = name, int(rows), int(columns), folder

    def read(self, plane, kind):
        return np.fromfile(f"{self.folder}/{plane}", dtype=kind)

    def write(self, plane, numbers, kind):
        numbers.astype(kind).tofile(f"{self.folder}/{plane}")

    def spread(self, plane):
        """The number of a plane for each element: per tensor, channel or group."""
        if self.name in GROUPS:
            numbers = self.read(plane, "<f2").reshape(self.rows, -1).astype(np.float32)
            return np.repeat(numbers, GROUPS[self.name], axis=1)[:, :self.columns]
        numbers = self.read(plane, "<f4")
        return numbers[0] if self.name.endswith("t") else numbers.reshape(self.rows, 1)

    def codes(self):
        bits = BITS[self.name]
        packed = self.read("codes", np.uint8).reshape(self.rows, -1)
        single = np.unpackbits(packed, axis=1, bitorder="little")[:, :self.columns * bits]
        weights = (1 << np.arange(bits)).astype(np.uint8)
        codes = (single.reshape(self.rows, self.columns, bits) * weights).sum(axis=2)
        return codes.astype(np.float32)

    def values(self):
        if self.name == "f32":
            return self.read("codes", "<f4")
        if self.name == "f16":
            return self.read("codes", "<f2").astype(np.float32)
        if BITS[self.name] == 8:
            codes = self.read("codes", np.int8).reshape(self.rows, self.columns)
            return codes.astype(np.float32) * self.spread("scales")
        if self.name == "u4g32":
            return self.spread("minimums") + self.codes() * self.spread("scales")
        zero_point = np.float32(7.5 if BITS[self.name] == 4 else 1.5)
        return (self.codes() - zero_point) * self.spread("scales")

    def nearest_codes(self, weights):
        """One byte a code, as the pages of the formats define it; none of the scales is zero."""
        scales = self.spread("scales")
        if BITS[self.name] == 8:
            return np.clip(np.rint(weights / scales), -127, 127)
        if self.name == "u4g32":
            return np.rint(np.clip((weights - self.spread("minimums")) / scales, 0, 15))
        if self.name == "u4c":
            return np.clip(8 + np.floor(weights / scales), 0, 15)
        return (weights >= -scales) * 1 + (weights >= 0) * 1 + (weights >= scales) * 1

    def parts(self, numbers):
        """The weights that share a scale, one array each, in the order of the scales."""
        if self.name.endswith("t"):
            return [numbers.reshape(-1)]
        size = GROUPS.get(self.name, self.columns)
        return [row[at:at + size] for row in numbers for at in range(0, self.columns, size)]

    def scales(self, weights, importance, fit):
        """The scales of a fit; None where they come from a search."""
        outermost = OUTERMOST.get(self.name)
        if fit == "absmax" and outermost:
            exact = [np.abs(part).max().astype(np.float64) / outermost
                     for part in self.parts(weights)]
        elif self.name in ("u2c", "u2g64"):
            exact = [two_bit_scale(part, weight) for part, weight
                     in zip(self.parts(weights), self.parts(importance))]
        else:
            return None
        scales = np.array(exact).astype(np.float32)
        return scales.astype(np.float16) if self.name in GROUPS else scales


def two_bit_scale(weights, importance):
    """The scale of least weighted squared error over all thresholds between low and high."""
    order = np.argsort(np.abs(weights), kind="stable")
    magnitudes = np.abs(weights)[order].astype(np.float64)
    importance = importance[order].astype(np.float64)
    low = np.concatenate([[0], np.cumsum(importance * magnitudes)])
    counts = np.concatenate([[0], np.cumsum(importance)])
    numerators = 0.5 * low[:-1] + 1.5 * (low[-1] - low[:-1])
    denominators = 0.25 * counts[:-1] + 2.25 * (counts[-1] - counts[:-1])
    best = np.argmax(numerators**2 / denominators)
    return numerators[best] / denominators[best]


def main(task, name, rows, columns, folder, fit=None):
    tensor = Tensor(name, rows, columns, folder)
    if task == "values":
        values = tensor.values()
        assert values.dtype == np.float32
        tensor.write("values", values, "<f4")
        return
    weights = tensor.read("weights", "<f4").reshape(tensor.rows, tensor.columns)
    importance = np.ones(tensor.columns, dtype=np.float32)
    if os.path.exists(f"{folder}/importance"):
        importance = tensor.read("importance", "<f4")
    importance = np.broadcast_to(importance, weights.shape)
    tensor.write("expected-codes", tensor.nearest_codes(weights), np.int8)
    scales = tensor.scales(weights, importance, fit)
    if scales is not None:
        tensor.write("expected-scales", scales, scales.dtype)


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7) or sys.argv[1] not in ("values", "planes"):
        sys.exit(__doc__)
    main(*sys.argv[1:])

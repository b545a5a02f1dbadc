#!/usr/bin/env python3
"""The afm-ondevice forward pass in NumPy float64, on a model's dumped tensors.

  ondevice_twin.py dump AFM_BENCH MODEL.afmw DIRECTORY
        writes header.json and NAME.f32 for every tensor, through the program's own
        `inspect --json` and `dump`
  ondevice_twin.py logits DIRECTORY IDS.json [ADAPTER.safetensors]
        the logits after every id, a JSON array of rows; IDS.json is an array of ids

Written from the description of the model: pre-norm RMSNorm twice a layer and once at the end,
grouped-query attention whose heads are rotated (Su et al. 2021) and then each normalised, SwiGLU
(Shazeer 2020), the output tied to the embedding; layers from keyValueLayerCount on project queries
only and read the keys and values of the last layer before them. It runs every layer for every
position. An adapter (Hu et al. 2021) adds B (A x) to a projection. It shares nothing with the
engines but the files.

Needs: pip install numpy
"""

import json
import os
import subprocess
import sys

import numpy as np


def dump(program, model, directory):
    os.makedirs(directory, exist_ok=True)
    text = subprocess.run([program, "inspect", model, "--json"], check=True, capture_output=True)
    description = json.loads(text.stdout)
    with open(os.path.join(directory, "header.json"), "w") as file:
        json.dump(description["header"], file)
    for tensor in description["tensors"]:
        path = os.path.join(directory, tensor["name"] + ".f32")
        subprocess.run([program, "dump", model, tensor["name"], path], check=True,
                       stdout=subprocess.DEVNULL)


def safetensors(path):
    """Every tensor of a safetensors file in float64, and its metadata."""
    kinds = {"F16": np.float16, "F32": np.float32, "F64": np.float64}
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[8 + size + begin:8 + size + end], kinds[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"]).astype(np.float64)
    return tensors, metadata


class Model:
    def __init__(self, directory, adapter=None):
        with open(os.path.join(directory, "header.json")) as file:
            self.header = json.load(file)
        self.directory = directory
        self.adapter, self.scale = {}, 1.0
        if adapter:
            self.adapter, metadata = safetensors(adapter)
            if "lora_alpha" in metadata:
                rank = next(v for k, v in self.adapter.items() if k.endswith(".lora_a")).shape[0]
                self.scale = float(metadata["lora_alpha"]) / rank

    def get(self, name, columns=None):
        values = np.fromfile(os.path.join(self.directory, name + ".f32"), "<f4").astype(np.float64)
        return values.reshape(-1, columns) if columns else values

    def norm(self, x, name):
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + self.header["normEpsilon"]) * self.get(name)

    def linear(self, x, name):
        name += ".weight"
        y = x @ self.get(name, x.shape[-1]).T
        if name + ".lora_a" in self.adapter:
            inner = x @ self.adapter[name + ".lora_a"].T
            y = y + inner @ self.adapter[name + ".lora_b"].T * self.scale
        return y

    def rotate(self, x):
        """x[token, head, dim]: halves of the rotated part turn against each other."""
        assert self.header["ropePairing"] == "halves"
        size = self.header["ropeDimension"]
        count = size // 2
        base = self.header["ropeBase"]
        angle = np.arange(len(x))[:, None] * base ** (-2.0 * np.arange(count) / size)
        turn = np.exp(1j * angle)[:, None, :]
        z = (x[..., :count] + 1j * x[..., count:size]) * turn
        y = x.copy()
        y[..., :count], y[..., count:size] = z.real, z.imag
        return y

    def heads(self, x, name, norm, count):
        x = self.linear(x, name).reshape(len(x), count, self.header["headDimension"])
        order = self.header.get("headNorm")
        if order == "beforeRope":
            x = self.norm(x, norm)
        x = self.rotate(x)
        return self.norm(x, norm) if order == "afterRope" else x

    def attend(self, q, k, v):
        n, heads, dim = q.shape
        group = heads // k.shape[1]
        out = np.empty_like(q)
        future = np.triu(np.full((n, n), -np.inf), 1)
        for head in range(heads):
            scores = q[:, head] @ k[:, head // group].T / np.sqrt(dim) + future
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ v[:, head // group]
        return out.reshape(n, -1)

    def logits(self, ids):
        h = self.header
        own = h.get("keyValueLayerCount", h["layerCount"])
        x = self.get("token_embd.weight", h["hiddenSize"])[np.array(ids)]
        k = v = None
        for layer in range(h["layerCount"]):
            p = f"blk.{layer}."
            y = self.norm(x, p + "attn_norm.weight")
            q = self.heads(y, p + "attn_q", p + "attn_q_norm.weight", h["queryHeadCount"])
            if layer < own:
                shared = h["keyValueHeadCount"]
                k = self.heads(y, p + "attn_k", p + "attn_k_norm.weight", shared)
                v = self.linear(y, p + "attn_v").reshape(len(y), shared, h["headDimension"])
            x = x + self.linear(self.attend(q, k, v), p + "attn_output")
            y = self.norm(x, p + "ffn_norm.weight")
            gate, up = self.linear(y, p + "ffn_gate"), self.linear(y, p + "ffn_up")
            x = x + self.linear(gate / (1 + np.exp(-gate)) * up, p + "ffn_down")
        x = self.norm(x, "output_norm.weight")
        name = "token_embd" if h["tiedOutput"] else "output"
        return x @ self.get(name + ".weight", h["hiddenSize"]).T


def main(arguments):
    if arguments[:1] == ["dump"] and len(arguments) == 4:
        dump(*arguments[1:])
    elif arguments[:1] == ["logits"] and len(arguments) in (3, 4):
        with open(arguments[2]) as file:
            ids = json.load(file)
        rows = Model(arguments[1], *arguments[3:]).logits(ids)
        print(json.dumps([[float(f"{value:.8g}") for value in row] for row in rows]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""What PyPI `gguf` says about GGUF files, for the tests of Sources/ModelFile/GGUF.

  gguf_oracle.py report FILE          JSON: "tensors", a line each of name, type, dimensions
                                      (outermost first) and weighted sum of the bits of its float32
                                      values, every NaN as 0x7FC00000; "tokenizer", the tokenizer.*
                                      keys
  gguf_oracle.py types OUT.gguf [OUT.f32]
                                      writes a file with a tensor of every supported type (seeded
                                      random units), and its values one tensor after another
  gguf_oracle.py wild OUT.gguf SEED   likewise, of any bytes: scales that are NaN, infinite,
                                      denormal and negative among them
  gguf_oracle.py models DIRECTORY     writes llama.gguf, qwen2.gguf, bigendian.gguf there

Needs: pip install gguf==0.19.0
"""

import json
import sys

import numpy as np
from gguf import (GGML_QUANT_SIZES, GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFWriter)
from gguf.quants import dequantize, quantize

# Where a unit of each type keeps binary16 numbers: they are set to finite values.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
    "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
    "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0],
    "IQ1_M": [], "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [], "NVFP4": [],
}
# Types of plain numbers, which `gguf` reads without dequantizing.
NUMBERS = {"F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64}
TYPES = ["F32", "F16", "BF16"] + list(HALVES) + list(NUMBERS)


def values(tensor):
    with np.errstate(over="ignore", invalid="ignore"):
        if tensor.tensor_type.name in NUMBERS:
            return tensor.data.astype("<f4").reshape(-1)
        return dequantize(tensor.data, tensor.tensor_type).astype("<f4", copy=False).reshape(-1)


def weighted_sum(floats):
    """Sum of bits[i] * (odd weight of i) modulo 2^64."""
    total = 0
    # What a NaN's payload becomes in arithmetic depends on the machine.
    bits = np.where(np.isnan(floats), np.uint32(0x7FC00000), floats.view("<u4"))
    for start in range(0, len(bits), 1 << 20):
        part = bits[start:start + (1 << 20)].astype(np.uint64)
        index = np.arange(start, start + len(part), dtype=np.uint64)
        weight = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
        total += int((part * (weight | np.uint64(1))).sum(dtype=np.uint64))
    return total % 2**64


def report(path):
    reader = GGUFReader(path)
    lines = []
    for tensor in reader.tensors:
        shape = "x".join(str(int(d)) for d in reversed(tensor.shape))
        total = weighted_sum(values(tensor))
        lines.append(f"{tensor.name} {tensor.tensor_type.name} {shape} {total}")
    tokenizer = {key: field.contents() for key, field in reader.fields.items()
                 if key.startswith("tokenizer.")}
    json.dump({"tensors": lines, "tokenizer": tokenizer}, sys.stdout)


def random_units(name, rows, columns, generator):
    """Stored bytes of rows x columns elements; every bit pattern of the codes may occur."""
    if name == "F32":
        return generator.standard_normal((rows, columns)).astype(np.float32)
    if name == "F16":
        return generator.standard_normal((rows, columns)).astype(np.float16)
    if name == "F64":
        return generator.standard_normal((rows, columns))
    if name in NUMBERS:
        limits = np.iinfo(NUMBERS[name])
        return generator.integers(limits.min, limits.max, (rows, columns), NUMBERS[name], True)
    elements, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    if name == "BF16":
        floats = generator.standard_normal((rows, columns)).astype(np.float32)
        return quantize(floats, GGMLQuantizationType.BF16).view(np.uint8).reshape(rows, columns * 2)
    units = generator.integers(0, 256, (rows, columns // elements, size), dtype=np.uint8)
    for offset in HALVES[name]:
        shape = units.shape[:2]
        scales = generator.standard_normal(shape) * 10.0 ** generator.integers(-9, 4, shape)
        scales[-1, 0] = 0.0 if rows > 2 else scales[-1, 0]
        units[..., offset:offset + 2] = scales.astype("<f2").reshape(*shape, 1).view(np.uint8)
    return units.reshape(rows, -1)


def wild_units(name, rows, columns, generator):
    """Stored bytes of rows x columns elements; every bit pattern of everything may occur."""
    elements, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    units = generator.integers(0, 256, (rows, columns // elements, size), dtype=np.uint8)
    specials = np.array([0x7C00, 0xFC00, 0x7E01, 0x7C01, 0xFFFF, 0x0001, 0x8000, 0x7BFF], "<u2")
    for offset in HALVES.get(name, []):
        chosen = generator.choice(specials, units.shape[:2]).reshape(*units.shape[:2], 1)
        some = generator.random(units.shape[:2]) < 0.3
        units[..., offset:offset + 2][some] = chosen.view(np.uint8)[some]
    units = units.reshape(rows, -1)
    plain = {"F32": np.float32, "F16": np.float16, **NUMBERS}
    return units.view(plain[name]) if name in plain else units


def add(writer, name, kind, rows, columns, generator, make=random_units):
    data = make(kind, rows, columns, generator)
    if kind in ("F32", "F16") or kind in NUMBERS:
        writer.add_tensor(name, data)
    else:
        writer.add_tensor(name, data, raw_dtype=GGMLQuantizationType[kind])


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def types(path, floats=None):
    generator = np.random.default_rng(20240607)
    writer = GGUFWriter(path, "llama")
    for kind in TYPES:
        add(writer, "tensor." + kind, kind, 2, 256, generator)
    finish(writer)
    if floats:
        with open(floats, "wb") as out:
            for tensor in GGUFReader(path).tensors:
                out.write(values(tensor).tobytes())


def wild(path, seed):
    generator = np.random.default_rng(int(seed))
    writer = GGUFWriter(path, "llama")
    for kind in TYPES:
        add(writer, "tensor." + kind, kind, 40, 512, generator, wild_units)
    finish(writer)


def model(path, architecture, bias, tied):
    generator = np.random.default_rng(7)
    hidden, wide, heads, shared, vocabulary = 256, 512, 4, 2, 12
    keys = hidden // heads * shared
    writer = GGUFWriter(path, architecture)
    writer.add_name("tiny " + architecture)
    writer.add_block_count(2)
    writer.add_context_length(128)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(wide)
    writer.add_head_count(heads)
    writer.add_head_count_kv(shared)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_array("test.nested", [[1, 2], [3]])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    tokens = ["<|end|>", "a", "b", "c", "\u0120", "ab", "abc", "\u0120a", "\u00e9", "e\u0301", "d",
              "dd"]
    writer.add_token_list(tokens)
    writer.add_token_types([3] + [1] * 11)
    writer.add_token_merges(["a b", "ab c", "\u0120 a", "d d"])
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{{ messages }}")

    def matrix(name, kind, rows, columns):
        add(writer, name, kind, rows, columns, generator)

    def vector(name, count):
        writer.add_tensor(name, generator.standard_normal(count).astype(np.float32))

    # Integers of a model's weights would be far too large.
    kinds = iter([kind for kind in TYPES if kind not in NUMBERS] * 2)
    matrix("token_embd.weight", "Q8_0", vocabulary, hidden)
    vector("output_norm.weight", hidden)
    if not tied:
        matrix("output.weight", "Q6_K", vocabulary, hidden)
    for layer in range(2):
        prefix = f"blk.{layer}."
        vector(prefix + "attn_norm.weight", hidden)
        vector(prefix + "ffn_norm.weight", hidden)
        for name, rows, columns in [
                ("attn_q", hidden, hidden), ("attn_k", keys, hidden), ("attn_v", keys, hidden),
                ("attn_output", hidden, hidden), ("ffn_gate", wide, hidden),
                ("ffn_up", wide, hidden), ("ffn_down", hidden, wide)]:
            matrix(f"{prefix}{name}.weight", next(kinds), rows, columns)
            if bias and name in ("attn_q", "attn_k", "attn_v"):
                vector(f"{prefix}{name}.bias", rows)
    finish(writer)


def models(directory):
    model(directory + "/llama.gguf", "llama", bias=False, tied=True)
    model(directory + "/qwen2.gguf", "qwen2", bias=True, tied=False)
    writer = GGUFWriter(directory + "/bigendian.gguf", "llama", endianess=GGUFEndian.BIG)
    writer.add_tensor("t", np.zeros(4, np.float32))
    finish(writer)


if __name__ == "__main__":
    commands = {"report": report, "types": types, "wild": wild, "models": models}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])

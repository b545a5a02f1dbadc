#!/usr/bin/env python3
"""The Llama-family forward pass in NumPy float64, and tiny random models to run it on.

  llama_twin.py write VARIANT OUT.gguf [SEED]   a tiny model with seeded random weights
  llama_twin.py logits MODEL.gguf IDS.json      the logits after every id, a JSON array of rows;
                                                IDS.json is an array of ids. Any GGUF of llama or
                                                qwen2 that PyPI gguf can dequantize
  llama_twin.py fixtures DIRECTORY              writes the committed fixtures there:
                                                tiny-llama.gguf, tiny-qwen2.gguf, tiny-logits.json

Variants: see VARIANTS. Written from the papers (RMSNorm: Zhang and Sennrich 2019; RoPE: Su et al.
2021; GQA: Ainslie et al. 2023; SwiGLU: Shazeer 2020) and the GGUF specification; it shares nothing
with the engines but the file.

Needs: pip install gguf==0.19.0 numpy
"""

import json
import sys

import numpy as np
from gguf import GGUFReader, GGUFWriter
from gguf.quants import dequantize

# Sizes are no multiples of anything that a vector unit likes.
VARIANTS = {
    "fixture-llama": dict(arch="llama", hidden=30, wide=44, heads=4, shared=2, dim=10, rope=10,
                          layers=2, base=10000.0, half=True),
    "fixture-qwen2": dict(arch="qwen2", hidden=26, wide=38, heads=3, shared=1, dim=12, rope=12,
                          layers=2, base=1000000.0, half=True, bias=True, untied=True),
    "llama": dict(arch="llama", hidden=48, wide=88, heads=4, shared=2, dim=12, rope=12, layers=3,
                  base=10000.0),
    "llama-partial-rope": dict(arch="llama", hidden=48, wide=88, heads=4, shared=2, dim=12, rope=6,
                               layers=2, base=500.0),
    "llama-wide-heads": dict(arch="llama", hidden=33, wide=71, heads=3, shared=3, dim=20, rope=20,
                             layers=2, base=10000.0, untied=True),
    "qwen2": dict(arch="qwen2", hidden=48, wide=88, heads=4, shared=2, dim=12, rope=12, layers=3,
                  base=1000000.0, bias=True, untied=True),
    "qwen2-partial-rope": dict(arch="qwen2", hidden=66, wide=130, heads=6, shared=2, dim=11,
                               rope=6, layers=2, base=10000.0, bias=True),
}

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content"
    " + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\\n' }}{% endif %}")


def vocabulary():
    """Control tokens, the byte-level alphabet, and a few merges."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    letters = [chr(byte) for byte in shown] + [chr(256 + i) for i in range(len(hidden))]
    merged = ["th", "the", "\u0120a", "in", "\u0120the"]
    merges = ["t h", "th e", "\u0120 a", "i n", "\u0120 the"]
    return ["<|end|>", "<|im_start|>", "<|im_end|>"], letters + merged, merges


def write(variant, path, seed=1):
    v = VARIANTS[variant]
    generator = np.random.default_rng(int(seed))
    control, normal, merges = vocabulary()
    writer = GGUFWriter(path, v["arch"])
    writer.add_name("tiny " + variant)
    writer.add_block_count(v["layers"])
    writer.add_context_length(256)
    writer.add_embedding_length(v["hidden"])
    writer.add_feed_forward_length(v["wide"])
    writer.add_head_count(v["heads"])
    writer.add_head_count_kv(v["shared"])
    writer.add_key_length(v["dim"])
    writer.add_value_length(v["dim"])
    writer.add_rope_dimension_count(v["rope"])
    writer.add_rope_freq_base(v["base"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(control + normal)
    writer.add_token_types([3] * len(control) + [1] * len(normal))
    writer.add_token_merges(merges)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    def matrix(name, rows, columns, size=1.0):
        values = generator.standard_normal((rows, columns)) * size / np.sqrt(columns)
        writer.add_tensor(name, values.astype(np.float16 if v.get("half") else np.float32))

    def vector(name, count, mean, size):
        values = mean + size * generator.standard_normal(count)
        writer.add_tensor(name, values.astype(np.float32))

    hidden, queries, keys = v["hidden"], v["heads"] * v["dim"], v["shared"] * v["dim"]
    # Gains that make attention sharp and logits spread over about ten.
    matrix("token_embd.weight", len(control + normal), hidden, 3.0)
    vector("output_norm.weight", hidden, 1.0, 0.2)
    if v.get("untied"):
        matrix("output.weight", len(control + normal), hidden, 3.0)
    for layer in range(v["layers"]):
        p = f"blk.{layer}."
        vector(p + "attn_norm.weight", hidden, 1.0, 0.2)
        vector(p + "ffn_norm.weight", hidden, 1.0, 0.2)
        for name, rows, columns, size in [
                ("attn_q", queries, hidden, 1.5), ("attn_k", keys, hidden, 1.5),
                ("attn_v", keys, hidden, 1.0), ("attn_output", hidden, queries, 1.0),
                ("ffn_gate", v["wide"], hidden, 1.0), ("ffn_up", v["wide"], hidden, 1.0),
                ("ffn_down", hidden, v["wide"], 1.0)]:
            matrix(f"{p}{name}.weight", rows, columns, size)
            if v.get("bias") and name in ("attn_q", "attn_k", "attn_v"):
                vector(f"{p}{name}.bias", rows, 0.0, 0.5)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Model:
    def __init__(self, path):
        reader = GGUFReader(path)
        self.tensors = {t.name: t for t in reader.tensors}

        def field(key, default=None):
            found = reader.fields.get(key)
            return found.contents() if found else default

        self.arch = field("general.architecture")
        a = self.arch + "."
        self.layers = field(a + "block_count")
        self.hidden = field(a + "embedding_length")
        self.heads = field(a + "attention.head_count")
        self.shared = field(a + "attention.head_count_kv", self.heads)
        self.dim = field(a + "attention.key_length", self.hidden // self.heads)
        self.rope = field(a + "rope.dimension_count", self.dim)
        self.base = field(a + "rope.freq_base", 10000.0)
        self.epsilon = field(a + "attention.layer_norm_rms_epsilon")

    def get(self, name):
        t = self.tensors[name]
        return dequantize(t.data, t.tensor_type).astype(np.float64)

    def norm(self, x, name):
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + self.epsilon) * self.get(name)

    def linear(self, x, name):
        y = x @ self.get(name + ".weight").T
        return y + self.get(name + ".bias") if name + ".bias" in self.tensors else y

    def rotate(self, x):
        """x[token, head, dim]: llama turns neighbours, qwen2 halves of the rotated part."""
        count = self.rope // 2
        angle = np.arange(len(x))[:, None] * self.base ** (-2.0 * np.arange(count) / self.rope)
        turn = np.exp(1j * angle)[:, None, :]
        y = x.copy()
        part = x[..., :self.rope]
        if self.arch == "llama":
            z = (part[..., 0::2] + 1j * part[..., 1::2]) * turn
            y[..., 0:self.rope:2], y[..., 1:self.rope:2] = z.real, z.imag
        else:
            z = (part[..., :count] + 1j * part[..., count:]) * turn
            y[..., :count], y[..., count:self.rope] = z.real, z.imag
        return y

    def attention(self, x, p):
        n = len(x)
        q = self.rotate(self.linear(x, p + "attn_q").reshape(n, self.heads, self.dim))
        k = self.rotate(self.linear(x, p + "attn_k").reshape(n, self.shared, self.dim))
        v = self.linear(x, p + "attn_v").reshape(n, self.shared, self.dim)
        out = np.empty((n, self.heads, self.dim))
        hidden_future = np.triu(np.full((n, n), -np.inf), 1)
        for head in range(self.heads):
            group = head // (self.heads // self.shared)
            scores = q[:, head] @ k[:, group].T / np.sqrt(self.dim) + hidden_future
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ v[:, group]
        return self.linear(out.reshape(n, -1), p + "attn_output")

    def logits(self, ids):
        x = self.get("token_embd.weight")[np.array(ids)]
        for layer in range(self.layers):
            p = f"blk.{layer}."
            x = x + self.attention(self.norm(x, p + "attn_norm.weight"), p)
            y = self.norm(x, p + "ffn_norm.weight")
            gate, up = self.linear(y, p + "ffn_gate"), self.linear(y, p + "ffn_up")
            x = x + self.linear(gate / (1 + np.exp(-gate)) * up, p + "ffn_down")
        x = self.norm(x, "output_norm.weight")
        output = "output" if "output.weight" in self.tensors else "token_embd"
        return self.linear(x, output)


def rounded(rows):
    return [[float(f"{value:.8g}") for value in row] for row in rows]


def fixtures(directory):
    answers = {}
    for name, seed in [("llama", 1), ("qwen2", 2)]:
        path = f"{directory}/tiny-{name}.gguf"
        write("fixture-" + name, path, seed)
        model = Model(path)
        count = len(model.get("token_embd.weight"))
        # Longer than a cache page of 64 positions.
        ids = np.random.default_rng(seed).integers(0, count, 80).tolist()
        positions = [0, 1, 31, 64, 79]
        rows = model.logits(ids)
        answers[name] = {"ids": ids, "positions": positions,
                         "logits": [[float(f"{x:.7g}") for x in rows[p]] for p in positions]}
    with open(f"{directory}/tiny-logits.json", "w") as out:
        json.dump(answers, out, separators=(",", ":"))
        out.write("\n")


def main(arguments):
    if arguments[:1] == ["write"] and len(arguments) in (3, 4):
        write(*arguments[1:])
    elif arguments[:1] == ["logits"] and len(arguments) == 3:
        with open(arguments[2]) as source:
            json.dump(rounded(Model(arguments[1]).logits(json.load(source))), sys.stdout)
    elif arguments[:1] == ["fixtures"] and len(arguments) == 2:
        fixtures(arguments[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

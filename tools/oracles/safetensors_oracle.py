#!/usr/bin/env python3
"""What PyPI `safetensors` says about safetensors files, and Hugging Face folders made of GGUF files,
for the tests of Sources/ModelFile/Safetensors and Sources/ModelFile/HuggingFace.

  safetensors_oracle.py report FILE        JSON: "metadata"; "tensors", a line each of name, type,
                                           dimensions and weighted sum of the bits of its values as
                                           float32, every NaN as 0x7FC00000
  safetensors_oracle.py types OUT SEED     writes random bytes as tensors of every readable type
  safetensors_oracle.py judge FILE...      JSON: for every file whether it is accepted
  safetensors_oracle.py folder IN.gguf OUT TYPE FILES [LAYERS]
                                           makes a Hugging Face folder of a GGUF model of llama or
                                           qwen2, or of its first layers: F32, F16 or BF16, in one
                                           file or an index of several, with config.json,
                                           tokenizer.json (written by PyPI `tokenizers`) and
                                           tokenizer_config.json
  safetensors_oracle.py encode FOLDER TEXTS.json
                                           JSON: the ids of every text by tokenizer.json

Needs: pip install gguf==0.19.0 safetensors==0.8.0 tokenizers==0.23.3 numpy
"""

import json
import os
import sys

import numpy as np
from safetensors import SafetensorError, TensorSpec, deserialize, serialize_file

TYPES = {"F64": ("float64", "<f8"), "F32": ("float32", "<f4"), "F16": ("float16", "<f2"),
         "BF16": ("bfloat16", "<u2"), "I64": ("int64", "<i8"), "U64": ("uint64", "<u8"),
         "I32": ("int32", "<i4"), "U32": ("uint32", "<u4"), "I16": ("int16", "<i2"),
         "U16": ("uint16", "<u2"), "I8": ("int8", "<i1"), "U8": ("uint8", "<u1"),
         "BOOL": ("bool", "<u1")}


def save(tensors, path, metadata):
    """Writes tensors of names, each a type's name, a shape and its bytes."""
    arrays = {name: np.frombuffer(tensor["data"], np.uint8) for name, tensor in tensors.items()}
    specs = {name: TensorSpec(dtype=tensor["dtype"], shape=tensor["shape"],
                              data_ptr=arrays[name].ctypes.data, data_len=arrays[name].nbytes)
             for name, tensor in tensors.items()}
    serialize_file(specs, path, metadata)


def floats(kind, data):
    raw = np.frombuffer(bytes(data), TYPES[kind][1])
    if kind == "BF16":
        return (raw.astype("<u4") << 16).view("<f4")
    with np.errstate(over="ignore", invalid="ignore"):
        return raw.astype("<f4")


def weighted_sum(values):
    """Sum of bits[i] * (odd weight of i) modulo 2^64."""
    bits = np.where(np.isnan(values), np.uint32(0x7FC00000), values.view("<u4")).astype(np.uint64)
    index = np.arange(len(bits), dtype=np.uint64)
    weight = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    return int((bits * (weight | np.uint64(1))).sum(dtype=np.uint64)) % 2**64


def report(path):
    with open(path, "rb") as file:
        content = file.read()
    lines = []
    for name, tensor in sorted(deserialize(content)):
        shape = "x".join(map(str, tensor["shape"]))
        total = weighted_sum(floats(tensor["dtype"], tensor["data"]))
        lines.append(f"{name} {tensor['dtype']} {shape} {total}")
    count = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8:8 + count]).get("__metadata__", {})
    json.dump({"metadata": metadata, "tensors": lines}, sys.stdout)


def types(path, seed):
    generator = np.random.default_rng(int(seed))
    tensors = {}
    for kind, (name, code) in TYPES.items():
        for rows, columns in [(3, 77), (1, 1), (0, 5)]:
            count = rows * columns * np.dtype(code).itemsize
            data = generator.integers(0, 2 if kind == "BOOL" else 256, count, dtype=np.uint8)
            tensors[f"{kind}.{rows}"] = {
                "dtype": name, "shape": [rows, columns], "data": data.tobytes()}
    save(tensors, path, {"seed": seed, "text": "\"\\\n\u00e9\U0001f600"})


def judge(*paths):
    answers = {}
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        try:
            deserialize(content)
            answers[path] = True
        except SafetensorError:
            answers[path] = False
    json.dump(answers, sys.stdout)


NAMES = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
WHOLE = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
         "output.weight": "lm_head.weight"}


def folder(source, out, kind, file_count, layers=None):
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader = GGUFReader(source)

    def field(key, default=None):
        found = reader.fields.get(key)
        return found.contents() if found else default

    arch = field("general.architecture")
    heads = field(arch + ".attention.head_count")
    shared = field(arch + ".attention.head_count_kv", heads)
    hidden = field(arch + ".embedding_length")
    dim = field(arch + ".attention.key_length", hidden // heads)
    layers = int(layers or field(arch + ".block_count"))
    tensors = {}
    for tensor in reader.tensors:
        if tensor.name.startswith("blk.") and int(tensor.name.split(".")[1]) >= layers:
            continue
        shape = [int(count) for count in reversed(tensor.shape)]
        values = dequantize(tensor.data, tensor.tensor_type).astype("<f4").reshape(shape)
        if tensor.name in WHOLE:
            name = WHOLE[tensor.name]
        else:
            _, layer, part, suffix = tensor.name.split(".")
            name = f"model.layers.{layer}.{NAMES[part]}.{suffix}"
            # GGUF's llama rotates neighbours, Hugging Face halves.
            if arch == "llama" and part in ("attn_q", "attn_k"):
                values = values.reshape(-1, dim // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)
        if kind == "BF16":
            bits = values.view("<u4").astype(np.uint64)
            data = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()
        else:
            data = values.astype(TYPES[kind][1]).tobytes()
        tensors[name] = {"dtype": TYPES[kind][0], "shape": shape, "data": data}
    os.makedirs(out, exist_ok=True)
    write(tensors, out, int(file_count))
    tokens = field("tokenizer.ggml.tokens")
    config = {
        "architectures": [{"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}[arch]],
        "model_type": arch, "hidden_act": "silu", "hidden_size": hidden,
        "intermediate_size": field(arch + ".feed_forward_length"),
        "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": shared, "head_dim": dim, "vocab_size": len(tokens),
        "max_position_embeddings": field(arch + ".context_length"),
        "rms_norm_eps": field(arch + ".attention.layer_norm_rms_epsilon"),
        "rope_scaling": None, "rope_theta": field(arch + ".rope.freq_base", 10000.0),
        "tie_word_embeddings": "lm_head.weight" not in tensors,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": [field("tokenizer.ggml.eos_token_id")]}
    with open(out + "/config.json", "w") as file:
        json.dump(config, file, indent=2)
    write_tokenizer(field, tokens, out)


def write(tensors, out, file_count):
    if file_count == 1:
        save(tensors, out + "/model.safetensors", {"format": "pt"})
        return
    names = sorted(tensors)
    places = {}
    for part in range(file_count):
        name = f"model-{part + 1:05}-of-{file_count:05}.safetensors"
        chosen = names[part::file_count]
        save({key: tensors[key] for key in chosen}, f"{out}/{name}", {"format": "pt"})
        places.update({key: name for key in chosen})
    total = sum(len(tensor["data"]) for tensor in tensors.values())
    with open(out + "/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": places}, file, indent=2)


def write_tokenizer(field, tokens, out):
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
    from tokenizers import pre_tokenizers as pre
    from tokenizers import processors

    kinds = field("tokenizer.ggml.token_type")
    merges = [tuple(line.split(" ")) for line in field("tokenizer.ggml.merges")]
    vocabulary = {token: id for id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    name = field("tokenizer.ggml.pre", "default")
    if name == "qwen2":
        pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
                   r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre.Sequence(
            [pre.Split(Regex(pattern), "isolated"), pre.ByteLevel(False, use_regex=False)])
    elif name == "smollm":
        tokenizer.pre_tokenizer = pre.Sequence([pre.Digits(True), pre.ByteLevel(False)])
    else:
        tokenizer.pre_tokenizer = pre.ByteLevel(False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(
        [AddedToken(token, normalized=False) for token, kind in zip(tokens, kinds) if kind == 3])
    tokenizer.add_tokens(
        [AddedToken(token, normalized=False) for token, kind in zip(tokens, kinds) if kind == 4])
    tokenizer.save(out + "/tokenizer.json")

    def text(role):
        id = field(f"tokenizer.ggml.{role}_token_id")
        return None if id is None else tokens[id]

    settings = {"add_bos_token": field("tokenizer.ggml.add_bos_token", False),
                "bos_token": text("bos"), "eos_token": {"content": text("eos")},
                "unk_token": text("unknown"), "pad_token": text("padding"),
                "chat_template": field("tokenizer.chat_template")}
    with open(out + "/tokenizer_config.json", "w") as file:
        json.dump(settings, file)


def encode(path, texts):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path + "/tokenizer.json")
    with open(texts) as file:
        json.dump([tokenizer.encode(text, add_special_tokens=False).ids
                   for text in json.load(file)], sys.stdout)


if __name__ == "__main__":
    commands = {"report": report, "types": types, "judge": judge, "folder": folder,
                "encode": encode}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])

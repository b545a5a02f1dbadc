"""What PyPI `tokenizers` makes of texts: the oracle of TokenizationTests.

Reads one JSON request from the file named first and writes one JSON answer to the file named
second. Texts are base64, since they need not be UTF-8; they are decoded with "replace".

    {"do": "describe", "model": PATH}             a GGUF file's tokenizer (needs PyPI `gguf`)
    {"do": "encode", "vocabulary": {"tokens": [...], "kinds": [...], "merges": [[l, r], ...]},
     "model": PATH (instead of "vocabulary"), "pre": NAME, "special": BOOL, "texts": [...]}
                                                  {"ids": [[...], ...]}
    {"do": "pieces", "pre": NAME, "texts": [...]} {"ends": [[...], ...]}, byte offsets of the cuts
"""

import base64
import json
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

CONTROL, USER_DEFINED = 3, 4

LETTERS_AND_SYMBOLS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NUMBERS = {"qwen2": r"\p{N}", "llama-bpe": r"\p{N}{1,3}"}


def pre_tokenizer(name):
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if name in ("gpt-2", "default"):
        return gpt2
    if name == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    expression = Regex(LETTERS_AND_SYMBOLS % NUMBERS[name])
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(expression, "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def describe(path):
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    get = lambda key: fields[key].contents() if key in fields else None
    tokens = get("tokenizer.ggml.tokens")
    ids = {token: index for index, token in enumerate(tokens)}
    merges = [merge.split(" ") for merge in get("tokenizer.ggml.merges")]
    return {
        "tokens": tokens,
        "kinds": get("tokenizer.ggml.token_type"),
        "merges": [[ids[left], ids[right]] for left, right in merges],
        "pre": get("tokenizer.ggml.pre"),
        "begin": get("tokenizer.ggml.bos_token_id"),
        "end": get("tokenizer.ggml.eos_token_id"),
        "unknown": get("tokenizer.ggml.unknown_token_id"),
        "padding": get("tokenizer.ggml.padding_token_id"),
        "chatTemplate": get("tokenizer.chat_template"),
    }


def build(vocabulary, pre, special):
    tokens, kinds = vocabulary["tokens"], vocabulary["kinds"]
    merges = [(tokens[left], tokens[right]) for left, right in vocabulary["merges"]]
    ids = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(ids, merges, ignore_merges=pre == "llama-bpe"))
    if pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizer(pre)
    if special:
        for token, kind in zip(tokens, kinds):
            if kind in (CONTROL, USER_DEFINED):
                added = AddedToken(token, special=kind == CONTROL, normalized=False)
                (tokenizer.add_special_tokens if kind == CONTROL else tokenizer.add_tokens)([added])
    return tokenizer


def texts(request):
    return [base64.b64decode(text).decode("utf-8", "replace") for text in request["texts"]]


def encode(request):
    vocabulary = request.get("vocabulary") or describe(request["model"])
    tokenizer = build(vocabulary, request["pre"], request["special"])
    encodings = tokenizer.encode_batch(texts(request), add_special_tokens=False)
    return {"ids": [encoding.ids for encoding in encodings]}


def pieces(request):
    splitter = pre_tokenizer(request["pre"])
    ends = []
    for text in texts(request):
        cuts, offset = [], 0
        for piece, _ in splitter.pre_tokenize_str(text):
            offset += len(piece)  # One character of the byte-level alphabet a byte.
            cuts.append(offset)
        ends.append(cuts)
    return {"ends": ends}


def answer(request):
    if request["do"] == "describe":
        return describe(request["model"])
    return {"encode": encode, "pieces": pieces}[request["do"]](request)


if __name__ == "__main__":
    with open(sys.argv[1]) as source:
        result = answer(json.load(source))
    with open(sys.argv[2], "w") as target:
        json.dump(result, target)

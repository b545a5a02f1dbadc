"""Writes Tests/Fixtures/golden/tokenizer-tiny.json: a tiny vocabulary and the ids of some texts.

    python tools/oracles/tokenizer_fixture.py Tests/Fixtures/golden/tokenizer-tiny.json

Needs PyPI `tokenizers`. The vocabulary is trained on the sentences below; the ids are what
`tokenizers` gives with each pre-tokenizer, special tokens recognised.
"""

import base64
import json
import sys

import tokenizer as oracle
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

SENTENCES = [
    "The quick measurement of a small model is worth more than the slow guess of a large one.",
    "It's what we've said: they'll measure it, I'd measure it, you're measuring it, don't guess.",
    "In 2024 and 2025 the model read 1,234,567 tokens; in 1999 it would have read 42.",
    "def measure(tokens):\n    for token in tokens:\n\tprint(token)\r\n    return len(tokens)\n\n",
    "Die schnelle Messung ist nützlich, größer als die Vermutung; el niño midió señales.",
    "Быстрое измерение полезно. Измерение модели полезно. 測定は大切です。測定は速い。测量很重要。",
    "측정은 중요하다. قياس سريع ومفيد. मापन उपयोगी है। 😀😀 👩‍👩‍👧 ❤️",
]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|im_end|>x", "<tool>"]
USER_DEFINED = {"<tool>"}

TEXTS = [
    b"",
    b"a",
    b"The quick measurement of the model.",
    "It's, IT'S, it'\u017f, they'LL, 're 'Ve 'x '' 's".encode(),
    b"1234567 12a34 5 6  7 x1y2",
    "\u0665\u0666\u0667 \u216b\u00bd\u00b2 \u3007".encode(),
    b"  two   three    four\t\ttabs\t x \n\n\n lines \r\n\r\n \r end  ",
    b"    ",
    "nbsp\u00a0x\u0085y\u2028z\u200bw\u3000v\u180eu".encode(),
    "cafe\u0301 \u0041\u030a \u1100\u1161\u11a8 \u212b \ufb01 \u0958".encode(),
    "👩‍👩‍👧‍👦 ❤️ 🇫🇷🇩🇪 \U0001f3f4\U000e0067\U000e0062\U000e007f".encode(),
    "測定は大切です。测量很重要。측정 قياس मापन".encode(),
    b"!!!???...---===!a ?b  !c\n!\n\n!\r\n",
    b"bad \xff\xfe \xc3( \xe2\x82 \xf0\x9f\x98 \xed\xa0\x80 \xc0\xaf \xf5 \xe2\x82",
    b"<|im_start|>user\nHi<|im_end|>\n<|im_end|>x<|im_end|>y<|im_<|endoftext|><tool>1</tool>",
    b"a" * 300 + b"the" * 100 + b" " * 100,
    bytes(range(0, 128)),
]


def vocabulary():
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = trainers.BpeTrainer(
        vocab_size=640,
        min_frequency=2,
        show_progress=False,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    trained.train_from_iterator(SENTENCES, trainer)
    model = json.loads(trained.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    ids = model["vocab"]
    kinds = [
        oracle.USER_DEFINED if t in USER_DEFINED else oracle.CONTROL if t in SPECIAL else 1
        for t in tokens
    ]
    return {
        "tokens": tokens,
        "kinds": kinds,
        "merges": [[ids[left], ids[right]] for left, right in model["merges"]],
    }


def main():
    tiny = vocabulary()
    texts = [base64.b64encode(text).decode() for text in TEXTS]
    ids = {}
    for pre in ("gpt-2", "smollm", "qwen2", "llama-bpe"):
        request = {"vocabulary": tiny, "pre": pre, "special": True, "texts": texts}
        ids[pre] = oracle.encode(request)["ids"]
    with open(sys.argv[1], "w") as target:
        json.dump({"vocabulary": tiny, "texts": texts, "ids": ids}, target, ensure_ascii=False)
        target.write("\n")


if __name__ == "__main__":
    main()

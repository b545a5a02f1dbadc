"""Prints Sources/Tokenization/ScalarClass+Ranges.swift: what `tokenizers` calls \\p{L} and \\p{N}.

    python tools/oracles/tokenizer_classes.py > Sources/Tokenization/ScalarClass+Ranges.swift

Needs PyPI `tokenizers`; the committed file is from 0.23.3, whose regex engine has Unicode 16.
"""

from tokenizers import Regex, pre_tokenizers


def ranges(pattern):
    splitter = pre_tokenizers.Split(Regex(pattern), "removed")
    result = []
    for value in range(0x110000):
        if 0xD800 <= value < 0xE000 or splitter.pre_tokenize_str(chr(value)):
            continue
        if result and result[-1][1] == value - 1:
            result[-1][1] = value
        else:
            result.append([value, value])
    return result


def array(name, comment, pattern):
    flat = [bound for pair in ranges(pattern) for bound in pair]
    print(f"  /// {comment}")
    print(f"  static let {name}: [UInt32] = [")
    for start in range(0, len(flat), 10):
        print("    " + ", ".join(f"0x{bound:X}" for bound in flat[start : start + 10]) + ",")
    print("  ]")


print("// Written by tools/oracles/tokenizer_classes.py; do not edit.\n")
print("/// First and last scalar of every range of a Unicode 16 category, in order.")
print("enum ScalarRanges {")
array("letters", "The scalars of `\\\\p{L}`.".replace("\\\\", "\\"), r"\p{L}")
print()
array("numbers", "The scalars of `\\\\p{N}`.".replace("\\\\", "\\"), r"\p{N}")
print("}")

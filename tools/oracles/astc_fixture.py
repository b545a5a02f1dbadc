"""Makes Tests/Fixtures/golden/astc-blocks.bin: ASTC 6x6 blocks and what libastcenc unpacks them to.

    $ c++ -O2 -DASTCENC_DYNAMIC_LIBRARY tools/oracles/astc_oracle.cpp -lastcenc -o astc-oracle
    $ python3 tools/oracles/astc_fixture.py ./astc-oracle Tests/Fixtures/golden/astc-blocks.bin

A record is the block's 16 bytes, then for each of the profiles ldr, srgb, hdr-ldr-alpha and hdr a
byte that is 1 for an error block, 36 texels of four binary16 (the float32 results, which all are
binary16 numbers), and 36 texels of four unorm8.

Blocks are random but for the fields that a wish fixes; of the candidates for a wish the first is
taken that is legal in the HDR profile. Those that break a rule come last, one a rule.
"""
import random
import struct
import subprocess
import sys

PROFILES = ["ldr", "srgb", "hdr-ldr-alpha", "hdr"]
RESULT = 724
CANDIDATES = 3000
FULL_GRID = [0x104, 0x114, 0x108, 0x118, 0x10C]  # 2 to 6 codes


def unpack(oracle, profile, blocks):
    data = b"".join(block.to_bytes(16, "little") for block in blocks)
    out = subprocess.run([oracle, profile], input=data, stdout=subprocess.PIPE, check=True).stdout
    assert len(out) == RESULT * len(blocks)
    return [out[place:place + RESULT] for place in range(0, len(out), RESULT)]


def fixed(bits, *fields):
    """Bits with (offset, count, value) fields put in."""
    for offset, count, value in fields:
        bits = bits & ~(((1 << count) - 1) << offset) | value << offset
    return bits


def wishes():
    """Fields to fix, as for `fixed`."""
    for mode in range(16):
        yield [(11, 2, 0), (13, 4, mode)]
    for mode in [0, 1, 4, 6, 7, 11, 15]:
        yield [(11, 2, 1), (23, 2, 0), (25, 4, mode)]
    for count in [2, 3, 4]:
        for base in [1, 2] if count < 4 else [0, 1]:
            yield [(11, 2, count - 1), (23, 2, base)] + ([(25, 4, 2)] if base == 0 else [])
    # Two planes: bit 10 of a mode whose low two bits are not zero.
    for count in [1, 1, 2, 2, 3, 3]:
        yield [(0, 2, 1), (10, 1, 1), (11, 2, count - 1)]
    for count, field in [(1, 4), (2, 3), (3, 2), (4, 0)]:
        yield [(0, 11, FULL_GRID[field]), (11, 2, count - 1), (23, 2, 0), (25, 4, 0)][
            : 4 if count > 1 else 2]


def void_extent(hdr, extent, color, reserved=3):
    bits = 0x1FC | hdr << 9 | reserved << 10
    for index, coordinate in enumerate(extent):
        bits |= coordinate << (12 + 13 * index)
    for index, component in enumerate(color):
        bits |= component << (64 + 16 * index)
    return bits


def constants():
    whole = [8191] * 4
    yield void_extent(0, whole, [0, 1, 0x8000, 0xFFFF])
    yield void_extent(0, [5, 900, 0, 8190], [3, 4, 2047, 0xFFFE])
    yield void_extent(1, whole, [0x3C00, 0x0001, 0x7BFF, 0x3801])
    yield void_extent(1, whole, [0x3555, 0x0000, 0x03FF, 0x7C00])


def faults(generator):
    noise = generator.getrandbits(128)
    yield fixed(noise, (0, 4, 0), (6, 3, 0))  # reserved
    yield fixed(noise, (0, 5, 12), (5, 4, 15))  # reserved
    yield fixed(noise, (0, 4, 4), (7, 2, 0))  # a grid of 12 columns
    yield fixed(noise, (0, 4, 13), (5, 6, 8))  # 2 x 2 grid weights: too few bits
    yield fixed(noise, (0, 11, 0x11C))  # 6 x 6 of 8 codes: too many
    yield fixed(noise, (0, 2, 1), (2, 2, 0), (4, 1, 0), (5, 6, 0b100000 | 2), (11, 2, 3))
    yield fixed(noise, (0, 11, 0x104), (11, 2, 3), (23, 6, 12 << 2))  # 32 endpoint values
    yield fixed(noise, (0, 11, 0x10C), (11, 2, 1), (23, 6, 12 << 2))  # 16 in 5 bits
    yield void_extent(0, [8191] * 4, [1, 2, 3, 4], reserved=1)
    yield void_extent(0, [9, 9, 0, 1], [1, 2, 3, 4])


def main():
    oracle, path = sys.argv[1:]
    generator = random.Random(1)
    blocks = []
    for wish in wishes():
        candidates = [fixed(generator.getrandbits(128), *wish) for _ in range(CANDIDATES)]
        results = unpack(oracle, "hdr", candidates)
        legal = [block for block, result in zip(candidates, results) if not result[0]]
        blocks.append(next(block for block in legal if block & 0x1FF != 0x1FC))
    blocks += list(constants()) + list(faults(generator))
    results = [unpack(oracle, profile, blocks) for profile in PROFILES]
    with open(path, "wb") as file:
        for index, block in enumerate(blocks):
            file.write(block.to_bytes(16, "little"))
            for profile in results:
                result = profile[index]
                floats = struct.unpack("<144f", result[4:580])
                halves = struct.pack("<144e", *floats)
                assert result[0] or struct.unpack("<144e", halves) == floats
                file.write(result[:1] + halves + result[580:])
    print(f"{len(blocks)} blocks, {sum(r[0] for r in results[3])} errors in the HDR profile")


main()

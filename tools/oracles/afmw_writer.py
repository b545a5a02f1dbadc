"""Writes small .afmw files from the specification alone (ModelFile.docc/Container.md), with any
part of them wrong on purpose; needs nothing but Python.

A `File` holds frames and sections; `encoded()` computes everything else (digests, byte counts, seek
table) unless a field says otherwise. `afmw_malformed.py` and `tools/fuzz/make-seeds` use it.
"""
import json
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5)
EMPTY = 0x51D8E999


def rotate(value, count):
    return (value << count | value >> (64 - count)) & MASK


def xxh64(data):
    """XXH64 with seed 0, as its specification has it."""
    def step(lane, word):
        return rotate((lane + word * P2) & MASK, 31) * P1 & MASK

    position = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while position + 32 <= len(data):
            words = struct.unpack_from("<4Q", data, position)
            lanes = [step(lane, word) for lane, word in zip(lanes, words)]
            position += 32
        value = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ step(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + len(data)) & MASK
    while position + 8 <= len(data):
        word, = struct.unpack_from("<Q", data, position)
        value = (rotate(value ^ step(0, word), 27) * P1 + P4) & MASK
        position += 8
    if position + 4 <= len(data):
        word, = struct.unpack_from("<I", data, position)
        value = (rotate(value ^ word * P1 & MASK, 23) * P2 + P3) & MASK
        position += 4
    for byte in data[position:]:
        value = rotate(value ^ byte * P5 & MASK, 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32


def digest(data):
    chunks = [data[start:start + (1 << 20)] for start in range(0, len(data), 1 << 20)]
    return xxh64(b"".join(struct.pack("<Q", xxh64(chunk)) for chunk in chunks))


def padded(data):
    return data + bytes(-len(data) % 8)


def zstd_frame(content, checksum=None):
    """A zstd frame of one raw block, of less than 256 bytes."""
    assert 0 < len(content) < 256
    checksum = xxh64(content) & 0xFFFFFFFF if checksum is None else checksum
    header = struct.pack("<IBB", 0xFD2FB528, 0x24, len(content))
    return header + (len(content) << 3 | 1).to_bytes(3, "little") + content + struct.pack(
        "<I", checksum)


class Frame:
    """A data frame that holds `content`."""

    def __init__(self, content):
        self.content = content
        self.data = zstd_frame(content)
        self.content_count = len(content)
        self.checksum = xxh64(content) & 0xFFFFFFFF
        self.kind = 0
        self.digest = None


class Stored(Frame):
    """A skippable frame that holds `content` as it is, for a frame at `offset` of the file."""

    def __init__(self, content, offset):
        gap = -(offset + 8) % 4096
        self.content = content
        self.data = struct.pack("<II", 0x184D2A51, gap + len(content)) + bytes(gap) + content
        self.content_count, self.checksum, self.kind, self.digest = 0, EMPTY, 1, None


class Tensor:
    """A directory entry; planes are (plane number, storage, first frame, content)."""

    def __init__(self, name, format, dimensions, planes):
        self.name, self.format, self.dimensions = name, format, dimensions
        self.planes, self.layout, self.reserved = planes, 0, 0
        self.plane_digest = None

    def encoded(self):
        name = self.name if isinstance(self.name, bytes) else self.name.encode()
        entry = struct.pack(
            "<HHHBB", self.format, self.layout, len(name), len(self.dimensions),
            len(self.planes))
        entry += struct.pack(f"<{len(self.dimensions)}Q", *self.dimensions)
        for number, storage, first, content in self.planes:
            own = digest(content) if self.plane_digest is None else self.plane_digest
            entry += struct.pack(
                "<BBHIIIQQ", number, storage, self.reserved, 0, first, 1, len(content), own)
        return padded(entry + name)


HEADER = {
    "architecture": "llama", "attentionBias": False, "contextLength": 32, "feedForwardSize": 16,
    "headDimension": 4, "hiddenSize": 8, "keyValueHeadCount": 1, "layerCount": 1, "name": "sample",
    "normEpsilon": 1e-5, "queryHeadCount": 2, "ropeBase": 10000, "ropeDimension": 4,
    "ropePairing": "adjacent", "tiedOutput": True, "vocabularySize": 4,
}


def tokenizer(tokens, kinds, merges, model="gpt2", pre="smollm", template=""):
    data = struct.pack(
        "<II4IIIII", len(tokens), len(merges), 0xFFFFFFFF, len(tokens) - 1, 0xFFFFFFFF,
        0xFFFFFFFF, 2 if template else 0, len(model), len(pre), len(template.encode()))
    end = 0
    for token in tokens:
        end += len(token.encode())
        data += struct.pack("<I", end)
    for left, right in merges:
        data += struct.pack("<II", left, right)
    return (data + bytes(kinds) + model.encode() + pre.encode() + template.encode()
            + "".join(tokens).encode())


class File:
    """A model of two tensors, `a` (u2c, 2x3) and `b` (f32, 4), and four tokens."""

    def __init__(self):
        a, scales = bytes([0b100100, 0b011011]), struct.pack("<2f", 0.5, 0.25)
        b = struct.pack("<4f", 0, 1, -2, 0.5)
        self.frames = [Frame(a), Frame(scales), Frame(b)]
        self.tensors = [
            Tensor("a", 48, [2, 3], [(0, 0, 0, a), (1, 0, 1, scales)]),
            Tensor("b", 1, [4], [(0, 0, 2, b)])]
        self.tokenizer = tokenizer(["a", "b", "ab", "<s>"], [1, 1, 1, 3], [(0, 1)])
        self.header = json.dumps(HEADER, sort_keys=True).encode()
        self.provenance = b'{"source":"afmw_writer.py"}'
        self.sections, self.omitted = [], None
        self.tensor_count = self.frame_count = None
        self.version, self.features = 1, 0
        self.index_offset = self.index_count = self.index_digest = self.own_digest = None
        self.byte_count = self.seek_table = None

    def encoded(self):
        body = b"".join(frame.data for frame in self.frames)
        table = struct.pack("<Q", self.frame_count or len(self.frames))
        seek = struct.pack("<III", 64, 0, EMPTY)
        for frame in self.frames:
            own = digest(frame.data) if frame.digest is None else frame.digest
            sizes = struct.pack("<III", len(frame.data), frame.content_count, frame.checksum)
            table += sizes + struct.pack("<IQ", frame.kind, own)
            seek += sizes
        directory = struct.pack("<Q", self.tensor_count or len(self.tensors))
        directory += b"".join(tensor.encoded() for tensor in self.tensors)
        sections = [
            (b"HEAD", self.header), (b"prov", self.provenance), (b"TOKN", self.tokenizer),
            (b"TENS", directory), (b"FRAM", table)]
        payload = b"".join(
            padded(name + struct.pack("<IQ", 0, len(data)) + data)
            for name, data in sections + self.sections if name != self.omitted)
        index = struct.pack("<II", 0x184D2A52, len(payload)) + payload
        seek += struct.pack("<III", len(index), 0, EMPTY)
        seek += struct.pack("<IBI", len(self.frames) + 2, 0x80, 0x8F92EAB1)
        seek = struct.pack("<II", 0x184D2A5E, len(seek)) + seek
        if self.seek_table is not None:
            seek = self.seek_table(seek)

        def given(field, value):
            return value if field is None else field

        total = 64 + len(body) + len(index) + len(seek)
        prologue = struct.pack(
            "<II4sIQQQQQ", 0x184D2A50, 56, b"AFMW", self.version, self.features,
            given(self.byte_count, total), given(self.index_offset, 64 + len(body)),
            given(self.index_count, len(index)), given(self.index_digest, digest(index)))
        prologue += struct.pack("<Q", given(self.own_digest, digest(prologue)))
        return prologue + body + index + seek

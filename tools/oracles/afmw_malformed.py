"""Writes the malformed .afmw files of Tests/Fixtures/malformed, each named for its only defect.

    python3 tools/oracles/afmw_malformed.py Tests/Fixtures/malformed

Everything else about a file is right, its digests included: a reader that refuses it has seen the
defect. `ContainerFixtureTests` says with which error.
"""
import pathlib
import struct
import sys

import afmw_writer
from afmw_writer import File, Tensor


def edited(change):
    file = File()
    change(file)
    return file.encoded()


def setting(**fields):
    return edited(lambda file: file.__dict__.update(fields))


def frame(index, **fields):
    return edited(lambda file: file.frames[index].__dict__.update(fields))


def tensor(index, **fields):
    return edited(lambda file: file.tensors[index].__dict__.update(fields))


def plane(index, **places):
    """Replaces parts of the first plane of a tensor."""
    def change(file):
        number, storage, first, content = file.tensors[index].planes[0]
        file.tensors[index].planes[0] = (
            places.get("number", number), places.get("storage", storage),
            places.get("first", first), places.get("content", content))
    return edited(change)


def infinite_value(file):
    content = struct.pack("<4f", 0, float("inf"), -2, 0.5)
    file.frames[2] = afmw_writer.Frame(content)
    file.tensors[1].planes = [(0, 0, 2, content)]


def bits_behind_a_row(file):
    content = bytes([0b100100, 0b11011011])
    file.frames[0] = afmw_writer.Frame(content)
    file.tensors[0].planes[0] = (0, 0, 0, content)


def flipped(data, offset):
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1:]


def cases():
    good = File().encoded()
    header = File().header
    yield "empty", b""
    yield "prologue-cut-short", good[:63]
    yield "last-byte-missing", good[:-1]
    yield "another-magic", flipped(good, 8)
    yield "version-2", setting(version=2)
    yield "required-feature", setting(features=1 << 5)
    yield "prologue-digest", flipped(good, 56)
    yield "index-digest", setting(index_digest=0)
    yield "index-beyond-the-file", setting(index_offset=1 << 40)
    yield "seek-table-differs", setting(seek_table=lambda seek: flipped(seek, 24))
    yield "unknown-critical-section", setting(sections=[(b"ABCD", b"")])
    yield "section-twice", setting(sections=[(b"HEAD", header)])
    yield "no-directory", setting(omitted=b"TENS")
    yield "json-too-deep", setting(header=b"[" * 17)
    yield "header-without-a-name", setting(header=header.replace(b'"name"', b'"nome"'))
    yield "header-with-no-layers", setting(
        header=header.replace(b'"layerCount": 1', b'"layerCount": 0'))
    yield "two-billion-tensors", setting(tensor_count=1 << 31)
    yield "two-billion-frames", setting(frame_count=1 << 31)
    yield "frame-of-unknown-kind", frame(1, kind=7)
    yield "frame-promises-too-much", frame(2, content_count=1 << 20)
    yield "frame-digest", frame(2, digest=0)
    yield "frame-content-checksum", frame(2, data=afmw_writer.zstd_frame(b"\0" * 16, checksum=0),
                                          checksum=0)
    yield "unknown-format", tensor(1, format=999)
    yield "unknown-layout", tensor(1, layout=77)
    yield "overflowing-shape", tensor(0, dimensions=[1 << 40, 1 << 40])
    yield "empty-tensor", tensor(1, dimensions=[0])
    yield "name-twice", tensor(1, name="a")
    yield "name-not-utf-8", tensor(1, name=b"\xff")
    yield "reserved-field", tensor(1, reserved=1)
    yield "frame-in-two-planes", plane(1, first=0)
    yield "frame-number-beyond-the-table", plane(1, first=3)
    yield "plane-too-long", plane(1, content=bytes(20))
    yield "plane-digest", tensor(1, plane_digest=1)
    yield "infinite-value", edited(infinite_value)
    yield "bits-behind-a-row", edited(bits_behind_a_row)
    yield "token-outside-the-vocabulary", setting(
        tokenizer=afmw_writer.tokenizer(["a", "b"], [1, 1], [(0, 2)]))
    yield "token-of-unknown-kind", setting(
        tokenizer=afmw_writer.tokenizer(["a", "b"], [1, 9], []))


def main(folder):
    folder = pathlib.Path(folder)
    for name, data in cases():
        (folder / f"{name}.afmw").write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])

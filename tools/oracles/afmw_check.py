"""Reads an .afmw file with nothing of ours: PyPI `pyzstd` and `xxhash`.

Walks the frames by the seek table, checks every digest that the index holds, and reads the stream
through pyzstd's own reader of zstd's seekable format, from the beginning and from the middle.
Prints the byte count of the stream and its XXH64; any disagreement is an AssertionError.

    python afmw_check.py FILE.afmw
"""
import struct
import sys

import pyzstd
import xxhash

CHUNK = 1 << 20


def xxh(data):
    return xxhash.xxh64(data).intdigest()


def digest(data):
    hashes = [xxh(data[i : i + CHUNK]) for i in range(0, len(data), CHUNK)]
    return xxh(b"".join(struct.pack("<Q", h) for h in hashes))


def skippable(data, offset, magic):
    found, count = struct.unpack_from("<II", data, offset)
    assert found == magic, hex(found)
    return data[offset + 8 : offset + 8 + count]


def main(path):
    data = open(path, "rb").read()
    magic, version, features, size, at, count, index_digest, own = struct.unpack_from(
        "<4sIQQQQQQ", data, 8
    )
    assert (magic, version, features, size) == (b"AFMW", 1, 0, len(data))
    assert digest(data[:56]) == own and digest(data[at : at + count]) == index_digest

    # The seek table, from the end of the file as any reader of the format finds it.
    entries, descriptor, seek_magic = struct.unpack("<IBI", data[-9:])
    assert (descriptor, seek_magic) == (0x80, 0x8F92EAB1)
    table = skippable(data, at + count, 0x184D2A5E)
    assert len(table) == entries * 12 + 9
    seek = [struct.unpack_from("<III", table, i * 12) for i in range(entries)]

    sections, payload, i = {}, skippable(data, at, 0x184D2A52), 0
    while i < len(payload):
        name, reserved, n = struct.unpack_from("<4sIQ", payload, i)
        sections[name] = payload[i + 16 : i + 16 + n]
        i += 16 + (n + 7) // 8 * 8
    frames = [struct.unpack_from("<IIIIQ", sections[b"FRAM"], 8 + i * 24) for i in range(entries - 2)]
    empty = xxh(b"") & 0xFFFFFFFF
    assert seek == [(64, 0, empty)] + [f[:3] for f in frames] + [(count, 0, empty)]

    offset, stream, offsets = 64, b"", []
    for compressed, content, checksum, kind, frame_digest in frames:
        frame = data[offset : offset + compressed]
        assert digest(frame) == frame_digest
        offsets.append(offset)
        offset += compressed
        if kind == 0:
            plain = pyzstd.decompress(frame)
            assert len(plain) == content and xxh(plain) & 0xFFFFFFFF == checksum
            stream += plain
    assert offset == at

    planes(data, sections[b"TENS"], frames, offsets)
    with pyzstd.SeekableZstdFile(path, "r") as file:
        assert file.read() == stream
        file.seek(len(stream) // 2)
        assert file.read(1000) == stream[len(stream) // 2 :][:1000]
    print(len(stream), f"{xxh(stream):x}")


def planes(data, directory, frames, offsets):
    (count,), i = struct.unpack_from("<Q", directory), 8
    for _ in range(count):
        start = i
        _, _, name_bytes, rank, plane_count = struct.unpack_from("<HHHBB", directory, i)
        i += 8 + 8 * rank
        for _ in range(plane_count):
            _, storage, first, n, size, plane_digest = struct.unpack_from("<BB6xIIQQ", directory, i)
            i += 32
            end = offsets[first + n - 1] + frames[first + n - 1][0]
            if storage == 1:
                assert (end - size) % 4096 == 0
                plain = data[end - size : end]
            else:
                plain = b"".join(
                    pyzstd.decompress(data[offsets[f] : offsets[f] + frames[f][0]])
                    for f in range(first, first + n)
                )
            assert len(plain) == size and digest(plain) == plane_digest
        i = start + (i + name_bytes - start + 7) // 8 * 8
    assert i == len(directory)


main(sys.argv[1])

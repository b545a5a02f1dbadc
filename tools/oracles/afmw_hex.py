"""Prints a small .afmw file in hexadecimal, field by field, as its specification shows it.

    python afmw_hex.py FILE.afmw
"""
import struct
import sys

data = open(sys.argv[1], "rb").read()
position = 0


def show(count, meaning):
    """The next `count` bytes, eight a line."""
    global position
    end = position + count
    while position < end:
        row = data[position : min(position + 8, end)]
        print(f"{position:04x}: {row.hex(' '):<23}  {meaning}".rstrip())
        position += len(row)
        meaning = ""


def field(count, name, form="{}"):
    value = int.from_bytes(data[position : position + count], "little")
    show(count, f"{name}: {form.format(value)}")
    return value


def number(count, name):
    return field(count, name, "0x{:0%dX}" % (count * 2))


def title(text):
    print(f"\n-- {text}")


title("prologue")
number(4, "frame magic")
field(4, "payload byte count")
show(4, '"AFMW"')
field(4, "version")
field(8, "required features")
field(8, "file byte count")
index = field(8, "index offset")
index_count = field(8, "index byte count")
number(8, "digest of the index frame")
number(8, "digest of bytes 0...55")
frame = 0
while position < index:
    title(f"frame {frame}: zstd data")
    number(4, "frame magic")
    number(1, "descriptor: single segment, 1-byte content size, checksum")
    content = field(1, "content byte count")
    number(3, "block header: last, raw, %d bytes" % content)
    show(content, "plane bytes")
    number(4, "content checksum")
    frame += 1

title("index")
number(4, "frame magic")
field(4, "payload byte count")
while position < index + index_count:
    name = data[position : position + 4].decode()
    title(f"section {name}")
    show(4, f'"{name}"')
    field(4, "reserved")
    count = field(8, "byte count")
    end = position + count
    if name == "TOKN":
        tokens = field(4, "token count")
        merges = field(4, "merge count")
        for what in ("begin", "end", "unknown", "padding"):
            number(4, f"{what} token")
        field(4, "flags")
        texts = [field(4, f"byte count of the {what}") for what in ("model name", "pre-tokenizer", "template")]
        ends = [field(4, f"end of token {i}") for i in range(tokens)]
        for i in range(merges):
            show(8, f"merge {i}: %d %d" % struct.unpack_from("<II", data, position))
        show(tokens, "kinds")
        show(texts[0], "model name")
        show(texts[1], "pre-tokenizer")
        show(ends[-1], "token bytes")
    elif name == "TENS":
        for tensor in range(field(8, "tensor count")):
            start = position
            field(2, "format: u2c =")
            field(2, "layout")
            name_count = field(2, "name byte count")
            rank = field(1, "rank")
            planes = field(1, "plane count")
            for _ in range(rank):
                field(8, "dimension")
            for plane in range(planes):
                field(1, "plane number")
                field(1, "storage")
                field(6, "reserved")
                field(4, "first frame")
                field(4, "frame count")
                field(8, "byte count")
                number(8, "digest")
            show(name_count, "name")
            show(-(position - start) % 8, "padding")
    elif name == "FRAM":
        for i in range(field(8, "frame count")):
            field(4, f"frame {i}: compressed byte count")
            field(4, "content byte count")
            number(4, "content checksum")
            field(4, "kind")
            number(8, "digest")
    else:
        show(count, "JSON")
    show(end - position, "")
    show(-(position - index - 8) % 8, "padding")

title("seek table")
number(4, "frame magic")
field(4, "payload byte count")
for i in range(frame + 2):
    field(4, "compressed byte count")
    field(4, "content byte count")
    number(4, "content checksum")
field(4, "number of frames")
number(1, "descriptor: checksums")
number(4, "magic of the seekable format")
assert position == len(data)

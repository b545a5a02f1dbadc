"""Reads a trace with the message definitions of Perfetto's own Python package.

    perfetto_messages.py TRACE

Prints one JSON object: how many packets there are, the text of every debug annotation that carries
its name and value itself, and whether Perfetto's encoder gives the same bytes for the fields that it
knows, which no trace with an unknown field, a field out of order or a long varint passes. Without an
argument it says that the package is there.
"""

import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def main() -> None:
    if len(sys.argv) < 2:
        return
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(data)
    facts = [
        {"name": annotation.name, "value": annotation.string_value}
        for packet in trace.packet
        for annotation in packet.track_event.debug_annotations
        if annotation.name and annotation.HasField("string_value")
    ]
    trace.DiscardUnknownFields()
    print(
        json.dumps(
            {
                "packets": len(trace.packet),
                "facts": facts,
                "isCanonical": trace.SerializeToString(deterministic=True) == data,
            }
        )
    )


main()

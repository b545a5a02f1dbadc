#!/usr/bin/env python3
"""Packs a matrix, multiplies it with tokens at every level of this CPU, and checks the results.

    $ tools/build-c-library build
    $ python3 Documentation/Examples/packed_product.py build/lib/libafm_kernels.so
    portable, avx2, avx2vnni: gemv_f32_s8g64_u4g32_r16_avx2vnni, 96 results, 0.13 of the bound
    all right

Needs nothing but Python: buffers are ctypes arrays, where an engine would lend its own memory. The
bound is what rounding activations to int8 can do: half a step for each column.
"""
import ctypes
import random
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p

U4G32 = 32
LEVELS = (1, 2, 3, 4)
UNAVAILABLE = 9


class Matrix(Structure):
    _fields_ = [("format", c_int32), ("rows", c_int64), ("columns", c_int64),
                ("memory", c_void_p), ("memory_bytes", c_size_t)]


class Activations(Structure):
    _fields_ = [("format", c_int32), ("tokens", c_int64), ("columns", c_int64),
                ("memory", c_void_p), ("memory_bytes", c_size_t)]


class Kernels:
    """The functions of afm_kernels.h that this example calls; an error raises."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        text = library.afm_error_text
        text.restype = c_char_p
        self.level_name = library.afm_level_name
        self.level_name.restype = c_char_p
        self.kernel_name = library.afm_kernel_name
        self.kernel_name.restype = c_char_p
        self.kernel_name.argtypes = [c_void_p, c_int32, c_int64]
        self.destroy = library.afm_library_destroy
        self.destroy.restype = None
        self.destroy.argtypes = [c_void_p]

        def function(name, *arguments):
            call = getattr(library, "afm_" + name)
            call.restype = c_int32
            call.argtypes = arguments

            def checked(*values):
                error = call(*values)
                if error == UNAVAILABLE:
                    raise NotImplementedError(text(error).decode())
                if error != 0:
                    raise ValueError(f"afm_{name}: {text(error).decode()}")
            return checked

        floats, size = POINTER(c_float), POINTER(c_size_t)
        self.create = function("library_create", c_int32, POINTER(c_void_p))
        self.matrix_bytes = function("matrix_bytes", c_int32, c_int64, c_int64, size)
        self.pack = function(
            "pack", POINTER(Matrix), c_int64, c_int64, floats, c_size_t, c_void_p)
        self.dequantize_row = function(
            "dequantize_row", POINTER(Matrix), c_int64, floats, c_size_t)
        self.activation_bytes = function("activation_bytes", c_int32, c_int64, c_int64, size)
        self.quantize = function(
            "quantize", c_void_p, c_void_p, POINTER(Activations), floats, c_size_t, c_int64)
        self.scratch_bytes = function(
            "scratch_bytes", c_int32, c_int64, c_int64, c_int64, size)
        self.multiply = function(
            "multiply", c_void_p, c_void_p, POINTER(Matrix), POINTER(Activations), floats, c_size_t,
            c_int64, c_void_p, c_size_t)


def memory(size):
    """An object to keep, and an address in it that 64 divides."""
    owner = ctypes.create_string_buffer(size + 63)
    return owner, (ctypes.addressof(owner) + 63) // 64 * 64


def asked(function, *arguments):
    size = c_size_t()
    function(*arguments, byref(size))
    return size.value


def main():
    kernels = Kernels(sys.argv[1])
    rows, columns, tokens = 32, 200, 3
    numbers = random.Random(1)
    weights = (c_float * (rows * columns))(*(numbers.gauss(0, 1) for _ in range(rows * columns)))
    floats = (c_float * (tokens * columns))(*(numbers.gauss(0, 1) for _ in range(tokens * columns)))

    w = Matrix(U4G32, rows, columns)
    w.memory_bytes = asked(kernels.matrix_bytes, U4G32, rows, columns)
    w_owner, w.memory = memory(w.memory_bytes)
    kernels.pack(byref(w), 0, rows, weights, ctypes.sizeof(weights), None)

    x = Activations(U4G32, tokens, columns)
    x.memory_bytes = asked(kernels.activation_bytes, U4G32, tokens, columns)
    x_owner, x.memory = memory(x.memory_bytes)
    scratch_bytes = asked(kernels.scratch_bytes, U4G32, tokens, columns, 1)
    scratch_owner, scratch = memory(scratch_bytes)

    results = {}
    for level in LEVELS:
        library = c_void_p()
        try:
            kernels.create(level, byref(library))
        except NotImplementedError:
            continue
        y = (c_float * (tokens * rows))()
        kernels.quantize(library, None, byref(x), floats, ctypes.sizeof(floats), columns)
        kernels.multiply(
            library, None, byref(w), byref(x), y, ctypes.sizeof(y), rows, scratch, scratch_bytes)
        name = kernels.kernel_name(library, U4G32, 1).decode()
        results[kernels.level_name(level).decode()] = bytes(y)
        kernels.destroy(library)

    worst = 0.0
    row = (c_float * columns)()
    for r in range(rows):
        kernels.dequantize_row(byref(w), r, row, ctypes.sizeof(row))
        for t in range(tokens):
            token = floats[t * columns:(t + 1) * columns]
            exact = sum(a * b for a, b in zip(row, token))
            # A hundredth more, for the roundings of the f32 sums.
            bound = 0.505 / 127 * max(map(abs, token)) * sum(map(abs, row))
            worst = max(worst, abs(y[t * rows + r] - exact) / bound)
    print(f"{', '.join(results)}: {name}, {tokens * rows} results, {worst:.2f} of the bound")
    is_right = worst <= 1 and len(set(results.values())) == 1
    print("all right" if is_right else "wrong")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())

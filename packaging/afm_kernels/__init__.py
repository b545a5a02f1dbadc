"""The kernels of afm-bench for Python: afm_kernels.h through ctypes.

    >>> import afm_kernels
    >>> from ctypes import byref, c_size_t
    >>> library = afm_kernels.load()
    >>> size = c_size_t()
    >>> library.afm_matrix_bytes(afm_kernels.AFM_FORMAT_U4G32, 32, 200, byref(size))
    0
    >>> size.value
    5120

Functions, structures and constants are read from the header that lies beside this file, so that they
are those of the library: `library.afm_pack`, `afm_kernels.afm_matrix`, `AFM_FORMAT_U4G32`. A function
that returns an `afm_error` raises KernelError where the error is not AFM_OK. The header says what
each function does; memory belongs to the caller, as in C.
"""
import ctypes
import os
import re

_HERE = os.path.dirname(os.path.abspath(__file__))

# The places of the library and its header: in the wheel, in an unpacked tarball, and as the Debian
# package installs them.
_PREFIX = os.path.join(_HERE, *[".."] * 4)
_LIBRARIES = (f"{_HERE}/libafm_kernels.so", f"{_PREFIX}/lib/libafm_kernels.so")
_HEADERS = (f"{_HERE}/afm_kernels.h", f"{_PREFIX}/include/afm_kernels.h",
            "/usr/include/afm_kernels.h")

_SCALARS = {
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "float": ctypes.c_float,
}


class KernelError(ValueError):
    """An error of a function, with its number as `code`."""

    def __init__(self, function, code, text):
        super().__init__(f"{function}: {text}")
        self.code = code


def library_path():
    """The path of the shared library, or its name where the system has it in its own places."""
    return next((os.path.realpath(p) for p in _LIBRARIES if os.path.exists(p)), "libafm_kernels.so")


def header_path():
    """The path of afm_kernels.h."""
    for path in _HEADERS:
        if os.path.exists(path):
            return os.path.realpath(path)
    raise FileNotFoundError("afm_kernels.h is not beside the package afm_kernels")


class _Header:
    """What afm_kernels.h declares. It is plain C without macros in declarations."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.constants = {
            name: int(value)
            for name, value in re.findall(r"\b(AFM_[A-Z0-9_]+)\s*=\s*(-?\d+)", text)
            + re.findall(r"#define\s+(AFM_[A-Z0-9_]+)\s+(\d+)", text)}
        self.types = dict(_SCALARS)
        for base, name in re.findall(r"typedef\s+(\w+)\s+(\w+)\s*;", text):
            self.types[name] = self.types[base]
        self.structures = {}
        for name, body in re.findall(r"typedef\s+struct\s+(\w+)\s*\{([^}]*)\}", text):
            fields = [self._declaration(part) for part in body.split(";") if part.strip()]
            self.structures[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
            self.types[name] = self.structures[name]
        self.functions = {}
        for result, name, parameters in re.findall(
                r"^((?:const )?\w+[ *]+)(afm_\w+)\(([^)]*)\);", text, re.MULTILINE):
            parts = [] if parameters.strip() == "void" else parameters.split(",")
            self.functions[name] = (
                result.strip(), self._type(result), [self._declaration(p)[1] for p in parts])

    def _declaration(self, text):
        """The name and type of a parameter or field such as `const float *weights`."""
        match = re.fullmatch(r"(.*[ *])(\w+)", " ".join(text.split()))
        return match[2], self._type(match[1])

    def _type(self, text):
        words = text.replace("*", " * ").split()
        name = next(word for word in words if word not in ("const", "struct"))
        stars = words.count("*")
        if name == "char" and stars == 1:
            return ctypes.c_char_p
        if name == "void" and stars == 0:
            return None
        # Objects of the library are addresses to its callers.
        known = self.types.get(name)
        kind = known or ctypes.c_void_p
        for _ in range(stars if known else stars - 1):
            kind = ctypes.POINTER(kind)
        return kind


with open(header_path(), encoding="utf-8") as _file:
    _header = _Header(_file.read())
globals().update(_header.constants)
globals().update(_header.structures)
__all__ = ["KernelError", "header_path", "library_path", "load",
           *_header.constants, *_header.structures]


def load(path=None):
    """Loads the library, by default the one beside this package, and types all of its functions."""
    library = ctypes.CDLL(path or library_path())

    def check(code, function, _):
        if code != _header.constants["AFM_OK"]:
            raise KernelError(
                function.__name__, code, library.afm_error_text(code).decode("utf-8"))
        return code

    for name, (result, result_type, parameter_types) in _header.functions.items():
        function = getattr(library, name)
        function.restype = result_type
        function.argtypes = parameter_types
        if result == "afm_error":
            function.errcheck = check
    return library

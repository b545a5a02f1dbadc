"""Says where the library is and what it can do: `python3 -m afm_kernels`, or a path alone with
`--library` or `--header`."""
import sys

import afm_kernels


def main():
    if sys.argv[1:] == ["--library"]:
        print(afm_kernels.library_path())
        return 0
    if sys.argv[1:] == ["--header"]:
        print(afm_kernels.header_path())
        return 0
    if sys.argv[1:]:
        print("usage: python3 -m afm_kernels [--library | --header]", file=sys.stderr)
        return 2
    library = afm_kernels.load()
    levels = [library.afm_level_name(level).decode()
              for level in range(32) if library.afm_available_levels() >> level & 1
              and library.afm_level_name(level)]
    print(f"library: {afm_kernels.library_path()} (version {library.afm_version()})")
    print(f"header: {afm_kernels.header_path()}")
    print(f"levels: {', '.join(levels)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

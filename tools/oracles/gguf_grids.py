#!/usr/bin/env python3
"""Prints the tables of Sources/ModelFile/GGUF/GGUFGrid+Tables.swift out of PyPI `gguf`.

  gguf_grids.py > Sources/ModelFile/GGUF/GGUFGrid+Tables.swift

The points of a grid are facts of the format: each is a few small numbers out of a short list. A
point is printed as two characters: the places of its coordinates in the list, the first one least
significant, as one number in base 3 (eight coordinates) or base 8 (four), and that number in base
81, low digit first, with the characters from "(" on as digits.

Needs: pip install gguf==0.19.0
"""

from gguf import quants

GRIDS = [("IQ2_XXS", "iq2XXSText"), ("IQ2_XS", "iq2XSText"), ("IQ2_S", "iq2SText"),
         ("IQ3_XXS", "iq3XXSText"), ("IQ3_S", "iq3SText"), ("IQ1_S", "iq1Text")]

print("""// Made by tools/oracles/gguf_grids.py from PyPI `gguf` 0.19; how to read it stands there and on
// `GGUFGrid`.
extension GGUFGrid {""")
for index, (name, variable) in enumerate(GRIDS):
    kind = getattr(quants, name)
    kind.init_grid()
    levels = list(kind.grid_map)
    text = ""
    for point in kind.grid.reshape(kind.grid_shape):
        number = sum(levels.index(value) * len(levels) ** place
                     for place, value in enumerate(point))
        text += chr(40 + number % 81) + chr(40 + number // 81)
    print(("\n" if index else "") + f"  /// {name}: {kind.grid_shape[0]} points of "
          f"{kind.grid_shape[1]} coordinates.")
    print(f'  static let {variable} = #"""')
    for start in range(0, len(text), 96):
        print("    " + text[start:start + 96])
    print('    """#')
print("}")

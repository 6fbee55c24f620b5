"""Seeds of the fuzz target drawn_shapes: forms of calls that models make, and edges of tiles.  usage: drawn_shapes.py
FOLDER"""
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)

CAUSAL, WINDOW, MASK, PADDING, BIAS, ALIBI, SOFTCAP = (1 << bit for bit in (4, 6, 8, 11, 14, 16, 20))
SINK, BLOCKS, LENGTHS, PACKED, PAGED = (1 << bit for bit in (21, 23, 24, 25, 26))
SHAPES = [  # b, key-value heads, group, n, m, d, dv, features
    (1, 8, 4, 512, 512, 128, 128, CAUSAL),
    (1, 8, 4, 1, 4096, 128, 128, 0),
    (4, 8, 4, 1, 1024, 128, 128, PADDING),
    (1, 1, 8, 256, 256, 256, 256, CAUSAL | SOFTCAP),
    (1, 1, 16, 1, 4096, 576, 512, 0),
    (1, 16, 1, 197, 197, 64, 64, 0),
    (1, 12, 1, 384, 384, 64, 64, PADDING),
    (1, 32, 1, 128, 128, 80, 80, CAUSAL),
    (1, 8, 1, 448, 1500, 64, 64, 0),
    (1, 8, 1, 256, 1024, 40, 40, 0),
    (1, 16, 1, 1, 16384, 64, 64, 0),
    (1, 8, 2, 512, 512, 128, 128, WINDOW),
    (2, 6, 1, 300, 300, 64, 64, BIAS),
    (1, 14, 1, 257, 257, 80, 80, ALIBI | CAUSAL),
    (3, 2, 3, 129, 129, 72, 56, MASK),
    (1, 1, 1, 1, 0, 8, 8, 0),
    (1, 1, 1, 0, 33, 8, 8, 0),
    (1, 8, 8, 128, 128, 64, 64, SINK | WINDOW),
    (8, 2, 4, 1, 300, 64, 64, SINK | PAGED),
    (5, 2, 4, 40, 90, 64, 64, PACKED | CAUSAL),
    (5, 2, 2, 40, 90, 64, 64, LENGTHS | BIAS | WINDOW),
    (4, 2, 2, 7, 130, 32, 32, PAGED | CAUSAL | MASK),
    (2, 4, 1, 150, 200, 64, 64, BLOCKS | CAUSAL),
]
number = 0
for b, hk, group, n, m, d, dv, features in SHAPES:
    for kind in range(4):
        number += 1
        data = struct.pack("<BBBBHHHHIHBBBBI", b - 1, hk - 1, group - 1, kind, n, m, d - 1, dv - 1, features, 63,
                           kind % 3, kind, 0, 0, number)
        (folder / f"{number:03}").write_bytes(data)

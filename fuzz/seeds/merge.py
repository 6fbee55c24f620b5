"""Seeds of the fuzz target merge: the bytes that fuzz/support/merge_call.cpp reads in turn.  usage: merge.py FOLDER"""
import pathlib
import struct
import sys

F32, F64, BF16, F16 = range(4)
# The kinds of LSE: near each other (normal to close), far apart (88 to low), special, and at the ends of the format.
(NORMAL, EQUAL, CLOSE, FAR_88, FAR_95, LOW, ALL_EMPTY, SOME_EMPTY, SOME_NAN, SOME_INF, HUGE, TINY, WIDE, EXTREMES,
 STEPS, VANISHING) = range(16)
# The kinds of O; with 8 more there are numbers where the LSE is −inf, too.
SMALL, DIGITS, LARGE, SUBNORMAL, SOME_O_NAN, SOME_O_INF, SCALES, EDGES = range(8)


def call(parts, b=2, hq=2, n=3, dv=5, own=None, type=F32, answer=None, lse=True, threads=1, instruction_set=0, seed=1,
         layouts=(), kinds=((NORMAL, SMALL),)):
    """A sound call. layouts: of out, its LSE, and O and LSE of each of the `own` parts that have tensors; kinds: of
    theirs."""
    own = min(parts, 4) if own is None else own
    own = max(own, 1)
    answer = type if answer is None else answer
    header = [b, hq, n, *dv.to_bytes(2, "little"), *parts.to_bytes(2, "little"), own - 1, type + 4 * answer,
              lse + 2 * threads, instruction_set, *seed.to_bytes(2, "little")]
    places = 2 + 2 * own
    layouts = [*layouts, *[0] * places][:places]
    kinds = [kinds[part % len(kinds)] for part in range(own)]
    return [*header, *layouts, *(kind for pair in kinds for kind in pair)]


GAPS, HEADS_INNER, ROWS_OF_STRIDE_0 = 8, 1, 128
CALLS = {}
for type in range(4):
    for answer in range(4):
        CALLS[f"types-{type}-{answer}"] = call(3, type=type, answer=answer, instruction_set=type,
                                               seed=4 * type + answer,
                                               kinds=((NORMAL, SMALL), (STEPS, SCALES), (SOME_EMPTY, SMALL)))
for kind in range(16):
    for parts in (1, 2, 3, 5):
        CALLS[f"lse-{kind}-{parts}"] = call(parts, type=kind % 4, seed=kind, kinds=((kind, SMALL), (NORMAL, DIGITS)))
    CALLS[f"lse-{kind}-all"] = call(3, type=kind // 2 % 4, seed=kind, kinds=((kind, kind % 8), (kind, SMALL)))
for kind in range(16):
    for type in range(4):
        CALLS[f"o-{kind}-{type}"] = call(3, type=type, seed=kind, kinds=((SOME_EMPTY, kind), (NORMAL, kind)))
    CALLS[f"o-{kind}-rounded"] = call(3, type=kind % 4, answer=kind // 4, seed=kind,
                                      kinds=((SOME_EMPTY, kind), (NORMAL, kind)))
    CALLS[f"o-{kind}-vanishing"] = call(2, type=(kind + 1) % 4, kinds=((VANISHING, kind), (EQUAL, SMALL)), seed=kind)
for parts, dv in ((64, 4), (128, 3), (129, 3), (257, 2), (600, 1)):
    for type in (F32, F64, BF16):
        CALLS[f"parts-{parts}-{type}"] = call(parts, b=1, hq=1, n=2, dv=dv, type=type,
                                              kinds=((NORMAL, SMALL), (SOME_EMPTY, SMALL)))
for dv in (0, 1, 15, 16, 17, 255, 256, 257, 512, 599):
    for type in (F32, F16):
        CALLS[f"columns-{dv}-{type}"] = call(2, b=1, hq=1, n=3, dv=dv, type=type, answer=F32 if dv % 2 else type)
for sizes in ((0, 2, 3), (2, 0, 3), (2, 2, 0), (1, 1, 1), (1, 1, 65), (3, 4, 7), (1, 2, 130)):
    CALLS["rows-{}-{}-{}".format(*sizes)] = call(2, *sizes, threads=3, dv=2)
for layout in (GAPS, HEADS_INNER, GAPS + 2, 3, GAPS + 4, 5, ROWS_OF_STRIDE_0, 64, 32, 224):
    output = layout % 32
    CALLS[f"layout-{layout}"] = call(3, layouts=(output, output, layout, 0, 0, layout, layout, layout), lse=True)
CALLS["no_lse"] = call(2, lse=False)
CALLS["no_parts"] = call(0)
CALLS["one_for_all"] = call(9, own=1, kinds=((STEPS, SMALL),))
CALLS["plain_code"] = call(3, instruction_set=1)
CALLS["other_code"] = call(3, instruction_set=2)

# Wrecks: a tensor (0 out, 1 its LSE, then O and LSE of the parts), what, how. Numbers are indices of
# byte_source::number().
(NDIM, SHAPE, STRIDE, CODE, TYPE_BITS, LANES, DEVICE, NO_DATA, NO_SHAPE, NO_STRIDES, ABSENT, OFFSET, MEMORY) = (
    0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
AXIS, BITS, SPECIAL, VERSION, THREADS, PARTS, RESERVED, NO_O, NO_LSE, NULL_O, NULL_LSE, OTHER, NO_CALL = (
    15, 16, 18, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
sound = call(2, kinds=((NORMAL, SMALL), (EQUAL, DIGITS)))
for tensor in range(6):
    for number in range(16):
        CALLS[f"ndim-{tensor}-{number}"] = sound + [tensor, NDIM, number]
        CALLS[f"shape-{tensor}-{number}"] = sound + [tensor, SHAPE, number, (tensor + number) % 4]
        CALLS[f"stride-{tensor}-{number}"] = sound + [tensor, STRIDE, number, (tensor + number) % 4]
    for axis in range(4):
        CALLS[f"smaller-{tensor}-{axis}"] = sound + [tensor, SHAPE, 1, axis]
        CALLS[f"same-row-{tensor}-{axis}"] = sound + [tensor, STRIDE, 0, axis]
    for what in (NO_DATA, NO_SHAPE, NO_STRIDES, ABSENT):
        CALLS[f"without-{tensor}-{what}"] = sound + [tensor, what]
        CALLS[f"without-{tensor}-{what}-nothing"] = call(2, n=0) + [tensor, what]
    for offset in (1, 2, 4, 8, 13):
        CALLS[f"offset-{tensor}-{offset}"] = sound + [tensor, OFFSET, offset]
    for code, bits in ((2, 16), (2, 64), (4, 16), (0, 32), (1, 8), (2, 31), (2, 0), (7, 32)):
        CALLS[f"type-{tensor}-{code}-{bits}"] = sound + [tensor, CODE, code, tensor, TYPE_BITS, bits]
    CALLS[f"lanes-{tensor}"] = sound + [tensor, LANES, 2]
    CALLS[f"device-{tensor}"] = sound + [tensor, DEVICE, 2]
    for other in range(6):
        CALLS[f"memory-{tensor}-{other}"] = sound + [tensor, MEMORY, other]
    for special in range(4):
        CALLS[f"special-{tensor}-{special}"] = sound + [tensor, SPECIAL + special, special]
    CALLS[f"bits-{tensor}"] = sound + [tensor, BITS, 0, *range(200, 208)]
for special in range(4):  # in the only part, and beside a part that is not read
    for type in range(4):
        CALLS[f"special-alone-{special}-{type}"] = call(1, type=type) + [3, SPECIAL + special, 0]
        CALLS[f"special-beside-{special}-{type}"] = call(2, type=type, kinds=((NORMAL, SMALL), (ALL_EMPTY, SMALL))) + [
            3, SPECIAL + special, 1]
# Just above the middle between two numbers of 16 bits, where f32 has the middle itself.
for answer, middle in ((BF16, 8), (F16, 11)):
    CALLS[f"rounded-once-{answer}"] = call(1, type=F64, answer=answer) + [
        2, BITS, 0, *struct.pack("<d", 1 + 2.0**-middle + 2.0**-40)]
for axis in range(4):
    for number in range(16):
        CALLS[f"axis-{axis}-{number}"] = sound + [0, AXIS, axis, number]
        CALLS[f"axis-{axis}-{number}-nothing"] = call(2, dv=0, lse=False) + [0, AXIS, axis, number]
        CALLS[f"axis-{axis}-{number}-no-rows"] = call(2, n=0, hq=0) + [0, AXIS, axis, number]
for what in (VERSION, THREADS, PARTS, RESERVED):
    for value in range(16):
        CALLS[f"field-{what}-{value}"] = sound + [0, what, value]
for value in range(2):
    CALLS[f"null-o-{value}"] = sound + [0, NULL_O, value]
    CALLS[f"null-lse-{value}"] = sound + [0, NULL_LSE, value]
    for tensor in range(6):  # as an O or an LSE of part 1
        CALLS[f"other-{value}-{tensor}"] = sound + [0, OTHER, value, tensor, 1]
        CALLS[f"other-{value}-{tensor}-of-rank"] = sound + [tensor, NDIM, 3, 0, OTHER, value, tensor, 1]
CALLS["no-o-list"] = sound + [0, NO_O]
CALLS["no-lse-list"] = sound + [0, NO_LSE]
CALLS["no-call"] = sound + [0, NO_CALL]

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
for name, content in CALLS.items():
    (folder / name).write_bytes(bytes(content))

"""Pairs of units that include each other. A unit is a header and its source: audit/report/text.hpp and text.cpp.

usage: unit_pairs.py ROOT    prints them

A file -inl.hpp is a part of the unit that includes it, and counts in no pair.
"""
import collections
import pathlib
import sys

import include_arrows


def unit_of(path: str) -> str:
    return path.rsplit(".", 1)[0]


def pairs(root: pathlib.Path) -> list[tuple[str, str]]:
    included = collections.defaultdict(set)
    for top in sorted({room.split("/")[0] for room in include_arrows.MAY_INCLUDE}):
        for source in sorted((root / top).rglob("*")):
            if source.suffix not in include_arrows.SOURCES:
                continue
            unit = unit_of(source.relative_to(root).as_posix())
            for match in include_arrows.INCLUDE.finditer(source.read_text(encoding="utf-8")):
                other = include_arrows.target(root, source, match[1] or "", match[2] or "")
                if other is not None and unit_of(other) != unit:
                    included[unit].add(unit_of(other))
    return sorted((one, other) for one in included for other in included[one]
                  if one < other and one in included.get(other, ()) and not (one + other).count("-inl"))


if __name__ == "__main__":
    for found in pairs(pathlib.Path(sys.argv[1]).resolve()):
        print(*found)

"""What is said of an exception that a callable raised."""
from __future__ import annotations

import traceback
import types

MOST_SAID = 400  # bytes that the report quotes


def text_of(why: BaseException) -> str:
    """str(why), which may be the callable's code, too."""
    try:
        return str(why)
    except Exception as second:  # noqa: BLE001
        return f"({type(why).__name__} cannot be printed: {type(second).__name__})"


def first_line(why: BaseException) -> str:
    lines = text_of(why).strip().splitlines()
    return lines[0] if lines else "(no message)"


def from_callable(why: BaseException) -> types.TracebackType | None:
    """The traceback from the first frame outside of this package on, or all of it where there is none."""
    frame = why.__traceback__
    while frame is not None and frame.tb_frame.f_globals.get("__package__") == __package__:
        frame = frame.tb_next
    return frame or why.__traceback__


def place_of(why: BaseException) -> str:
    """Where it was raised: " (file.py:line)", of the last frame."""
    place = ""
    for frame in traceback.extract_tb(why.__traceback__):
        place = f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})"
    return place


def cut(text: str, most: int) -> str:
    """The beginning of a text that has at most `most` bytes of UTF-8, without NULs."""
    data = text.replace("\0", " ").encode("utf-8", "replace")
    return text.replace("\0", " ") if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"

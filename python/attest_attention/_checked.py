"""Arguments of campaigns and candidates: what is no argument is named in an error."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from ._shards import OWN_OPTIONS


def of_type(argument: str, given: Any, kinds: tuple[type, ...], expected: str) -> Any:
    if not isinstance(given, kinds):
        raise TypeError(f"{argument}: is a {type(given).__name__}, expected {expected}")
    return given


def words_of(argument: str, given: Any, expected: str) -> list[str]:
    """One word or several. A path is a word, too."""
    several = [given] if isinstance(given, (str, os.PathLike)) else list(of_type(argument, given, (Iterable,),
                                                                                 expected))
    for one in several:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"{argument}: holds a {type(one).__name__}, expected {expected}")
    return [os.fsdecode(one) for one in several]


def path_of(argument: str, given: Any, expected: str = "a path") -> str:
    return os.fsdecode(of_type(argument, given, (str, os.PathLike), expected))


def whole(argument: str, given: Any, least: int, most: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{argument}: is {given!r}, expected a whole number")
    if not least <= given <= most:
        raise ValueError(f"{argument}: is {given}, expected {least} to {most}")


def told_by(progress: Any) -> None:
    of_type("progress", progress, (Callable, type(None)), "a callable that takes a line")  # type: ignore[arg-type]


def reached_by(cluster: Any) -> None:
    if not (cluster is None or hasattr(cluster, "scheduler_address") or hasattr(cluster, "submit")):
        of_type("cluster", cluster, (str,), "None, a cluster or client of Dask, or the address of a scheduler")


def no_own_option(words: Iterable[str]) -> None:
    for word in words:
        if word.split("=", 1)[0] in OWN_OPTIONS:
            raise ValueError(f"options: {word} is what this function itself says; it has an argument for it, or no use")

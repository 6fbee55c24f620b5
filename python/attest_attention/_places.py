"""Where watched functions have their names, and the wrappers that stand there while a block runs."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


def there(place: Any, name: str) -> Any:
    """What a mapping or an object has under a name."""
    return place[name] if isinstance(place, dict) else getattr(place, name)


def put(place: Any, name: str, value: Any) -> None:
    """Puts something under a name of a mapping or an object."""
    if isinstance(place, dict):
        place[name] = value
    else:
        setattr(place, name, value)


class Places:
    """Names under which something else was put, and what was there before.

    `originals` is for calls that compare functions by identity. It holds for the whole process, so that calls of other
    threads may meet the functions themselves meanwhile. What somebody else put there in such a time stays.
    """

    def __init__(self) -> None:
        self._changed: list[tuple[Any, str, Any, Any]] = []  # (place, name, before, instead)
        self._lock = threading.Lock()
        self._needed = 0  # calls that run with the originals

    def put(self, place: Any, name: str, instead: Any) -> None:
        """Puts something in the place of what is there."""
        with self._lock:
            self._changed.append((place, name, there(place, name), instead))
            if not self._needed:
                put(place, name, instead)

    def restore(self) -> None:
        """Puts everything back, for good."""
        with self._lock:
            for place, name, before, _ in reversed(self._changed):
                put(place, name, before)
            self._changed.clear()

    @contextlib.contextmanager
    def originals(self) -> Iterator[None]:
        """Inside, everything is as it was before."""
        with self._lock:
            self._needed += 1
            if self._needed == 1:
                for place, name, before, _ in reversed(self._changed):
                    put(place, name, before)
        try:
            yield
        finally:
            with self._lock:
                self._needed -= 1
                if not self._needed:
                    for place, name, before, instead in self._changed:
                        if there(place, name) is before:
                            put(place, name, instead)

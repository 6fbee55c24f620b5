from __future__ import annotations

import types

from attest_attention._places import Places


def test_originals_are_back_while_anybody_needs_them() -> None:
    place, holder = {"f": "original"}, types.SimpleNamespace(f="original")
    places = Places()
    for one in (place, holder):
        places.put(one, "f", "wrapper")

    def there() -> tuple[str, str]:
        return place["f"], holder.f

    assert there() == ("wrapper", "wrapper")
    first, second = places.originals(), places.originals()
    with first:
        assert there() == ("original", "original")
        second.__enter__()  # of another thread
    assert there() == ("original", "original")
    second.__exit__(None, None, None)
    assert there() == ("wrapper", "wrapper")
    with places.originals():
        holder.f = "the model's own"
    assert there() == ("wrapper", "the model's own")
    with places.originals():
        places.restore()  # the block ends meanwhile
    assert there() == ("original", "original")

"""Which calls a capture keeps: of each kind, below the model, from several threads, up to a number and bytes."""
from __future__ import annotations

import threading
from typing import Any

import numpy as np
import attest_attention as attest
from attest_attention._recorded import Sample
from capture_library import library, tensors


def queries_of(seen: Any) -> list[int]:
    """How many queries each of the recorded calls has."""
    return [call.q.shape[2] for call in seen.calls]


def test_only_calls_below_the_model_are_recorded(library: Any) -> None:
    def model(queries: Any) -> Any:
        return library.flash_attn_func(*tensors(n=queries))

    class Callable:
        def __call__(self, queries: Any) -> Any:
            return library.flash_attn_func(*tensors(n=queries))

    for one in (model, Callable()):
        with attest.capture(one) as seen:
            one(3)
            library.flash_attn_func(*tensors(n=4))
        assert queries_of(seen) == [3] and seen.seen_calls == 1


def test_calls_from_several_threads_are_all_seen(library: Any) -> None:
    with attest.capture(calls=100) as seen:
        threads = [threading.Thread(target=lambda: [library.flash_attn_func(*tensors()) for _ in range(20)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen.seen_calls == 80 and len(seen.calls) == 80
    assert sorted(call.number for call in seen.calls) == list(range(80))


def test_the_first_of_each_shape_is_kept(library: Any) -> None:
    with attest.capture(calls=5) as seen:
        for n in (2, 3, 2, 2, 4, 2, 2, 3, 6):
            library.flash_attn_func(*tensors(n=n))
    assert set(queries_of(seen)) == {2, 3, 4, 6} and len(seen.calls) == 5 and seen.seen_calls == 9


def test_more_shapes_than_calls_are_counted(library: Any) -> None:
    with attest.capture(calls=2) as seen:
        for n in (2, 3, 4, 5):
            library.flash_attn_func(*tensors(n=n))
    assert queries_of(seen) == [2, 3] and sum(seen.not_recorded.values()) == 2


def test_no_more_bytes_are_kept_than_stated(library: Any) -> None:
    one = 4 * (5 + 7 + 7 + 5) * 2 * 8
    with attest.capture(calls=50, bytes=3 * one + 10) as seen:
        for seed in range(20):
            library.flash_attn_func(*tensors(seed))
    assert len(seen.calls) == 3 and sum(call.nbytes for call in seen.calls) == 3 * one
    with attest.capture(bytes=one - 1) as seen:
        library.flash_attn_func(*tensors())
    assert not seen.calls and sum(seen.not_recorded.values()) == 1


def test_the_choice_is_that_of_the_seed(library: Any) -> None:
    def numbers(seed: Any) -> Any:
        with attest.capture(calls=4, seed=seed) as seen:
            for _ in range(40):
                library.flash_attn_func(*tensors())
        return [call.number for call in seen.calls]

    assert numbers(1) == numbers(1) != numbers(2)


def test_repeated_calls_are_kept_with_equal_probability() -> None:
    kept = np.zeros(30)
    for seed in range(2000):
        sample = Sample(6, 10**9, seed)
        for number in range(30):
            new = "one kind" not in sample.kinds
            if sample.wants("one kind"):
                sample.add(new, number, 1)
        for _, number, _ in sample.kept:
            kept[number] += 1
        assert len(sample.kept) == 6
    assert kept[0] == 2000
    # 5 of 29: mean 344.8, standard deviation 16.9; five of them either way
    assert np.all(np.abs(kept[1:] - 2000 * 5 / 29) < 5 * 17)


def test_zero_calls_keep_nothing(library: Any) -> None:
    with attest.capture(calls=0) as seen:
        library.flash_attn_func(*tensors())
    assert seen.seen_calls == 1 and not seen.calls and not seen.not_recorded

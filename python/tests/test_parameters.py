"""The numbers of a problem, and how a file says them."""
from __future__ import annotations

from attest_attention._parameters import NUMBERS, Parameters, metadata_of, numbers_in, numbers_of

SOME = Parameters(scale=0.3, softcap=1.5, diagonal=-2, left=0, right=7, dropout=0.25, block_q=4, block_k=2, align=1)


def test_a_file_gives_every_number_back() -> None:
    said = metadata_of(SOME)
    assert said.keys() == set(NUMBERS)
    assert numbers_in(said, "00001") == numbers_in({f"00001.{name}": text for name, text in said.items()},
                                                   "00001") == numbers_of(SOME)


def test_a_default_is_not_said() -> None:
    assert metadata_of(Parameters()) == {} and numbers_in({}, "00001") == {}
    assert numbers_in({"scale": "default", "00001.scale": "0.5", "00002.softcap": "3"}, "00001") == {"scale": 0.5}

"""The words of a callable and of a call beyond version 1: spellings, layouts, alignment, what was not looked at."""
from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable

import kernels
import numpy as np
import pytest
from attest_attention import Call, Unsupported
from attest_attention._heeding import heeding
from attest_attention._signature import Matched
from attest_attention._spellings import Options
from test_operator import whole
from test_signature import Seen


def packed() -> Call:
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=(1, 2, rows, 4)).astype(np.float32) for rows in (5, 9))
    return Call(q, k, k, q_offsets=whole([0, 2, 5]), k_offsets=whole([0, 4, 9]))


def paged() -> Call:
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 2, 1, 4), (7, 2, 3, 4)))
    return Call(q, k, k, k_lengths=whole([4, 6]), block_table=whole([[5, 1, -9], [0, 6, 99]]))


@pytest.mark.parametrize(("role", "names"), [
    ("sink", "sinks s_aux learnable_sink sink_token sink"), ("q_offsets", "cu_seqlens_q cu_seq_q qo_indptr q_offsets"),
    ("k_offsets", "cu_seqlens_k cu_seq_k kv_indptr k_offsets"), ("q_lengths", "seqused_q q_lengths"),
    ("k_lengths", "seqused_k cache_seqlens seq_lens nonpad_kv_seqlen k_lengths"),
    ("block_table", "block_table page_table block_tables")])
def test_each_has_its_spellings(role: str, names: str) -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    calls = {"sink": Call(x, x, x, sink=np.ones(2, np.float32)), "q_lengths": Call(x, x, x, q_lengths=whole([1, 3])),
             "q_offsets": packed(), "k_offsets": packed(), "k_lengths": paged(), "block_table": paged()}
    call = calls[role]
    if role == "q_lengths":  # where no band depends on them, whoever computes every row has answered
        call = dataclasses.replace(call, right=0, align=1)
    others = {"q_offsets": "k_offsets=None", "k_offsets": "q_offsets=None", "k_lengths": "block_table=None",
              "block_table": "k_lengths=None"}
    for name in names.split():
        given = Seen(f"q, k, v, {name}=None, mask=None, {others.get(role, 'scale=None')}")(call)
        assert np.array_equal(given[name], getattr(call, role))
    with pytest.raises(Unsupported):
        Seen(f"q, k, v, mask=None, {others.get(role, 'scale=None')}")(call)


def test_packed_rows_and_pools_follow_the_layout() -> None:
    names = "q, k, v, q_offsets=None, k_offsets=None, k_lengths=None, block_table=None"
    for layout, rows, pool, dense in (("bhnd", (1, 2, 5, 4), (7, 2, 3, 4), (2, 2, 1, 4)),
                                      ("bnhd", (5, 2, 4), (7, 3, 2, 4), (2, 1, 2, 4)),
                                      ("thd", (5, 2, 4), (7, 3, 2, 4), (2, 2, 4))):
        assert Seen(names, layout=layout)(packed())["q"].shape == rows
        given = Seen(names, layout=layout)(paged())
        assert given["k"].shape == pool and given["q"].shape == dense and given["k_offsets"] is None


def test_offsets_say_the_lengths_of_a_paged_call_where_nothing_else_does() -> None:
    given = Seen("q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, block_table=None",
                 layout="thd")(paged())
    assert given["cu_seqlens_k"].tolist() == [0, 4, 10] and given["max_seqlen_k"] == 9


def test_the_alignment_is_that_of_each_entry() -> None:
    names = "q, k, v, q_offsets=None, k_offsets=None, "
    causal = dataclasses.replace(packed(), right=0, align=1)
    assert Seen(names + "causal=False", causal="bottom-right")(causal)["causal"] is True
    assert Seen(names + "causal=False, align=0")(causal)["align"] == 1
    square = dataclasses.replace(packed(), right=0, align=1, k_offsets=whole([0, 2, 5]))
    assert Seen(names + "causal=False")(square)["causal"] is True
    # Both entries have two keys more than queries.
    assert Seen(names + "left=-1, right=-1, diagonal=0")(causal)["diagonal"] == 2
    for parameters in ("causal=False", "is_causal=False", "left=-1, right=-1", "mask=None"):
        with pytest.raises(Unsupported):
            Seen(names + parameters)(causal)


def test_a_band_by_entry_is_given_as_a_mask_where_rows_are_not_packed() -> None:
    x = np.zeros((2, 1, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([1, 3]), right=0, align=1)
    given = Seen("q, k, v, mask=None, k_lengths=None")(call)["mask"]
    assert given.shape == (2, 1, 3, 3)
    assert [entry[0].sum(-1).tolist() for entry in given] == [[0, 0, 1], [1, 2, 3]]


def test_dropout_and_blocks_need_all_of_their_words() -> None:
    x = np.zeros((1, 1, 4, 4), np.float32)
    call = Call(x, x, x, keep=np.ones((1, 1, 4, 4), bool), dropout=0.25)
    assert Seen("q, k, v, keep=None, dropout_p=0.0")(call)["dropout_p"] == 0.25
    blocks = Call(x, x, x, block_mask=np.ones((1, 1, 2, 1), np.uint8), block_q=2, block_k=4)
    given = Seen("q, k, v, block_mask=None, block_q=0, block_k=0")(blocks)
    assert given["block_mask"].dtype == bool and (given["block_q"], given["block_k"]) == (2, 4)
    for parameters, asked in (("keep=None", call), ("dropout_p=0.0", call), ("block_mask=None", blocks),
                              ("block_q=0, block_k=0", blocks)):
        with pytest.raises(Unsupported):
            Seen("q, k, v, " + parameters)(asked)


def test_sinks_by_entry_need_a_word() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones((2, 2), np.float32))
    with pytest.raises(Unsupported, match="sinks by entry"):
        Seen("q, k, v, sinks=None")(call)
    assert Seen("q, k, v, sinks=None", supports=("sink-by-entry",))(call)["sinks"].shape == (2, 2)
    shared = dataclasses.replace(call, sink=np.ones((1, 2), np.float32))
    assert Seen("q, k, v, sinks=None")(shared)["sinks"].shape == (2,)


def test_lengths_of_queries_matter_where_a_band_ends_at_the_last_one() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, q_lengths=whole([3, 1]), right=0)
    assert Seen("q, k, v, left=-1, right=-1")(call)["right"] == 0
    with pytest.raises(Unsupported, match="q_lengths"):
        Seen("q, k, v, mask=None")(dataclasses.replace(call, align=1))
    # A callable that does not know the lengths of the queries ends its band at the last row of the slot.
    causal = Call(x, x, x, q_lengths=whole([3, 1]), k_lengths=whole([3, 1]), right=0)
    assert Seen("q, k, v, causal=False, k_lengths=None, q_lengths=None",
                causal="bottom-right")(causal)["causal"] is True
    assert Seen("q, k, v, is_causal=False, k_lengths=None")(causal)["is_causal"] is True
    for options in ({"causal": "bottom-right"}, {}):
        with pytest.raises(Unsupported, match="a causal band"):
            Seen("q, k, v, causal=False, k_lengths=None", **options)(causal)


def test_lengths_that_are_all_of_the_room_say_nothing() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    assert Seen("q, k, v")(Call(x, x, x, q_lengths=whole([3, 3]), k_lengths=whole([3, 3])))["q"] is x
    with pytest.raises(Unsupported, match="k_lengths"):
        Seen("q, k, v")(Call(x, x, x, k_lengths=whole([3, 2])))


def test_an_adapter_that_does_not_look_at_a_tensor_has_not_answered() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, sink=np.ones(2, np.float32), k_lengths=whole([3, 2]))
    with pytest.raises(Unsupported, match="^sink, k_lengths$"):
        heeding(lambda given: given.q)(call)
    with pytest.raises(Unsupported, match="^k_lengths$"):
        heeding(lambda given: given.q[5 if given.sink is None else 6])(call)
    assert heeding(lambda given: (given.sink, given.k_lengths))(call)[0] is call.sink
    assert heeding(lambda given: given.q)(Call(x, x, x)) is x


def test_what_a_call_computes_from_its_lengths_is_no_look_at_them() -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([3, 2]), right=0, align=1)
    with pytest.raises(Unsupported, match="^k_lengths, align$"):
        heeding(lambda given: (given.m, given.keys_of(), given.diagonals(), given.causal))(call)
    with pytest.raises(Unsupported, match="^k_lengths$"):  # the band has the alignment in it
        heeding(lambda given: given.visible())(call)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dataclasses.replace,
                                    lambda call: pickle.loads(pickle.dumps(call))])
def test_an_adapter_may_copy_a_call(copied: Callable[[Call], Call]) -> None:
    x = np.zeros((2, 2, 3, 4), np.float32)
    call = Call(x, x, x, k_lengths=whole([3, 2]))
    answer = heeding(lambda given: (given.k_lengths, copied(given)))(call)[1]
    assert isinstance(answer, Call) and answer.keys_of().tolist() == [3, 2]


def test_an_alignment_of_entries_of_one_size_is_a_diagonal() -> None:
    q, k = np.zeros((1, 1, 2, 4), np.float32), np.zeros((1, 1, 5, 4), np.float32)
    call = Call(q, k, k, right=0, align=1)
    assert (call.diagonal, call.align, call.needs, call.causal) == (3, 0, (), "bottom-right")
    assert Matched(kernels.right, Options())(call).shape == (1, 1, 2, 4)

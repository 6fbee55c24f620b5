"""The names that parameters of callables have in use, and what no name says."""
from __future__ import annotations

import dataclasses

from ._words import among

# What a parameter is for: the names that it has in use.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "q": ("q", "query", "queries", "Q"),
    "k": ("k", "key", "keys", "K"),
    "v": ("v", "value", "values", "V"),
    "scale": ("scale", "softmax_scale", "sm_scale", "scaling"),
    "causal": ("causal", "is_causal"),
    "mask": ("mask", "attn_mask", "attention_mask"),
    "bias": ("bias", "attn_bias", "attention_bias"),
    "window": ("window_size", "window", "local_window_size"),
    "sliding_window": ("sliding_window",),
    "diagonal": ("diagonal",),
    "left": ("left",),
    "right": ("right",),
    "softcap": ("softcap", "soft_cap", "logits_soft_cap", "logit_softcap", "logits_softcap"),
    "gqa": ("enable_gqa", "gqa"),
    "lse": ("return_lse", "return_softmax_lse"),
    "weights": ("return_weights", "return_attn_weights", "need_weights"),
    "threads": ("threads", "num_threads", "n_threads"),
    "out": ("out",),
    "dropout": ("dropout_p", "dropout"),
    "q_offsets": ("cu_seqlens_q", "cu_seqlens_qo", "cu_seq_q", "qo_indptr", "q_offsets"),
    "k_offsets": ("cu_seqlens_k", "cu_seqlens_kv", "cu_seq_k", "kv_indptr", "k_offsets"),
    "max_seqlen_q": ("max_seqlen_q", "max_seqlen_qo"),
    "max_seqlen_k": ("max_seqlen_k", "max_seqlen_kv"),
    "q_lengths": ("seqused_q", "q_lengths"),
    "k_lengths": ("seqused_k", "cache_seqlens", "seq_lens", "nonpad_kv_seqlen", "k_lengths"),
    "block_table": ("block_table", "page_table", "block_tables"),
    "sink": ("sinks", "s_aux", "learnable_sink", "sink_token", "sink"),
    "block_mask": ("block_mask",),
    "block_q": ("block_q",),
    "block_k": ("block_k",),
    "keep": ("keep",),
    "align": ("align",),
}
ROLES = {name: role for role, names in SPELLINGS.items() for name in names}
# Masks of these names take what torch's takes: Booleans, or numbers that are added to the scores.
ADDITIVE_MASKS = ("attn_mask", "attention_mask")
# These say by their name along which diagonal a band lies; `causal` does not.
ALIGNED = {"is_causal": "top-left"}
LAYOUTS = ("bhnd", "bnhd", "thd")
# What no name of a parameter says.
SUPPORTS = ("gqa", "bias-in-mask", "sink-by-entry")


@dataclasses.dataclass(frozen=True)
class Options:
    """What the caller of `audit` says about a callable, beyond its signature."""

    arrays: str = "numpy"
    device: str = "cpu"
    layout: str = "bhnd"
    # "top-left" or "bottom-right": the diagonal of the callable's own causal and window parameters
    causal: str | None = None
    supports: tuple[str, ...] = ()
    returns: str | None = None  # "o", "o,lse", "o,weights" or "o,lse,weights": what it always returns

    def __post_init__(self) -> None:
        for name, value, known in (("arrays", self.arrays, ("numpy", "torch", "jax")), ("layout", self.layout, LAYOUTS),
                                   ("causal", self.causal, (None, "top-left", "bottom-right")),
                                   ("returns", self.returns, (None, "o", "o,lse", "o,weights", "o,lse,weights"))):
            if not among(value, known):
                raise ValueError(f"{name}: is {value!r}, expected {', '.join(repr(one) for one in known if one)}")
        for one in self.supports:
            if one not in SUPPORTS:
                raise ValueError(f"supports: {one!r} is unknown, expected " + ", ".join(map(repr, SUPPORTS)))
        if self.arrays == "numpy" and self.device != "cpu":
            raise ValueError(f"device: is {self.device!r}, but NumPy's arrays are on the cpu; say arrays='torch' or "
                             "'jax'")

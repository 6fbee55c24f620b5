"""Keywords as words of the program: the contract, options, names of files."""
from __future__ import annotations

import difflib
import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _program


def among(value: object, known: Sequence[Any]) -> bool:
    """Whether this is one of these words. An array is none, whose comparison has no truth value."""
    try:
        return value in known
    except (TypeError, ValueError, RuntimeError):
        return False


def text_of(value: Any, argument: str, expected: str = "a name or a path") -> str:
    """A str or a path as text. Raises TypeError, with the argument's name, for anything else."""
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{argument}: is {value!r}, expected {expected}")
    return text


# Other names of the orders of axes, as the program has them: s, l and t for n, and n for h.
_LAYOUTS = {"bhsd": "bhnd", "bhld": "bhnd", "bhtd": "bhnd", "bnth": "bhnd", "bnsd": "bhnd", "bshd": "bnhd",
            "blhd": "bnhd", "bthd": "bnhd", "btnh": "bnhd", "bsnd": "bnhd", "tnd": "thd"}


def layout_word(layout: Any) -> Any:
    """The order of axes that a layout means. A value that is no text is returned unchanged.

    >>> layout_word("BSHD"), layout_word("bhnd")
    ('bnhd', 'bhnd')
    """
    return _LAYOUTS.get(layout.lower(), layout.lower()) if isinstance(layout, str) else layout


def listed(words: Any, argument: str) -> list[str]:
    """One word, or several, as a list. Raises TypeError, with the argument's name, for anything else.

    >>> listed("--quick", "options"), listed(("gqa", "bias-in-mask"), "supports")
    (['--quick'], ['gqa', 'bias-in-mask'])
    """
    several = not isinstance(words, (str, os.PathLike)) and isinstance(words, Iterable)
    given = list(words) if several else [words]
    if not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise TypeError(f"{argument}: is {words!r}, expected a word or a list of words")
    return [text_of(one, argument) for one in given]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The clause of an error that names the nearest known word; empty if none is near.

    >>> did_you_mean("pytorch-mth", ["pytorch-math", "jax"]), did_you_mean("mine", ["jax"])
    (", did you mean 'pytorch-math'?", '')
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _base(contract: str) -> str:
    """The name of a contract without the conventions behind it: 'f32' of 'f32+lse_base=2'."""
    return contract.partition("+")[0]


@functools.cache
def _types_of_presets() -> dict[str, str]:
    return {one["name"]: one["input"] for one in json.loads(_program.run(["list", "contracts", "--json"]).stdout)}


# A name of `attest list contracts`, a JSON file, or what such a file holds.
Contract = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def contract_words(contract: Contract | None, dtype: str | None, argument: str = "dtype") -> tuple[list[str], str]:
    """The option that says the contract, and the element type of its inputs.

    Without a contract it is the preset named like the type. A file is named by its whole path: whoever repeats the
    words may be in another folder. A dict is what a contract file holds. Raises ValueError where they contradict
    each other; `argument` is what says the type.
    """
    if dtype is not None and dtype not in ("f32", "bf16", "f16", "f64"):
        raise ValueError(f"dtype: is {dtype!r}, expected f32, bf16, f16 or f64")
    if contract is None:
        return ["--contract", dtype or "f32"], dtype or "f32"
    if isinstance(contract, Mapping):
        said = json.dumps(contract)
        known = contract.get("input") or _types_of_presets().get(_base(str(contract.get("from", ""))))
        if known and dtype and known != dtype:
            raise ValueError(f"{argument}: is {dtype}, but the inputs of the contract are {known}")
        return ["--contract", said], known or dtype or "f32"
    said = text_of(contract, "contract", "a name of `attest list contracts`, a file or a dict")
    known = _types_of_presets().get(_base(said))
    word = said
    if known is None and Path(said).is_file():
        word = os.path.abspath(said)
        try:
            file = json.loads(Path(said).read_text(encoding="utf-8"))
            known = file.get("input") or _types_of_presets().get(file.get("from", ""))
        except (ValueError, AttributeError):
            known = None  # the program says what is wrong with the file
    if known and dtype and known != dtype:
        raise ValueError(f"{argument}: is {dtype}, but the inputs of the contract {said} are {known}")
    return ["--contract", word], known or dtype or "f32"


def domain_text(domain: str | Mapping[str, Any] | None) -> str | None:
    """A domain as --domain takes it: the text, or its words by the names of their axes.

    >>> domain_text({"d": (64, 128), "dv": "d", "n": "%128 <=4096", "m": "n",
    ...              "causal": ["none", "top-left"], "scale": ">0"})
    'd=64,128 dv=d n%128 n<=4096 m=n causal=none,top-left scale>0'
    """
    if domain is None or isinstance(domain, str):
        return domain
    if not isinstance(domain, Mapping):
        raise TypeError(f"domain: is {domain!r}, expected a text such as 'd=64,128 dv=d', or a dict of its words")
    words = []
    for name, value in domain.items():
        if isinstance(value, (list, tuple, set, range)):
            value = ",".join(map(str, value))
        words += [f"{name}{'' if one[0] in '%<>=' else '='}{one}" for one in str(value).split()]
    return " ".join(words)


def option_words(options: dict[str, Any]) -> list[str]:
    """Keywords as options of the program: a name for True, nothing for None and False, lists joined by commas.

    >>> option_words({"quick": True, "seed": 1, "fail_fast": False, "only": ["stale", "drawn"], "budget": None})
    ['--quick', '--seed', '1', '--only', 'stale,drawn']
    """
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False or (isinstance(value, (list, tuple)) and not value):
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return words

"""Arrays of NumPy as tensors of PyTorch and back, bits unchanged."""
from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._call import Array, Call

torch: Any = importlib.import_module("torch")

_DEFAULT_THREADS: int = torch.get_num_threads()


def use_threads(call: Call) -> None:
    """The number of threads that the call asks for, or the library's own choice."""
    torch.set_num_threads(call.threads or _DEFAULT_THREADS)


def tensor(array: Array | None, device: str | None = None) -> Any:
    """A tensor of these values; on the host it shares the array's memory. None stays None."""
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    if not array.flags.writeable:
        array = array.copy()
    if array.dtype.name == "bfloat16":
        made = torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    else:
        made = torch.from_numpy(array)
    return made if device is None else made.to(device)


def tensors(call: Call, device: str | None = None) -> dict[str, Any]:
    """q, k, v and the bias, which is not there where the call has none."""
    return {role: tensor(x, device) for role in ("q", "k", "v", "bias") if (x := getattr(call, role)) is not None}


def array(given: Any) -> Array:
    """A tensor's values on the host; bfloat16 is ml_dtypes'."""
    host = given.detach().cpu().contiguous()
    if host.dtype == torch.bfloat16:
        bfloat16 = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        return np.asarray(host.view(torch.uint16).numpy()).view(bfloat16)
    return np.asarray(host.numpy())

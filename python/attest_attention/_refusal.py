"""Which exceptions may say that a kernel does not take a call: many state their domain by asserts and errors."""
from __future__ import annotations

import re
import sys

# What a library says when it broke, or cannot run at all: of the machine and the installation, not of the call.
_FAILURE = re.compile(
    r"out of memory|bad_alloc|illegal (memory|instruction|address)|hipErrorIllegalAddress|misaligned address"
    r"|unspecified launch failure|device-side assert|(CUDA|HIP) error: an|invalid configuration argument"
    r"|invalid argument\b|no kernel image|_STATUS_(EXECUTION_FAILED|INTERNAL_ERROR|ALLOC_FAILED)"
    r"|PTXAS error|Error building extension|nvcc fatal|cannot open shared object|No module named|is not detected", re.I)
# What a library says of shapes that the kernel's own arithmetic made.
_FAULT = re.compile(r"is invalid for input of size|cannot reshape array|total size must be the same", re.I)
# What libraries say of sizes, types, forms and features that they do not take.
_REFUSAL = re.compile(
    r"\b(must|should|shall|only|expect(s|ed)?|requires?|unsupported|mismatch|invalid|divisible|multiple|at most)\b"
    r"|no larger|\bsupport(s|ed)?\b|not implemented|\bNYI\b|incompatible|NotSupported|NOT_SUPPORTED|INVALID_ARGUMENT"
    r"|can ?not be (larger|set)|no (available|fused|forward)? ?kernel|no (operator found|viable backend)"
    r"|no valid \w+ config|no execution plans|power.of.2|out of resource"
    r"|greater than or equal|smaller or equal|M >=", re.I)
_STATED = (ValueError, TypeError, NotImplementedError)
_NEVER = (MemoryError, RecursionError, SystemError, ImportError)
_LIBRARIES = frozenset({"numpy", "torch", "jax", "jaxlib", "triton", "tensorflow"}) | sys.stdlib_module_names


def _raised_by_kernel(why: BaseException) -> bool:
    """Whether the last frame belongs to the callable, not to a library that it calls. attest's frames do not count."""
    own = __name__.partition(".")[0]
    packages, step = [], why.__traceback__
    while step is not None:
        frame = step.tb_frame
        name = str(frame.f_globals.get("__name__") or frame.f_code.co_filename)
        if not (name.startswith(own + ".") and not name.startswith(own + ".adapters")):
            packages.append(name.partition(".")[0])
        step = step.tb_next
    return bool(packages) and (packages[-1] == packages[0] or packages[-1] not in _LIBRARIES)


def may_be_refusal(why: BaseException, text: str, *, empty: bool = False) -> bool:
    """Whether the exception, whose message is `text`, may say that the call is outside of what its kernel takes.

    A ValueError or a TypeError may, and an AssertionError whose last frame is in the kernel's own files. Any other
    exception may if its text speaks of a limit, or if the call is `empty`, one of its sizes being 0. A fault of the
    device, memory that is used up and an error of the installation are no refusals.
    """
    said = f"{type(why).__name__}: {text}"
    if not isinstance(why, Exception) or isinstance(why, _NEVER) or _FAILURE.search(said):
        return False
    if empty:
        return True
    if _FAULT.search(said):
        return False
    if isinstance(why, _STATED):
        return True
    if isinstance(why, AssertionError) and _raised_by_kernel(why):
        return True
    return bool(_REFUSAL.search(said))

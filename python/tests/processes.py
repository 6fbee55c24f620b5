"""Other processes, as tests look at them."""
from __future__ import annotations

import signal
import time
from pathlib import Path


def wait_for_handler(process: int, of: signal.Signals = signal.SIGTERM) -> None:
    """Returns once the process handles this signal: an earlier signal ends it without a word."""
    for _ in range(600):
        status = Path(f"/proc/{process}/status").read_text()
        caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), 16)
        if caught >> (of - 1) & 1:
            return
        time.sleep(0.05)
    raise TimeoutError(f"process {process} does not handle {of.name} after 30 s")

"""Worker processes that do not outlive the process that started them."""

import os
import time
from functools import cache
from threading import Thread

__all__ = ["end_with_parent"]

# Seconds between two looks at the parent process.
GAP = 0.5


@cache
def end_with_parent(parent: int) -> None:
    """Let this worker end soon after the process `parent`; call it in the worker, once or often.

    A parent that is killed by ``kill -9`` cannot end its workers, and the workers of joblib would
    wait five minutes for work. On Windows the number of the parent never changes: workers wait.
    """
    Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(GAP)
    os._exit(1)

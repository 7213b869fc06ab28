"""Between the memory of the host and the memory of the card."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import torch

from mvdfq._engines.choice import current_engine

# Arrays of these sizes pass through pinned memory, which a card reads five times faster. Pinned
# memory cannot be swapped out, so larger arrays do without; small arrays are there sooner without.
LEAST_PINNED, MOST_PINNED = 2**16, 2**28
# Share of the free memory of a card to plan with: torch keeps some blocks of its own.
SHARE = 0.7
# Bytes to plan with where torch runs on the processor.
HOST_BYTES = 2**30
# Switches of torch that trade digits for time.
SHORT_CUTS = ("allow_tf32", "allow_fp16_reduced_precision_reduction")
_LOCK, _USERS, _BEFORE = Lock(), [], []  # type: tuple[Lock, list[None], list[bool]]
_SENDING = Lock()


def to_device(array: Any, device: str) -> torch.Tensor:
    """Copy an array to the card; a tensor is there already.

    Torch has few unsigned types, so uint16 becomes int32.
    """
    if isinstance(array, torch.Tensor):
        return array.to(device)
    array = np.asarray(array)
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        array = array.astype(np.int32 if array.dtype.itemsize == 2 else np.int64)
    if not array.flags.writeable:  # torch warns of arrays that cannot be written to
        array = array.copy()
    tensor = torch.from_numpy(array)
    if device == "cpu" or not LEAST_PINNED <= array.nbytes <= MOST_PINNED:
        return tensor.to(device).contiguous()
    # torch copies in threads
    pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return pinned.copy_(tensor).to(device, non_blocking=True)


def sent_once(array: Any, device: str) -> torch.Tensor:
    """Return an array on the card; it is sent once in one call of an estimator. Tensors are there.

    Nobody changes the array during the call. What was sent earlier gives way if the card has no
    room for both.
    """
    if isinstance(array, torch.Tensor):
        return array.to(device)
    sent = current_engine().sent
    with _SENDING:  # several threads may ask for the same array
        if id(array) not in sent:
            if sum(tensor.nbytes for _, tensor in sent.values()) + array.nbytes > most_kept(device):
                sent.clear()
            # the array itself is kept, too: no other array gets its identity
            sent[id(array)] = array, to_device(array, device)
        return sent[id(array)][1]


def most_kept(device: str) -> int:
    """Return the bytes that `sent_once` keeps on the card at most."""
    return budget(device, None) // 8


def to_host(tensor: torch.Tensor) -> np.ndarray:
    """Copy a tensor to the host and wait for the copy."""
    if tensor.device.type == "cpu":
        return tensor.numpy()
    if not LEAST_PINNED <= tensor.nbytes <= MOST_PINNED:
        return tensor.cpu().numpy()
    pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    pinned.copy_(tensor, non_blocking=True)
    torch.cuda.synchronize(tensor.device)
    return pinned.numpy()


def budget(device: str, limit: int | None) -> int:
    """Return the bytes of the card to plan with: a share of what is free, at most `limit`."""
    room = HOST_BYTES
    if device != "cpu":
        free, _ = torch.cuda.mem_get_info(device)
        # blocks that torch holds, but does not use, are free as well
        held = torch.cuda.memory_stats_as_nested_dict(device)
        idle = held["reserved_bytes"]["all"]["current"] - held["allocated_bytes"]["all"]["current"]
        room = int((free + idle) * SHARE)
    return room if limit is None else min(room, limit)


@contextmanager
def full_precision() -> Iterator[None]:
    """Switch off the short cuts of matrix products that a program may have switched on.

    The switches belong to the whole process: the first of several threads sets them, the last one
    sets them back.
    """
    with _LOCK:
        if not _USERS:
            _BEFORE[:] = [getattr(torch.backends.cuda.matmul, name) for name in SHORT_CUTS]
        _USERS.append(None)
        for name in SHORT_CUTS:
            setattr(torch.backends.cuda.matmul, name, False)
    try:
        yield
    finally:
        with _LOCK:
            _USERS.pop()
            for name, before in zip(SHORT_CUTS, _BEFORE, strict=True):
                if not _USERS:
                    setattr(torch.backends.cuda.matmul, name, before)

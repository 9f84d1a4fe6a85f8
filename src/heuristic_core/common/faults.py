"""Advice on errors of the machine rather than the program: no space, no permission, no memory."""

import errno

MEMORY_ADVICE = (
    "memory ran out. Run fewer jobs at once with fewer --cores, or reduce prune.together, prune.batch_size or "
    "finetune.pass_tokens (if unset, a batch is one pass)"
)
SPACE_ADVICE = "there is no space left. Free some, then run the same command: finished results are kept"
PERMISSION_ADVICE = "no permission to write. Grant it, or set `results` to another folder, then run the same command"
_ADVICE_BY_NUMBER = {
    errno.ENOSPC: SPACE_ADVICE,
    errno.EDQUOT: SPACE_ADVICE,
    errno.EROFS: PERMISSION_ADVICE,
    errno.EACCES: PERMISSION_ADVICE,
    errno.EPERM: PERMISSION_ADVICE,
    errno.ENOMEM: MEMORY_ADVICE,
}
# Texts in errors without a number. torch has no class for lack of CPU memory.
_ADVICE_BY_TEXT = {
    "No space left on device": SPACE_ADVICE,
    "Disk quota exceeded": SPACE_ADVICE,
    "Read-only file system": PERMISSION_ADVICE,
    "DefaultCPUAllocator: can't allocate memory": MEMORY_ADVICE,
    "CUDA out of memory": MEMORY_ADVICE,
    "CUDA error: out of memory": MEMORY_ADVICE,
    "std::bad_alloc": MEMORY_ADVICE,
    "Cannot allocate memory": MEMORY_ADVICE,
}


def find_remedy(error: BaseException) -> str | None:
    """Return what to do about `error`; None if it is not an error of the machine."""
    if isinstance(error, MemoryError):
        return MEMORY_ADVICE
    if isinstance(error, OSError) and error.errno in _ADVICE_BY_NUMBER:
        return _ADVICE_BY_NUMBER[error.errno]
    return next((advice for text, advice in _ADVICE_BY_TEXT.items() if text in str(error)), None)

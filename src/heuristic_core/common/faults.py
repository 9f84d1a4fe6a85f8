"""Advice on errors of the machine rather than the program: no space, no permission, no memory."""

import errno

MEMORY = (
    "memory ran out. Fewer --cores run fewer jobs at once; a lower prune.together, prune.batch_size or "
    "finetune.pass_tokens (unset, a whole batch goes in one pass) makes jobs smaller"
)
SPACE = "there is no space left. Make room, then run the same command: what is finished stays"
DENIED = "this user may not write there. Change that, or let `results` name another folder, then run the same command"
REMEDIES = {
    errno.ENOSPC: SPACE,
    errno.EDQUOT: SPACE,
    errno.EROFS: DENIED,
    errno.EACCES: DENIED,
    errno.EPERM: DENIED,
    errno.ENOMEM: MEMORY,
}
# What libraries that keep no error number say. torch names no class for a processor's memory.
WORDS = {
    "No space left on device": SPACE,
    "Disk quota exceeded": SPACE,
    "Read-only file system": DENIED,
    "DefaultCPUAllocator: can't allocate memory": MEMORY,
    "CUDA out of memory": MEMORY,
    "CUDA error: out of memory": MEMORY,
    "std::bad_alloc": MEMORY,
    "Cannot allocate memory": MEMORY,
}


def remedy(error: BaseException) -> str | None:
    """Return what to do about `error`; None if it is not an error of the machine."""
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, OSError) and error.errno in REMEDIES:
        return REMEDIES[error.errno]
    return next((advice for words, advice in WORDS.items() if words in str(error)), None)

"""What the environment says of connections, where the hub's client cannot even be made of it."""

import contextlib
import os
import re
from collections.abc import Iterator

from heuristic_core.common.errors import InputError

PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@contextlib.contextmanager
def checked_connection() -> Iterator[None]:
    """Raise InputError that names the variables at fault, if what fails within it fails for want of a client.

    What needs no connection needs no client.
    """
    try:
        yield
    except Exception:
        if message := _fault():
            raise InputError(message) from None
        raise


def _fault() -> str | None:
    """Why there can be no client with these variables; None where there is one."""
    error = _error()
    if error is None:
        return None
    names = [name for name in os.environ if name.upper() in PROXIES or name in CERTIFICATES]
    invalid = [name for name in names if _error(without=name) is None] or names
    assignments = ", ".join(f"{name}={_public(os.environ[name])!r}" for name in invalid)
    if isinstance(error, ImportError):
        remedy = (
            f"unset {' and '.join(invalid)}, name an HTTP proxy, or install the package socksio: pip install socksio"
        )
    else:
        remedy = f"correct or unset {' and '.join(invalid)}"
    return f"{assignments}: nothing can be downloaded with it ({type(error).__name__}: {_public(str(error))}); {remedy}"


def _error(without: str | None = None) -> Exception | None:
    """What making a client raises, with all variables or `without` one of them."""
    from huggingface_hub.utils import close_session, get_session

    removed = {without: os.environ.pop(without)} if without else {}
    try:
        close_session()
        get_session()
    except Exception as error:
        return error
    finally:
        os.environ.update(removed)
        close_session()
    return None


def _public(text: str) -> str:
    """The same without users and passwords of addresses."""
    return re.sub(r"[^/@\s'\"]+@", "", text)

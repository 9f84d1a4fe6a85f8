"""Errors in environment variables of proxies and certificates, with which the hub's HTTP client cannot be made."""

import contextlib
import os
import re
from collections.abc import Iterator

from heuristic_core.common.errors import InputError

_PROXY_VARIABLES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@contextlib.contextmanager
def explain_connection_errors() -> Iterator[None]:
    """Replace an error of the block if invalid environment variables caused it.

    The variables are tested only after an error, since cached files need no client.

    Raises:
        InputError: If the HTTP client cannot be made; the message names the variables.
    """
    try:
        yield
    except Exception:
        if message := _diagnose():
            raise InputError(message) from None
        raise


def _diagnose() -> str | None:
    """Return which variables prevent an HTTP client, and a remedy; None if it can be made."""
    error = _try_client()
    if error is None:
        return None
    names = [name for name in os.environ if name.upper() in _PROXY_VARIABLES or name in _CERTIFICATE_VARIABLES]
    invalid = [name for name in names if _try_client(without=name) is None] or names
    assignments = ", ".join(f"{name}={_redact(os.environ[name])!r}" for name in invalid)
    if isinstance(error, ImportError):
        remedy = (
            f"unset {' and '.join(invalid)}, name an HTTP proxy, or install the package socksio: pip install socksio"
        )
    else:
        remedy = f"correct or unset {' and '.join(invalid)}"
    return f"{assignments}: nothing can be downloaded with it ({type(error).__name__}: {_redact(str(error))}); {remedy}"


def _try_client(without: str | None = None) -> Exception | None:
    """Return the error of making an HTTP client, with all environment variables or `without` one of them."""
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


def _redact(text: str) -> str:
    """Remove users and passwords of addresses from a text."""
    return re.sub(r"[^/@\s'\"]+@", "", text)

"""What a connection over TLS trusts and shows, from files of certificates."""

import ssl

from schemas.errors import InvalidSetting


def context_of(ca: str, certificate: str, key_file: str, setting: str) -> ssl.SSLContext:
    """The context; without `ca` the machine's own authorities are trusted, without `certificate` nothing is shown.

    Raises InvalidSetting, which names the setting, for a file that cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=ca or None)
        if certificate:
            context.load_cert_chain(certificate, key_file or None)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(filter(None, (ca, certificate, key_file)))
        raise InvalidSetting(f"{setting}: cannot use {files} ({error.strerror or error})") from error
    return context

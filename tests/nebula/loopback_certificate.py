"""A certificate for 127.0.0.1 that signs itself, made by openssl for the tests that need TLS."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> Path:
    """A PEM file with key and certificate, good for two days; clients may trust the very file."""
    key, made = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, capture_output=True, check=True)
    both = folder / "server.pem"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both

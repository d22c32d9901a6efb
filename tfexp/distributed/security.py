"""Who may talk to a server, and how much at once: a shared token, TLS, the size of messages.

The settings of a process come from its environment, or from the `security` of its `tf.train.Server`:

    TFEXP_TOKEN              what every call has to bring (or TFEXP_TOKEN_FILE, a file with it)
    TFEXP_TLS_CERT, _KEY     this task's certificate and private key (PEM files); a server with them speaks TLS alone
    TFEXP_TLS_CA             the certificates of whoever signed the peers' (PEM file); a client with it speaks TLS
    TFEXP_TLS_MUTUAL=1       a server wants a certificate of its clients too, signed by that CA
    TFEXP_MAX_MESSAGE_BYTES  the largest message sent or taken (default: protobuf's limit, 2 GiB)
    TFEXP_LANES=off          gRPC alone, also between tasks of one machine (`lane`)

Tasks that serve and ask each other over TLS take a certificate, its key and the CA. Without TLS a token keeps out those
who can reach the port, but not those who can listen on the network. TensorFlow's own tasks and clients know neither.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tfexp.core.errors import InvalidArgumentError, ResourceExhaustedError

# Protobuf cannot say more in a message.
_PROTOBUF_LIMIT = (1 << 31) - 1
_METADATA = "authorization"
_SHORTEST = 4096  # a limit below that would refuse what every session needs


@dataclass(frozen=True)
class Security:
    """The settings of one task or client. Files are named here and read when they are needed."""

    token: str = field(default="", repr=False)
    certificate: str = ""
    key: str = ""
    authority: str = ""
    mutual: bool = False
    max_message_bytes: int = _PROTOBUF_LIMIT
    lanes: bool = True

    def __post_init__(self) -> None:
        if bool(self.certificate) != bool(self.key):
            raise InvalidArgumentError(None, None, "TLS takes a certificate and its key; one of the two is missing")
        if self.mutual and not (self.certificate and self.authority):
            raise InvalidArgumentError(None, None, "Mutual TLS takes a certificate, its key and the CA of the others")
        if not _SHORTEST <= self.max_message_bytes <= _PROTOBUF_LIMIT:
            raise InvalidArgumentError(
                None,
                None,
                f"The largest message is {self.max_message_bytes} bytes; it has to be from {_SHORTEST} to {_PROTOBUF_LIMIT}",
            )
        if not self.token.isascii() or not self.token.isprintable():
            raise InvalidArgumentError(None, None, "The shared token has to be of printable ASCII characters")

    @staticmethod
    def from_environment(environment: Mapping[str, str] | None = None) -> Security:
        """What the variables above say. InvalidArgumentError for what makes no sense, with the variable's name."""
        variables = os.environ if environment is None else environment
        token = variables.get("TFEXP_TOKEN", "")
        if not token and variables.get("TFEXP_TOKEN_FILE"):
            token = _read(variables["TFEXP_TOKEN_FILE"], "TFEXP_TOKEN_FILE").decode("ascii", "replace").strip()
        limit = variables.get("TFEXP_MAX_MESSAGE_BYTES", "") or str(_PROTOBUF_LIMIT)
        if not limit.isdecimal():
            raise InvalidArgumentError(None, None, f"TFEXP_MAX_MESSAGE_BYTES is {limit!r}, not a number of bytes")
        return Security(
            token,
            variables.get("TFEXP_TLS_CERT", ""),
            variables.get("TFEXP_TLS_KEY", ""),
            variables.get("TFEXP_TLS_CA", ""),
            variables.get("TFEXP_TLS_MUTUAL", "") not in ("", "0"),
            int(limit),
            variables.get("TFEXP_LANES", "on") != "off",
        )

    @property
    def open_to_all(self) -> bool:
        """Whether whoever reaches the port is served."""
        return not self.token and not self.mutual

    def admits(self, metadata: Any) -> bool:
        """Whether a call with this metadata brings the token. Takes as long whatever it brings."""
        if not self.token:
            return True
        brought = next((value for key, value in metadata if key == _METADATA), "")
        given = brought if isinstance(brought, bytes) else brought.encode()
        return hmac.compare_digest(given, f"Bearer {self.token}".encode())

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes along with every call."""
        return ((_METADATA, f"Bearer {self.token}"),) if self.token else ()

    def client_credentials(self, grpc: Any) -> Any:
        """gRPC's credentials for a channel; None for one without TLS."""
        if not self.authority:
            return None
        key = _read(self.key, "the TLS key") if self.key else None
        certificate = _read(self.certificate, "the TLS certificate") if self.certificate else None
        return grpc.ssl_channel_credentials(_read(self.authority, "the TLS CA"), key, certificate)

    def server_credentials(self, grpc: Any) -> Any:
        """gRPC's credentials for a server; None for one without TLS."""
        if not self.certificate:
            return None
        pair = (_read(self.key, "the TLS key"), _read(self.certificate, "the TLS certificate"))
        authority = _read(self.authority, "the TLS CA") if self.mutual else None
        return grpc.ssl_server_credentials([pair], authority, self.mutual)

    def no_more_than(self, limit: int) -> Security:
        """The same, for messages to a peer that takes so many bytes."""
        return replace(self, max_message_bytes=max(_SHORTEST, min(limit, self.max_message_bytes)))

    def check_size(self, size: int, what: str) -> None:
        """ResourceExhaustedError for a message that is too large."""
        if size > self.max_message_bytes:
            raise ResourceExhaustedError(
                None,
                None,
                f"{what} has {size} bytes; the largest allowed is {self.max_message_bytes} (TFEXP_MAX_MESSAGE_BYTES)",
            )


def _read(path: str, what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidArgumentError(None, None, f"{what} cannot be read: {error}") from None

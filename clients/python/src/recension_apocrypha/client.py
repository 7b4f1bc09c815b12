"""The client: words in frames, counted in bytes; one connection for each thread that uses it."""

from __future__ import annotations

import datetime
import json
import socket
import ssl
import struct
import threading
from types import TracebackType
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Type, Union

Json = Any

_HEAD = struct.Struct(">I")
# Replies of the server are shorter; a longer one is no reply.
_REPLY_BYTES_MAX = 128 * 1024 * 1024
_APPLY_ATTEMPTS = 1000
_CHANGED = "error: changed meanwhile"


class DatabaseError(Exception):
    """What the server refused, or what was wrong with the connection to it."""


class Revision(NamedTuple):
    """What was at a path, and since which commit."""

    seq: int
    time: datetime.datetime
    value: Json
    """``None`` where there was nothing."""
    exists: bool


class _Reader:
    """The methods that read."""

    def query(self, keys: Sequence[str], interpret: bool = False) -> Any:
        raise NotImplementedError

    def get(self, *keys: str, default: Any = None, cast: Optional[Callable[[Any], Any]] = None) -> Any:
        """The value at a path; ``default`` where it is missing or empty."""
        result = self.query([*keys, "--edit"], interpret=True)
        if not result:
            return default
        if cast is None:
            return result
        try:
            return cast(result if isinstance(result, (list, dict)) else [result])
        except (TypeError, ValueError):
            name = getattr(cast, "__name__", str(cast))
            raise DatabaseError(f"error: cast {name} is not applicable to {type(result)}") from None

    def keys(self, *keys: str) -> List[str]:
        """The names of the members at a path, in order."""
        result: List[str] = self.query([*keys, "--keys"])
        return result

    def search(self, value: str) -> List[str]:
        """Where a string stands, as a key or as a value: lines ``path = value``."""
        result: List[str] = self.query(["@", value])
        return result


class Client(_Reader):
    """A client of a server of Apocrypha. It connects when it is first used, and again where the connection was lost."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9999,
        *,
        unix_socket: Optional[str] = None,
        token: Optional[str] = None,
        tls: Union[bool, ssl.SSLContext] = False,
        timeout: Optional[float] = 60.0,
    ) -> None:
        self.host = host
        self.port = port
        self._unix_socket = unix_socket
        self._token = token
        self._tls = ssl.create_default_context() if tls is True else (tls or None)
        self._timeout = timeout
        self._own = threading.local()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection of this thread; the next query makes another."""
        connection: Optional[socket.socket] = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            connection.close()

    def query(self, keys: Sequence[str], interpret: bool = False) -> Any:
        """Says words and answers the lines of the reply that are not empty, or the JSON that it is.

        :raises DatabaseError: with the server's text, which begins with ``error: ``.
        """
        words = list(keys)
        if interpret and (not words or words[-1] not in ("-e", "--edit")):
            words.append("--edit")
        for word in words:
            if "\n" in word:
                raise DatabaseError(f"error: a word cannot have a newline in it: {word!r}")
        reply = self._exchange("\n".join(words).encode("utf-8"))
        if reply.startswith("error: "):
            raise DatabaseError(reply.rstrip("\n"))
        if interpret:
            return json.loads(reply) if reply.strip() else None
        return [line for line in reply.split("\n") if line]

    def delete(self, *keys: str) -> None:
        """Takes a value away."""
        self.query([*keys, "--del"])

    def pop(self, *keys: str, cast: Optional[Callable[[str], Any]] = None) -> Any:
        """Takes an element of an array, or a string, away and answers its first line; which element, the dialect says."""
        lines: List[str] = self.query([*keys, "--pop"])
        if not lines:
            return None
        try:
            return cast(lines[0]) if cast else lines[0]
        except ValueError:
            name = getattr(cast, "__name__", str(cast))
            raise DatabaseError(f"error: cast {name} is not applicable to {lines[0]!r}") from None

    def append(self, *keys: str, value: Union[str, Sequence[str]]) -> None:
        """Adds to an array; a string becomes one."""
        self.query([*keys, "+", *_strings(value)])

    def remove(self, *keys: str, value: Union[str, Sequence[str]]) -> None:
        """Takes values out of an array."""
        self.query([*keys, "-", *_strings(value)])

    def set(self, *keys: str, value: Json) -> None:
        """Writes JSON."""
        self.query([*keys, "--set", _json(value)])

    def apply(self, *keys: str, func: Callable[[Any], Json]) -> None:
        """Writes what ``func`` makes of the value at a path (``None`` where there is none). Where somebody else writes
        meanwhile it is run again on what is there then, so that nothing is lost.
        """
        if not keys:
            raise DatabaseError("error: apply needs a key")
        for _ in range(_APPLY_ATTEMPTS):
            before = self.query([*keys, "--edit"], interpret=True)
            after = func(before if before else None)
            try:
                self.query(["--if", _json(before if before is not None else {}), *keys, "--set", _json(after)])
                return
            except DatabaseError as error:
                if str(error) != _CHANGED:
                    raise
        raise DatabaseError(f"error: others were faster {_APPLY_ATTEMPTS} times")

    def history(self, *keys: str) -> List[Revision]:
        """What was at a path, newest first."""
        lines: List[str] = self.query(["--history", *keys])
        return [_revision(line) for line in lines]

    def at(self, moment: Union[str, int]) -> At:
        """The database as it was: after a commit (a number), at a time, or an age ago (``10m``)."""
        return At(self, f"seq:{moment}" if isinstance(moment, int) else moment)

    def flush(self) -> None:
        """Returns when all that was answered is durable."""
        self.query(["--flush"])

    def _exchange(self, payload: bytes) -> str:
        connection: Optional[socket.socket] = getattr(self._own, "connection", None)
        if connection is not None:
            try:
                return self._ask(connection, payload)
            except _Closed:
                # It was closed before a byte of a reply came, as a server does that was started anew. What was said
                # may have been done: only what can be said twice is.
                self.close()
                if not _repeatable(payload):
                    raise DatabaseError("error: the connection was lost; it is not known whether it was done") from None
        connection = self._connect()
        self._own.connection = connection
        try:
            return self._ask(connection, payload)
        except _Closed:
            self.close()
            raise DatabaseError("error: the server closed the connection") from None

    def _ask(self, connection: socket.socket, payload: bytes) -> str:
        try:
            connection.sendall(_HEAD.pack(len(payload)) + payload)
            (length,) = _HEAD.unpack(_receive(connection, _HEAD.size))
            if length > _REPLY_BYTES_MAX:
                raise DatabaseError(f"error: the reply announces {length} bytes")
            return _receive(connection, length).decode("utf-8")
        except (ConnectionError, _Closed):
            raise _Closed from None
        except (OSError, UnicodeDecodeError, DatabaseError) as error:
            # What is left of the reply would be taken for the next one.
            self.close()
            if isinstance(error, DatabaseError):
                raise
            raise DatabaseError(f"error: {error}") from error

    def _connect(self) -> socket.socket:
        try:
            if self._unix_socket is not None:
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.settimeout(self._timeout)
                connection.connect(self._unix_socket)
            else:
                connection = socket.create_connection((self.host, self.port), timeout=self._timeout)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_hostname=self.host)
        except OSError as error:
            raise DatabaseError(f"error: no server answers: {error}") from error
        if self._token is not None:
            reply = self._ask(connection, b"--token\n" + self._token.encode("utf-8"))
            if reply:
                connection.close()
                raise DatabaseError(reply.rstrip("\n"))
        return connection


class At(_Reader):
    """A database as it was at a moment; it is read only."""

    def __init__(self, client: Client, moment: str) -> None:
        self._client = client
        self.moment = moment

    def query(self, keys: Sequence[str], interpret: bool = False) -> Any:
        return self._client.query(["--at", self.moment, *keys], interpret)


class _Closed(Exception):
    pass


def _receive(connection: socket.socket, length: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        piece = connection.recv(min(length - len(pieces), 1 << 20))
        if not piece:
            raise _Closed
        pieces += piece
    return bytes(pieces)


def _repeatable(payload: bytes) -> bool:
    return not any(word in (b"+", b"-", b"--pop", b"-p", b"--if") for word in payload.split(b"\n"))


def _strings(value: Union[str, Sequence[str]]) -> List[str]:
    values = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(item, str) for item in values):
        raise DatabaseError(f"error: {value!r} is not a str or list of str")
    return values


def _json(value: Json) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise DatabaseError("error: value is not JSON serializable") from None


def _revision(line: str) -> Revision:
    seq, time, text = line.split(" ", 2)
    moment = datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))
    exists = text != "-"
    return Revision(int(seq), moment, json.loads(text) if exists else None, exists)

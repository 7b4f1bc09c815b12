"""Hostile HTTP/1.1 and HTTP/2: the server refuses or answers, stays alive, small and quick for others."""

import struct
import time

from harness import AUTHORIZATION, Server, load

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
AUTH = f"Authorization: {AUTHORIZATION}\r\n".encode()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def http1(chance):
    """Requests of HTTP/1.1 that no honest client makes."""
    yield "both lengths", b"POST /m HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    yield "two lengths", b"POST /m HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"
    yield "negative length", b"POST /m HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"
    yield "huge length", b"POST /m/_bulk_docs HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Content-Length: 99999999999999\r\n\r\n{"
    yield "huge chunk", b"POST /m HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"
    yield "odd coding", b"POST /m HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"
    yield "folded header", b"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n"
    yield "space before colon", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n"
    yield "bare carriage returns", b"GET / HTTP/1.1\rHost: x\r\r"
    yield "endless header", b"GET / HTTP/1.1\r\nX: " + b"a" * 3_000_000
    yield "many headers", b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: a\r\n" % n for n in range(20000)) + b"\r\n"
    yield "long target", b"GET /" + b"a" * 3_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "zero in target", b"GET /m/%00 HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n"
    yield "path upwards", b"GET /m/../../_users/_all_docs HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "coded slashes", b"GET /m%2f..%2f_users HTTP/1.1\r\nHost: x\r\n\r\n"
    yield "deep JSON", b"POST /m HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Content-Type: application/json\r\nContent-Length: 2000000\r\n\r\n" + b"[" * 2_000_000
    yield "half a request", b"POST /m HTTP/1.1\r\nHost: x\r\nContent-Le"
    yield "gzip that is none", b"POST /m HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"
    for number in range(20):
        yield f"noise {number}", chance.randbytes(chance.randrange(1, 4000))


def http2(chance):
    """Frames of HTTP/2 that flood, break rules or never end."""
    settings = PREFACE + frame(4, 0, 0)
    get = b"\x82\x86\x84\x41\x01x"
    yield "settings flood", settings + frame(4, 0, 0) * 100_000
    yield "ping flood", settings + frame(6, 0, 0, bytes(8)) * 100_000
    yield "rapid reset", settings + b"".join(
        frame(1, 5, 2 * n + 1, get) + frame(3, 0, 2 * n + 1, bytes([0, 0, 0, 8])) for n in range(20_000)
    )
    yield "endless continuation", settings + frame(1, 1, 1, get) + frame(9, 0, 1, b"\x00\x01a\x01b" * 2000) * 2000
    yield "zero window", settings + frame(4, 0, 0, struct.pack(">HI", 4, 0)) + b"".join(
        frame(1, 5, 2 * n + 1, get) for n in range(100)
    )
    yield "window overflow", settings + frame(8, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 3
    yield "frame too long", settings + struct.pack(">I", 0xFFFFFF)[1:] + b"\0\0" + struct.pack(">I", 1)
    yield "header bomb", settings + frame(1, 5, 1, get + b"\x40\x01a\x7f\xff\x7f" + b"b" * 16000 + b"\xbe" * 300)
    yield "priority on itself", settings + frame(2, 0, 1, struct.pack(">IB", 1, 0)) * 1000
    yield "data on no stream", settings + frame(0, 0, 0, b"abc")
    for number in range(20):
        payload = chance.randbytes(chance.randrange(0, 200))
        yield f"odd frame {number}", settings + frame(chance.randrange(256), chance.randrange(256), chance.randrange(9), payload)


def send(server, data):
    """Sends it, and reads what comes within half a second, or until the server ends the connection."""
    connection = server.raw(timeout=0.5)
    try:
        connection.sendall(data)
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline and connection.recv(65536):
            pass
    except OSError:
        pass
    finally:
        connection.close()


def attack(context):
    chance = context.random("hostile")
    failures, tries = [], 0
    with Server(context, context.folder / "hostile.store") as server:
        load(server, "m", 1000)
        for turn in range(context.rounds(1, 10)):
            for name, data in [*http1(chance), *http2(chance)]:
                tries += 1
                send(server, data)
                where = f"{name} (seed {context.seed}, turn {turn})"
                if not server.alive():
                    yield tries, [*failures, f"{where}: the server ended"]
                    return
                before = time.monotonic()
                status, _ = server.get("/m/d0000001")
                if status != 200 or time.monotonic() - before > 5:
                    failures.append(f"{where}: afterwards a healthy GET got {status}")
        memory = server.memory_mib()
        if memory > 300:
            failures.append(f"{memory:.0f} MiB of memory after all of it")
        log = open(server.log.name, errors="replace").read()
        if "panicked" in log:
            failures.append(f"a panic: {log[log.index('panicked'):][:300]}")
    yield tries, failures

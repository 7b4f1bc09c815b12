"""Clients that do not read, or do not end: memory stays bounded and comes back, and others are answered."""

import base64
import multiprocessing
import os
import threading
import time

from harness import AUTHORIZATION, Server

MEMORY_MIB = 300
GET_P99_MS = 20
PUT_P99_MS = 100
RETURNED_SECONDS = 10
# What a server may keep of what it had: caches, and what its allocator has not returned yet.
KEPT_MIB = 100


class Healthy:
    """A client that reads and writes one document again and again, in a process of its own, and keeps the times."""

    def __init__(self, server):
        fork = multiprocessing.get_context("fork")
        self.ours, theirs = fork.Pipe()
        self.process = fork.Process(target=self.run, args=(server, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def run(server, stop):
        gets, puts, failed, connection = [], [], 0, server.connection(timeout=120)
        number = 0
        while not stop.poll(0.02):
            number += 1
            for times, method, path, body in (
                (gets, "GET", "/healthy/a", None),
                (puts, "PUT", f"/healthy/p{os.getpid()}-{number}", {"n": number}),
            ):
                before = time.perf_counter()
                status, _ = server.request(method, path, body, connection=connection)
                times.append((time.perf_counter() - before) * 1000)
                failed += status not in (200, 201)
        stop.send((gets, puts, failed))

    def end(self):
        self.ours.send("stop")
        gets, puts, failed = self.ours.recv()
        self.process.join()
        return p99(gets), p99(puts), failed


def p99(times):
    times = sorted(times)
    return times[int(len(times) * 0.99)] if times else 0.0


def send(connection, data):
    """Sends what the server takes; who is cut off has what it deserves."""
    try:
        connection.sendall(data)
    except OSError:
        pass


def head(method, path, more="", body=b""):
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    kind = "Content-Type: application/json\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {AUTHORIZATION}\r\n{kind}{length}{more}\r\n".encode() + body


def at_once(count, ask):
    """Calls `ask` with a number in as many threads; answers what they return."""
    found, threads = [None] * count, []
    for number in range(count):
        thread = threading.Thread(target=lambda n=number: found.__setitem__(n, ask(n)), daemon=True)
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join(120)
    return found


def raw(server, count, data, timeout=60):
    """Connections on which something is sent and nothing is read."""

    def one(_):
        connection = server.raw(timeout=timeout)
        send(connection, data)
        return connection

    return at_once(count, one)


def unread_feeds(context, server):
    """Continuous feeds with long documents, nothing read."""
    server.request("PUT", "/f")
    held = raw(server, context.rounds(100, 500), head("GET", "/f/_changes?feed=continuous&include_docs=true&since=now"))
    time.sleep(context.rounds(1, 3))
    for number in range(4):
        server.request("PUT", f"/f/long{number}", {"text": "x" * context.rounds(300_000, 1_000_000)})
    return held


def many_ids(context, server):
    """Bodies with very many ids and keys."""
    ids = context.rounds(100_000, 1_000_000)
    bulk = b'{"docs":[' + b",".join(b'{"id":"d%d"}' % number for number in range(ids)) + b"]}"
    keys = b'{"keys":[' + b",".join(b'"%d"' % number for number in range(4 * ids)) + b"]}"
    held = raw(server, 10, head("POST", "/healthy/_bulk_get", body=bulk), timeout=120)
    return held + raw(server, 10, head("POST", "/healthy/_all_docs", body=keys), timeout=120)


def long_bodies(context, server):
    """Long bodies, of clients that are known and that are not."""
    size = context.rounds(20_000_000, 50_000_000)
    body = b'{"text":"' + b"x" * (size - 11) + b'"}'
    known = head("PUT", "/healthy/long", body=body)
    unknown = known.replace(b"Authorization: " + AUTHORIZATION.encode() + b"\r\n", b"")
    count = context.rounds(4, 15)
    return raw(server, count, known, timeout=120) + raw(server, count, unknown, timeout=120)


def unread_topics(context, server):
    """WebSockets that listen and do not read."""
    server.request("PUT", "/t")
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
    held = raw(server, context.rounds(100, 1000), head("GET", "/t/_topics", more=upgrade))
    time.sleep(context.rounds(1, 3))
    for _ in range(context.rounds(10, 40)):
        server.request("POST", "/t/_topics/news", b"x" * 200_000)
    return held


CASES = {
    "feeds of long documents that nobody reads": unread_feeds,
    "a million ids and keys": many_ids,
    "bodies of 50 MB": long_bodies,
    "WebSockets that nobody reads": unread_topics,
}


def case(context, name, server, work):
    healthy, peak, done = Healthy(server), [0.0], threading.Event()

    def look():
        while not done.is_set():
            peak[0] = max(peak[0], server.memory_mib())
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    held = work(context, server)
    time.sleep(context.rounds(2, 10))
    for connection in held:
        if connection:
            connection.close()
    done.set()
    looking.join()
    get, put, failed = healthy.end()
    deadline = time.monotonic() + RETURNED_SECONDS
    while (after := server.memory_mib()) > KEPT_MIB and time.monotonic() < deadline:
        time.sleep(0.1)
    said = f"{peak[0]:.0f} MiB, then {after:.0f}; healthy GET p99 {get:.0f} ms, PUT {put:.0f} ms, {failed} failed"
    print(f"  pressure: {name}: {said}", flush=True)
    problems = []
    if peak[0] > MEMORY_MIB:
        problems.append(f"{peak[0]:.0f} MiB of memory, at most {MEMORY_MIB} are promised")
    if after > KEPT_MIB:
        problems.append(f"{after:.0f} MiB are kept {RETURNED_SECONDS} s later, at most {KEPT_MIB} are promised")
    if failed:
        problems.append(f"{failed} requests of a healthy client failed")
    if context.long and (get > GET_P99_MS or put > PUT_P99_MS):
        problems.append(f"healthy GET {get:.0f} ms, PUT {put:.0f} ms at p99; {GET_P99_MS} and {PUT_P99_MS} are promised")
    return [f"{name}: {problem}" for problem in problems]


def attack(context):
    failures = []
    for number, (name, work) in enumerate(CASES.items()):
        with Server(context, context.folder / f"pressure{number}.store") as server:
            server.request("PUT", "/healthy")
            server.request("PUT", "/healthy/a", {"n": 1})
            failures += case(context, name, server, work)
    yield len(CASES), failures

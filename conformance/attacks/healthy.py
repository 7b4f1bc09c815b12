"""What attacks on memory share: clients that misbehave, a healthy client beside them, and what the server takes.

Promised with default settings: 300 MiB of its own memory, given back within 10 seconds, and to the healthy client a GET
below 20 ms and a PUT below 100 ms (p99).
"""

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
# The short form, which runs beside other tests with a debug build, finds what is not returned at all.
KEPT_MIB_SHORT = 160


class Healthy:
    """A client that reads and writes one document again and again, and keeps the times. It is a process of its own: a
    thread would wait for the attackers' threads, which hold Python's lock, and measure them.
    """

    def __init__(self, server):
        fork = multiprocessing.get_context("fork")
        self.ours, theirs = fork.Pipe()
        self.process = fork.Process(target=self.run, args=(server, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def run(server, stop):
        gets, puts, failed, connection = [], [], [], server.connection(timeout=120)
        number = 0
        while not stop.poll(0.02):
            number += 1
            for times, method, path, body in (
                (gets, "GET", "/healthy/a", None),
                (puts, "PUT", f"/healthy/p{os.getpid()}-{number}", {"n": number}),
            ):
                before = time.perf_counter()
                try:
                    status, _ = server.request(method, path, body, connection=connection)
                except OSError as error:
                    status, connection = repr(error), server.connection(timeout=120)
                times.append((time.perf_counter() - before) * 1000)
                if status not in (200, 201):
                    failed.append(f"{method}: {status}")
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


def raw(server, count, data, timeout=60, port=None):
    """Connections on which something is sent and nothing is read."""

    def one(_):
        try:
            connection = server.raw(timeout=timeout, port=port)
        except OSError:
            return None
        send(connection, data)
        return connection

    return at_once(count, one)


def case(context, name, server, work):
    """Does `work`, which answers the connections that it holds, and measures; answers what was not as promised."""
    load = os.getloadavg()[0]
    healthy, peak, done = Healthy(server), [0.0, 0], threading.Event()

    def look():
        while not done.is_set():
            peak[0], peak[1] = max(peak[0], server.memory_mib()), max(peak[1], server.threads())
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    held, problems = work(context, server), []
    if isinstance(held, str):
        held, problems = [], [held]
    if held:
        time.sleep(context.rounds(2, 10))
    for connection in held:
        if connection:
            connection.close()
    done.set()
    looking.join()
    get, put, failed = healthy.end()
    deadline, kept = time.monotonic() + RETURNED_SECONDS, context.rounds(KEPT_MIB_SHORT, KEPT_MIB)
    while (after := server.memory_mib()) > kept and time.monotonic() < deadline:
        time.sleep(0.1)
    measured = f"{peak[0]:.0f} MiB, then {after:.0f}; healthy GET p99 {get:.0f} ms, PUT {put:.0f} ms, {len(failed)} failed"
    print(f"  {name}: {measured}; {peak[1]} threads", flush=True)
    figures = {"peak": peak[0], "later": after, "get": get, "put": put, "failed": len(failed), "load": load}
    context.measured.append({"name": name, **{what: round(figure, 1) for what, figure in figures.items()}})
    if peak[0] > MEMORY_MIB:
        problems.append(f"{peak[0]:.0f} MiB of memory, at most {MEMORY_MIB} are promised")
    if after > kept:
        problems.append(f"{after:.0f} MiB are kept {RETURNED_SECONDS} s later, at most {kept} are allowed")
    if failed:
        problems.append(f"{len(failed)} requests of a healthy client failed: {failed[0]}")
    if context.long and (get > GET_P99_MS or put > PUT_P99_MS):
        problems.append(f"healthy GET {get:.0f} ms, PUT {put:.0f} ms at p99; {GET_P99_MS} and {PUT_P99_MS} are promised")
    return [f"{name}: {problem}" for problem in problems]


def all_cases(context, kind, cases, *arguments, prepare=None, serving=Server):
    """Each case with a server of its own; yields as an attack does."""
    failures = []
    for number, (name, work) in enumerate(cases.items()):
        with serving(context, context.folder / f"{kind}{number}.store", *arguments) as server:
            server.request("PUT", "/healthy")
            server.request("PUT", "/healthy/a", {"n": 1})
            if prepare:
                prepare(server)
            failures += case(context, f"{kind}: {name}", server, work)
    yield len(cases), failures

"""Lists that are read, and that are not: the server's memory stays bounded, and others are answered."""

import multiprocessing
import struct
import threading
import time

from harness import AUTHORIZATION, Server, load
from hostile import PREFACE, frame

MEMORY_MIB = 300
HEALTHY_P99_MS = 20


class Healthy:
    """A client that reads one document again and again, and keeps the times. It is a process of its own: a thread
    would wait for the attackers' threads, which hold Python's lock, and measure them.
    """

    def __init__(self, server):
        fork = multiprocessing.get_context("fork")
        self.ours, theirs = fork.Pipe()
        self.process = fork.Process(target=self.run, args=(server, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def run(server, stop):
        times = []
        connection = server.connection()
        while not stop.poll(0.01):
            before = time.perf_counter()
            server.get("/m/d0000001", connection=connection)
            times.append((time.perf_counter() - before) * 1000)
        stop.send(times)

    def p99(self):
        self.ours.send("stop")
        times = sorted(self.ours.recv())
        self.process.join()
        return times[int(len(times) * 0.99)] if times else 0.0


def request(path):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {AUTHORIZATION}\r\n\r\n".encode()


def readers(server, count, times):
    """Clients that read whole lists, and compare their lengths."""
    lengths, lock = set(), threading.Lock()

    def read():
        connection = server.connection(timeout=300)
        for _ in range(times):
            connection.request("GET", "/m/_all_docs?include_docs=true", headers={"Authorization": AUTHORIZATION})
            length = len(connection.getresponse().read())
            with lock:
                lengths.add(length)

    threads = [threading.Thread(target=read) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return lengths


def unread(server, count, path):
    """Requests whose answers nobody reads."""
    held = []
    for _ in range(count):
        connection = server.raw()
        connection.sendall(request(path))
        held.append(connection)
    return held


def literal(text):
    return bytes([len(text)]) + text.encode()


def unread_streams(server, count, path):
    """Connections of HTTP/2, each with 100 requests whose answers nobody reads, and windows that let them come."""
    head = b"\x82\x86\x01" + literal("x") + b"\x04" + literal(path) + b"\x0f\x08" + literal(AUTHORIZATION)
    held = []
    for _ in range(count):
        connection = server.raw()
        settings = frame(4, 0, 0, struct.pack(">HI", 4, 1 << 24)) + frame(8, 0, 0, struct.pack(">I", 1 << 30))
        streams = b"".join(frame(1, 5, 2 * n + 1, head) for n in range(100))
        connection.sendall(PREFACE + settings + streams)
        held.append(connection)
    return held


def watch(server, seconds):
    """The most memory and threads within some seconds."""
    memory = threads = 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        memory, threads = max(memory, server.memory_mib()), max(threads, server.threads())
        time.sleep(0.05)
    return memory, threads


def case(context, name, server, work):
    healthy = Healthy(server)
    peak = [0, 0]
    done = threading.Event()

    def look():
        while not done.is_set():
            peak[0], peak[1] = max(peak[0], server.memory_mib()), max(peak[1], server.threads())
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    problem = work()
    done.set()
    looking.join()
    p99 = healthy.p99()
    print(f"  memory: {name}: {peak[0]:.0f} MiB, {peak[1]} threads, healthy GET p99 {p99:.1f} ms", flush=True)
    failures = [problem] if problem else []
    if peak[0] > MEMORY_MIB:
        failures.append(f"{name}: {peak[0]:.0f} MiB of memory, at most {MEMORY_MIB} are promised")
    if context.long and p99 > HEALTHY_P99_MS:
        failures.append(f"{name}: a healthy GET took {p99:.1f} ms at p99, at most {HEALTHY_P99_MS} are promised")
    return failures


def attack(context):
    documents = 10_000
    store = context.folder / "memory.store"

    def read_all(server):
        lengths = readers(server, context.rounds(20, 50), context.rounds(2, 6))
        return None if len(lengths) == 1 else f"lists of different lengths: {sorted(lengths)[:5]}"

    def read_none(path, count, ask=unread):
        def work(server):
            held = ask(server, count, path)
            watch(server, context.rounds(3, 15))
            for connection in held:
                connection.close()

        return work

    cases = {
        "lists that are read": read_all,
        "200 lists that nobody reads": read_none("/m/_all_docs?include_docs=true", 200),
        "50 connections of HTTP/2 full of lists": read_none("/m/_all_docs?include_docs=true", 50, unread_streams),
        "300 feeds that nobody reads": read_none("/m/_changes?include_docs=true", 300),
        "100 continuous feeds that nobody reads": read_none("/m/_changes?include_docs=true&feed=continuous", 100),
    }
    failures = []
    for name, work in cases.items():
        with Server(context, store) as server:
            if server.get("/m")[0] == 404:
                load(server, "m", documents, size=1000)
            failures += case(context, name, server, lambda work=work, server=server: work(server))
    yield len(cases), failures

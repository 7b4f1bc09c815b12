"""The doors beside HTTP, with clients that do not read, do not end or are silent; and very many half requests."""

import signal
import socket
import struct
import subprocess
import time

from harness import Server, free_port
from healthy import all_cases, case, raw

TOKEN = "a-token-for-attacks"


class Doors(Server):
    """A server with all doors, and no password at that of Redis."""

    def __init__(self, context, store, *arguments, environment=None):
        self.redis, self.engine, self.apocrypha = free_port(), free_port(), free_port()
        places = {"redis": self.redis, "engine": self.engine, "apocrypha": self.apocrypha}
        flags = [word for name, port in places.items() for word in (f"--{name}", f"127.0.0.1:{port}")]
        super().__init__(context, store, *flags, "--engine-token", TOKEN, *arguments, environment=environment)


class Few(Doors):
    """The same with as few descriptors as most systems give."""

    descriptors = 1024


class WithPassword(Doors):
    """The same with a password for clients of Redis."""

    def __init__(self, context, store):
        super().__init__(context, store, "--redis-password", "swordfish")


def command(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def asked(port, *commands):
    """Commands of Redis, and a reply to the last of them."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"".join(commands) + command("PING", "the end"))
        said = b""
        while not said.endswith(b"the end\r\n"):
            said += connection.recv(65536)


def unread_pipelines(context, server):
    """20 connections, each with a thousand GET of a megabyte, nothing read."""
    asked(server.redis, command("SET", "long", b"x" * 1_000_000))
    return raw(server, 20, command("GET", "long") * context.rounds(100, 1000), port=server.redis)


def unread_collections(context, server):
    """Replies that are long each: whole lists, sets, hashes, keys, and many values at once."""
    for part in range(40):
        items = [f"{part}-{number}-" + "x" * 100 for number in range(5000)]
        asked(server.redis, command("RPUSH", "list", *items), command("SADD", "set", *items))
        asked(server.redis, command("HSET", "hash", *(word for item in items for word in (item, "y"))))
    asked(server.redis, command("SET", "long", b"x" * 1_000_000))
    many = command("MGET", *["long"] * 50)
    queued = command("MULTI") + command("GET", "long") * 50 + command("EXEC")
    held = []
    for ask in (command("LRANGE", "list", 0, -1), command("SMEMBERS", "set"), command("HGETALL", "hash"), many, queued):
        held += raw(server, context.rounds(4, 10), ask * 10, port=server.redis)
    return held


def unread_messages(context, server):
    """Subscribers that do not read."""
    held = raw(server, context.rounds(100, 500), command("SUBSCRIBE", "news"), port=server.redis)
    time.sleep(1)
    for _ in range(context.rounds(10, 40)):
        asked(server.redis, command("PUBLISH", "news", b"x" * 200_000))
    return held


def patience(context):
    """Seconds that an attacker tries to send what the server does not take: the server cuts it after 30."""
    return context.rounds(5, 60)


def half_commands(context, server):
    """Values that announce 60 MB, of which 59 come."""
    half = b"*3\r\n$3\r\nSET\r\n$2\r\nbb\r\n$60000000\r\n" + b"x" * context.rounds(20_000_000, 59_000_000)
    return raw(server, context.rounds(5, 30), half, timeout=patience(context), port=server.redis)


def message(request, payload):
    """A message of the port for other machines' programs (docs/remote-engine.md), which is announced if it is long."""
    frames, most = [], 1 << 20
    if len(payload) > most:
        frames.append(struct.pack("<III", 4 | 1 << 30, request, len(payload)))
    parts = [payload[at : at + most] for at in range(0, len(payload), most)] or [b""]
    for number, part in enumerate(parts):
        more = 1 << 31 if number + 1 < len(parts) else 0
        frames.append(struct.pack("<II", len(part) | more, request) + part)
    return b"".join(frames)


def texts(word):
    return struct.pack("<I", len(word)) + word


GREETING = message(1, b"\x16" + texts(TOKEN.encode())) + message(2, b"\x00" + struct.pack("<I", 3))


def half_messages(context, server):
    """Commits that announce 100 MB and come in part."""
    half = message(3, b"\x0a" + bytes(100_000_000))[: context.rounds(20_000_000, 99_000_000)]
    return raw(server, context.rounds(5, 20), GREETING + half, timeout=patience(context), port=server.engine)


def unread_ranges(context, server):
    """Whole trees asked for again and again over the port for other machines' programs, nothing read."""
    server.request("PUT", "/long")
    for number in range(20):
        server.request("PUT", f"/long/d{number}", {"text": "x" * 1_000_000})
    head = struct.unpack("<Q", ask_engine(server, b"\x01")[1:9])[0]
    everything = b"".join(
        message(9 + tree, b"\x04" + struct.pack("<QI", head, tree) + b"\x00\x00\x00" + struct.pack("<I", 16_384) + b"\x01")
        for tree in range(40)
    )
    count = context.rounds(50, 300)
    return raw(server, count, GREETING + everything * 5, timeout=patience(context), port=server.engine)


def ask_engine(server, request):
    """The answer to one request of the port for other machines' programs."""
    with socket.create_connection(("127.0.0.1", server.engine), timeout=30) as connection:
        connection.sendall(GREETING + message(3, request))
        stream = connection.makefile("rb")
        while True:
            length, number = struct.unpack("<II", stream.read(8))
            payload = stream.read(length)
            if number == 3:
                return payload


def half_frames(context, server):
    """Commands of Apocrypha that announce 60 MB and come in part."""
    half = struct.pack(">I", 60_000_000) + b"x" * context.rounds(20_000_000, 59_000_000)
    return raw(server, context.rounds(5, 20), half, timeout=patience(context), port=server.apocrypha)


def framed(*words):
    payload = "\n".join(words).encode()
    return struct.pack(">I", len(payload)) + payload


def unread_members(context, server):
    """Long members of Apocrypha asked for again and again, nothing read."""
    raw(server, 1, framed("long", "=", "x" * 5_000_000), port=server.apocrypha)
    time.sleep(1)
    return raw(server, context.rounds(20, 100), framed("long") * 100, port=server.apocrypha)


CASES = {
    "Redis: pipelines of long values that nobody reads": unread_pipelines,
    "Redis: subscribers that do not read": unread_messages,
    "Redis: half values of 60 MB": half_commands,
    "engine: half commits of 100 MB": half_messages,
    "Apocrypha: half commands of 60 MB": half_frames,
    "Apocrypha: long members that nobody reads": unread_members,
    "Redis: whole collections that nobody reads": unread_collections,
    "engine: ranges that nobody reads": unread_ranges,
}

UNKNOWN = {"Redis: half values of 60 MB before AUTH": half_commands}


def half_requests(ports):
    """1,100 half requests, at a limit of 1,024 descriptors."""

    def work(_, server):
        held = []
        for port in ports(server):
            held += raw(server, 1100, b"GET / HTTP/1.1\r\nHost: x\r\n", port=port)
        return held

    return work


def limited(context):
    """Half requests to a server that may have 1,024 descriptors and no more; answers what was not as promised."""
    failures = []
    cases = {
        "1,100 half requests over HTTP": lambda server: [server.port],
        "1,100 half requests at every door": lambda server: [
            server.redis,
            server.engine,
            server.apocrypha,
            server.port,
        ],
    }
    for number, (name, ports) in enumerate(cases.items()):
        with Few(context, context.folder / f"half{number}.store") as server:
            server.request("PUT", "/healthy")
            server.request("PUT", "/healthy/a", {"n": 1})
            failures += case(context, f"doors: {name}", server, half_requests(ports))
    return failures


def greeted(context):
    """Connections of other machines' programs that ask for nothing take little."""
    with Doors(context, context.folder / "greeted.store") as server:
        before = server.memory_mib()
        held = raw(server, 300, GREETING, port=server.engine)
        time.sleep(1)
        after = server.memory_mib()
        for connection in held:
            if connection:
                connection.close()
    print(f"  doors: 300 programs that greet: {before:.0f} MiB before, {after:.0f} with them", flush=True)
    return [] if after < 100 else [f"{after:.0f} MiB with 300 programs that ask for nothing, at most 100 are promised"]


def stops_at_once(context):
    """An orderly stop waits for nobody who has only begun to ask."""
    with Doors(context, context.folder / "stop.store") as server:
        held = raw(server, 1, b"GET / HTTP/1.1\r\nHo")
        held += raw(server, 1, b"*3\r\n$3\r\nSE", port=server.redis)
        held += raw(server, 1, b"\x00\x00\x00\x09a", port=server.apocrypha)
        held += raw(server, 1, b"\x00\x00", port=server.engine)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        before = time.monotonic()
        try:
            server.process.wait(60)
        except subprocess.TimeoutExpired:
            return ["an orderly stop took more than a minute"]
        seconds = time.monotonic() - before
        print(f"  doors: an orderly stop beside half requests: {seconds:.1f} s", flush=True)
        return [] if seconds < 10 else [f"an orderly stop took {seconds:.1f} s beside half requests"]


def attack(context):
    failures, tries = [], 0
    for serving, cases in ((Doors, CASES), (WithPassword, UNKNOWN)):
        for more, failed in all_cases(context, f"doors{len(cases)}", cases, serving=serving):
            tries, failures = tries + more, failures + failed
    failures += limited(context) + greeted(context) + stops_at_once(context)
    yield tries + 4, failures

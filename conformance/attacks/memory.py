"""Lists and feeds that are read, and that are not: the server's memory stays bounded, and others are answered."""

import struct
import threading

from harness import AUTHORIZATION, load
from healthy import all_cases, head, raw
from hostile import PREFACE, frame

LIST = "/m/_all_docs?include_docs=true"


def read_all(context, server):
    """Clients that read whole lists, and compare their lengths."""
    lengths, lock = set(), threading.Lock()

    def read():
        connection = server.connection(timeout=300)
        for _ in range(context.rounds(2, 6)):
            connection.request("GET", LIST, headers={"Authorization": AUTHORIZATION})
            length = len(connection.getresponse().read())
            with lock:
                lengths.add(length)

    threads = [threading.Thread(target=read) for _ in range(context.rounds(20, 50))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [] if len(lengths) == 1 else f"lists of different lengths: {sorted(lengths)[:5]}"


def unread(count, path):
    """Requests whose answers nobody reads."""
    return lambda context, server: raw(server, count, head("GET", path))


def literal(text):
    return bytes([len(text)]) + text.encode()


def unread_streams(_, server):
    """Connections of HTTP/2, each with 100 requests whose answers nobody reads, and windows that let them come."""
    request = b"\x82\x86\x01" + literal("x") + b"\x04" + literal(LIST) + b"\x0f\x08" + literal(AUTHORIZATION)
    settings = frame(4, 0, 0, struct.pack(">HI", 4, 1 << 24)) + frame(8, 0, 0, struct.pack(">I", 1 << 30))
    streams = b"".join(frame(1, 5, 2 * n + 1, request) for n in range(100))
    return raw(server, 50, PREFACE + settings + streams)


CASES = {
    "lists that are read": read_all,
    "200 lists that nobody reads": unread(200, LIST),
    "50 connections of HTTP/2 full of lists": unread_streams,
    "300 feeds that nobody reads": unread(300, "/m/_changes?include_docs=true"),
    "100 continuous feeds that nobody reads": unread(100, "/m/_changes?include_docs=true&feed=continuous"),
}


def attack(context):
    yield from all_cases(context, "memory", CASES, prepare=lambda server: load(server, "m", 10_000, size=1000))

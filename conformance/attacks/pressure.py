"""Clients that do not read, or do not end: memory stays bounded and comes back, and others are answered."""

import base64
import os
import time

from harness import AUTHORIZATION
from healthy import all_cases, head, raw


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


def unread_consumers(context, server):
    """Consumers that fetch many long documents and do not read them."""
    server.request("PUT", "/c")
    for number in range(20):
        server.request("PUT", f"/c/long{number}", {"text": "x" * context.rounds(300_000, 1_000_000)})
    count, held = context.rounds(50, 300), []
    for number in range(count):
        server.request("PUT", f"/c/_consumers/c{number}", {})
        held += raw(server, 1, head("POST", f"/c/_consumers/c{number}/fetch", body=b'{"max":1000}'))
    return held


CASES = {
    "feeds of long documents that nobody reads": unread_feeds,
    "a million ids and keys": many_ids,
    "bodies of 50 MB": long_bodies,
    "WebSockets that nobody reads": unread_topics,
    "consumers that do not read": unread_consumers,
}


def attack(context):
    yield from all_cases(context, "pressure", CASES)

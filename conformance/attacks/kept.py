"""What connections keep from one request to the next: transactions, watched keys, scripts, filters of feeds, selectors
that run or wait, pings. Memory stays bounded for all of them together (docs/decisions/0312)."""

import base64
import json
import os
import time

from doors import Doors, command
from healthy import all_cases, at_once, head, raw


def transactions(context, server):
    """Transactions that are filled and not ended."""
    queued = command("SET", "k", b"x" * 1_000_000) * context.rounds(10, 40)
    return raw(server, 20, command("MULTI") + queued, port=server.redis)


def watched_keys(context, server):
    """Very many long keys are watched."""
    keys = [f"{number:08}" + "x" * 8000 for number in range(context.rounds(2000, 9000))]
    return raw(server, 20, command("WATCH", *keys), port=server.redis)


def waiting_keys(context, server):
    """Clients that wait for an element of very many lists."""
    keys = [f"{number:08}" + "x" * 8000 for number in range(context.rounds(500, 2000))]
    return raw(server, 30, command("BLPOP", *keys, 0), port=server.redis)


def scripts(context, server):
    """Scripts that are loaded and never run."""
    held = []
    for number in range(context.rounds(20, 60)):
        script = "local t = {} " + f"t[{number}] = 'x' " * 12_000 + "return 1"
        held += raw(server, 1, command("SCRIPT", "LOAD", script), port=server.redis)
    return held


def feeds_of_ids(context, server):
    """Feeds of very many ids each."""
    ids = [f"{number:06}" + "x" * 1500 for number in range(context.rounds(3000, 10_000))]
    body = json.dumps({"doc_ids": ids}).encode()
    feed = head("POST", "/healthy/_changes?feed=continuous&filter=_doc_ids&since=now", body=body)
    return raw(server, context.rounds(20, 60), feed)


def expressions(count):
    return {"$or": [{f"m{number}": {"$regex": f"^a{number}.*z$"}} for number in range(count)]}


def feeds_of_expressions(context, server):
    """Feeds with very many regular expressions each: more than are taken, and just as many."""
    held = []
    for count in (3000, 100):
        body = json.dumps({"selector": expressions(count)}).encode()
        feed = head("POST", "/healthy/_changes?feed=continuous&filter=_selector&since=now", body=body)
        held += raw(server, context.rounds(20, 60), feed)
    return held


def queries_of_expressions(context, server):
    """Queries with very many regular expressions, asked again and again."""
    docs = [{"_id": f"d{number}", **{f"m{at}": "a" * 50 for at in range(20)}} for number in range(2000)]
    server.request("POST", "/healthy/_bulk_docs", {"docs": docs})
    body = json.dumps({"selector": expressions(100), "limit": 1}).encode()
    changing = json.dumps({"selector": expressions(100), "dry_run": True}).encode()
    held = raw(server, context.rounds(20, 60), head("POST", "/healthy/_find", body=body) * 20)
    return held + raw(server, context.rounds(20, 60), head("POST", "/healthy/_delete_by_query", body=changing) * 20)


def unread_pings(context, server):
    """WebSockets that send pings and read no pong."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
    held = raw(server, 30, head("GET", "/healthy/_topics", more=upgrade))
    time.sleep(0.5)
    ping = (b"\x89\xfd" + bytes(4) + b"x" * 125) * 1000
    ending = time.monotonic() + context.rounds(3, 20)

    def flood(number):
        connection = held[number]
        if connection:
            connection.settimeout(1)
        while connection and time.monotonic() < ending:
            try:
                connection.sendall(ping)
            except OSError:
                return

    at_once(len(held), flood)
    return held


CASES = {
    "Redis: transactions that do not end": transactions,
    "Redis: watched keys": watched_keys,
    "Redis: keys that are waited for": waiting_keys,
    "Redis: scripts": scripts,
    "feeds of many ids": feeds_of_ids,
    "feeds of many regular expressions": feeds_of_expressions,
    "queries of many regular expressions": queries_of_expressions,
    "pings whose pongs nobody reads": unread_pings,
}


def attack(context):
    yield from all_cases(context, "kept", CASES, serving=Doors)

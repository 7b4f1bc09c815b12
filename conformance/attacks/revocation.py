"""Rights that are taken away while a feed is open: nothing that came later is delivered."""

import base64
import time

from harness import Server

FEEDS = ("continuous", "longpoll", "eventsource")


def taken(server, how):
    """Takes the right away."""
    user = "/_users/org.couchdb.user:eve"
    _, document = server.get(user)
    if how == "security":
        server.request("PUT", "/r/_security", {"members": {"names": ["nobody"], "roles": []}, "admins": {}})
    elif how == "roles":
        server.request("PUT", user, {**document, "roles": []})
    elif how == "deleted user":
        server.request("DELETE", f"{user}?rev={document['_rev']}")
    elif how == "password":
        server.request("PUT", user, {**document, "password": "another one"})
    elif how == "dropped":
        server.request("DELETE", "/r")
        server.request("PUT", "/r")
        server.request("PUT", "/r/_security", {"members": {"names": ["nobody"], "roles": []}, "admins": {}})


def open_feed(server, feed, since):
    token = base64.b64encode(b"eve:apple").decode()
    connection = server.raw(timeout=5)
    path = f"/r/_changes?feed={feed}&since={since}&include_docs=true&heartbeat=500"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {token}\r\n\r\n".encode())
    return connection


def told(connection, seconds):
    """What a feed sends within some seconds, or until it ends."""
    said, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            piece = connection.recv(65536)
        except TimeoutError:
            break
        if not piece:
            break
        said += piece
    connection.close()
    return said


def prepare(server):
    """A reader, and a database that its role may read; answers where its changes end."""
    eve = {"name": "eve", "type": "user", "roles": ["readers"], "password": "apple"}
    _, old = server.get("/_users/org.couchdb.user:eve")
    if "_rev" in old:
        eve["_rev"] = old["_rev"]
    server.request("PUT", "/_users/org.couchdb.user:eve", eve)
    server.request("PUT", "/r")
    server.request("PUT", "/r/_security", {"members": {"names": [], "roles": ["readers"]}, "admins": {}})
    server.request("POST", "/r", {"told": "before"})
    return server.get("/r/_changes")[1]["last_seq"]


def attack(context):
    failures, tries = [], 0
    with Server(context, context.folder / "revocation.store") as server:
        # That feeds deliver at all: without it no feed could be seen to go on.
        since = prepare(server)
        feeds = {feed: open_feed(server, feed, since) for feed in FEEDS}
        server.request("POST", "/r", {"told": "a-secret-of-later"})
        for feed, connection in feeds.items():
            if b"a-secret-of-later" not in told(connection, 3):
                failures.append(f"feed={feed} delivers nothing to who may read")
        for how in ("security", "roles", "deleted user", "password", "dropped"):
            tries += len(FEEDS)
            since = prepare(server)
            feeds = {feed: open_feed(server, feed, since) for feed in FEEDS}
            time.sleep(0.5)
            taken(server, how)
            server.request("POST", "/r", {"told": "a-secret-of-later"})
            for feed, connection in feeds.items():
                if b"a-secret-of-later" in told(connection, context.rounds(1, 4)):
                    failures.append(f"{how}, feed={feed}: a document of later was delivered")
    yield tries, failures

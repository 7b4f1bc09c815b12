"""Rights that are taken away while a feed is open, or while a body comes: nothing that came later is delivered, and
nothing is written.
"""

import base64
import json
import time

from harness import ADMIN, Server

FEEDS = ("continuous", "longpoll", "eventsource")
WAYS = ("security", "roles", "deleted user", "password", "dropped")
# Requests whose bodies come late: those that write, and those that are told what is there.
BODIES = (
    ("PUT", "/r/late", {"late": True}),
    ("PUT", "/r/_local/late", {"late": True}),
    ("PUT", "/r/late/file", {"late": True}),
    ("POST", "/r", {"_id": "late"}),
    ("POST", "/r/_bulk_docs", {"docs": [{"_id": "late"}]}),
    ("POST", "/r/_bulk_docs", {"docs": [{"_id": "late", "_rev": "1-a"}], "new_edits": False}),
    ("POST", "/r/_update_by_query", {"selector": {}, "merge": {"late": True}}),
    ("POST", "/r/_find", {"selector": {}}),
    ("POST", "/r/_aggregate", {"pipeline": [{"$match": {}}]}),
    ("POST", "/r/_changes?include_docs=true&filter=_selector", {"selector": {}}),
)


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


def open_body(server, method, path, body):
    """Sends the head of a request, and waits until it was let in: a server says so if it is asked to."""
    token, text = base64.b64encode(b"eve:apple").decode(), json.dumps(body).encode()
    connection = server.raw(timeout=5)
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {token}\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(text)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n".encode())
    said = connection.recv(100)
    assert said.startswith(b"HTTP/1.1 100"), said
    return connection, text


def late_bodies(server, how):
    """Takes rights away before bodies come; yields what happened all the same."""
    for method, path, body in BODIES:
        prepare(server)
        connection, text = open_body(server, method, path, body)
        taken(server, how)
        server.request("POST", "/r", {"told": "a-secret-of-later"})
        connection.sendall(text)
        if b"a-secret-of-later" in told(connection, 10):
            yield f"{how}, {method} {path}: a document of later was told"
        if server.get("/r/_local/late")[0] != 404:
            yield f"{how}, {method} {path}: a local document was written"
        if '"late"' in str(server.get("/r/_all_docs?include_docs=true")[1]).replace("'", '"'):
            yield f"{how}, {method} {path}: documents were written"
        server.request("DELETE", "/r")


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


def basic(who):
    return {"Authorization": "Basic " + base64.b64encode(who.encode()).decode()}


def replications(server, how):
    """Takes rights away from who asked for replications that go on; yields what was copied all the same."""
    prepare(server)
    server.request("PUT", "/copy")
    local = f"http://{ADMIN}@127.0.0.1:{server.port}"
    if how == "replicator":
        server.request("PUT", "/_replicator/_security", {"members": {"names": [], "roles": ["readers"]}, "admins": {}})
        wanted = {"_id": "eves", "source": f"{local}/r", "target": f"{local}/copy", "continuous": True}
        server.request("POST", "/_replicator/_bulk_docs", {"docs": [wanted]}, headers=basic("eve:apple"))
    else:
        server.request("PUT", "/_node/_local/_config/admins/chief", '"apple"')
        wanted = {"source": "r", "target": "copy", "continuous": True}
        server.request("POST", "/_replicate", wanted, headers=basic("chief:apple"))
    deadline = time.monotonic() + 10
    while not server.get("/copy")[1].get("doc_count") and time.monotonic() < deadline:
        time.sleep(0.05)
    if not server.get("/copy")[1].get("doc_count"):
        yield f"{how}: a replication that may be asked for copies nothing"
    if how == "replicator":
        taken(server, "deleted user")
    else:
        server.request("DELETE", "/_node/_local/_config/admins/chief")
    server.request("POST", "/r", {"told": "a-secret-of-later"})
    time.sleep(1)
    if "a-secret-of-later" in str(server.get("/copy/_all_docs?include_docs=true")[1]):
        yield f"{how}: a document of later was copied"
    for name in ("/r", "/copy"):
        server.request("DELETE", name)


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
        server.request("DELETE", "/r")
        for how in ("replicator", "replicate"):
            tries += 1
            failures.extend(replications(server, how))
        for how in WAYS:
            tries += len(BODIES)
            failures.extend(late_bodies(server, how))
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

#!/usr/bin/python3
"""The pages of the suite bigtable by Python's own HTTP server, a thread a connection: SERVER STORE PORT.

/page is rendered anew for each request; /escaped, /rows.html, /rows.json and /rows.csv read a table of SQLite."""
import csv
import html
import io
import json
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COLUMNS = [f"c{column:02}" for column in range(1, 51)]
local = threading.local()


def rows():
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(sys.argv[1])
    return local.db.execute("SELECT * FROM rows ORDER BY id")


def page():
    parts = ["<table>"]
    for _ in range(1000):
        parts.append("<tr>")
        parts.extend([f"<td>{column}</td>" for column in range(1, 51)])
        parts.append("</tr>")
    parts.append("</table>")
    return "".join(parts)


def escaped():
    parts = ["<table>"]
    for row in rows():
        parts.append("<tr>")
        parts.extend([f"<td>{html.escape(cell)}</td>" for cell in row[1:]])
        parts.append("</tr>")
    parts.append("</table>")
    return "".join(parts)


def listed():
    names = ["id", *COLUMNS]
    parts = ["<!DOCTYPE html><title>rows</title><table><thead><tr>"]
    parts.extend([f"<th>{name}</th>" for name in names])
    parts.append("</tr></thead>")
    for row in rows():
        parts.append("<tr>")
        parts.extend([f"<td>{html.escape(cell)}</td>" for cell in row])
        parts.append("</tr>")
    parts.append("</table>")
    return "".join(parts)


def as_json():
    names = ["id", *COLUMNS]
    return json.dumps([dict(zip(names, row)) for row in rows()], separators=(",", ":"))


def as_csv():
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", *COLUMNS])
    writer.writerows(rows())
    return out.getvalue()


PAGES = {
    "/page": (page, "text/html"),
    "/escaped": (escaped, "text/html"),
    "/rows.html": (listed, "text/html"),
    "/rows.json": (as_json, "application/json"),
    "/rows.csv": (as_csv, "text/csv"),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        render, kind = PAGES[self.path]
        body = render().encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def make():
    """The table, where there is none: its rows come on standard input, as lines of JSON."""
    db = sqlite3.connect(sys.argv[1])
    db.execute(f"CREATE TABLE rows (id TEXT PRIMARY KEY, {', '.join(COLUMNS)})")
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    db.executemany(f"INSERT INTO rows VALUES ({marks})", (json.loads(line) for line in sys.stdin))
    db.commit()
    db.close()


if len(sys.argv) == 2:
    make()
else:
    server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()

"""What all attacks share: the binary, a server that is started and killed, requests, memory, and the result's form.

An attack is a function `attack(context)` that yields (tries, failures): failures are texts, each with what replays it.
"""

import base64
import http.client
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ADMIN = "root:swordfish"
AUTHORIZATION = "Basic " + base64.b64encode(ADMIN.encode()).decode()
START_SECONDS = 60


class Context:
    """The binary, the seed, how long, and a folder that goes away."""

    def __init__(self, binary, seed, long):
        self.binary = str(pathlib.Path(binary).resolve())
        self.seed = seed
        self.long = long
        self.measured = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="recension-attack-"))

    def random(self, what):
        """Chance of its own for each use, the same for the same seed."""
        return random.Random(f"{self.seed}/{what}")

    def rounds(self, short, long):
        return long if self.long else short

    def run(self, *arguments, timeout=120, stdin=None):
        """A command of the binary; a panic or a time-out is a failure of its own."""
        command = [self.binary, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=timeout, input=stdin)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"timed out")
        return done

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """`recension serve` on a free port of loopback."""

    # How many files it may have open at most; None: as many as this process.
    descriptors = None

    def __init__(self, context, store, *arguments, environment=None):
        self.context, self.store = context, store
        self.port = free_port()
        env = {**os.environ, "RECENSION_ADMIN": ADMIN, **(environment or {})}
        command = [context.binary, "--store", str(store), "serve", "--listen", f"127.0.0.1:{self.port}", *arguments]
        place = context.folder / f"server-{self.port}" if "://" in str(store) else store
        self.log_file = pathlib.Path(f"{place}.log")
        self.log = open(self.log_file, "ab")
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log}
        self.process = subprocess.Popen(command, env=env, **streams, preexec_fn=self.limit)
        self.wait()

    def limit(self):
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def wait(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Refused(self.log_file.read_text(errors="replace")[-2000:])
            try:
                if self.get("/_up")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise Refused("the server did not start within a minute")

    def connection(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, connection=None):
        """One request as the admin: (status, body as JSON or text)."""
        own = connection is None
        connection = connection or self.connection()
        try:
            data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            head = {"Authorization": AUTHORIZATION, "Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, data, head)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            if own:
                connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def raw(self, timeout=10, port=None):
        """A bare connection, to the port of HTTP or to another one."""
        return socket.create_connection(("127.0.0.1", port or self.port), timeout=timeout)

    def status(self, field):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise KeyError(field)

    def memory_mib(self):
        """Memory of its own: mapped files of the store are not counted."""
        return self.status("RssAnon") / 1024

    def threads(self):
        return self.status("Threads")

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        if self.alive():
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Refused(Exception):
    """The server did not start, with what it said."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def panicked(done):
    """Whether a command ended in a way that no input may bring about."""
    return done.returncode in (101, 124, 134, 139) or b"panicked" in done.stderr


def load(server, database, count, size=300):
    """Documents `d0000000` and on, of about `size` bytes each."""
    server.request("PUT", f"/{database}")
    for start in range(0, count, 1000):
        numbers = range(start, min(start + 1000, count))
        docs = [{"_id": f"d{n:07}", "n": n, "text": f"{n:07}" * (size // 7)} for n in numbers]
        status, answer = server.request("POST", f"/{database}/_bulk_docs", {"docs": docs})
        assert status == 201, answer

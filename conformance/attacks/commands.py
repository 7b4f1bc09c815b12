"""kill -9 in each command that changes much: nothing that is half done counts as done, and the same command again ends it.

Each command runs on a copy of one store. Afterwards every collection is as before or as after it, or, where the command
says that it works in commits of many, each document is; the store is sound; what was to be made anew is no store, or the
whole one; and the command that runs again brings about what it does alone.
"""

import collections
import hashlib
import json
import shutil
import subprocess
import time

from harness import Server, panicked

DOCUMENTS = 3000
ERASED = [f"d{number:05}" for number in range(0, DOCUMENTS, 9)]

# Commands on the store itself, and whether they work in commits of many documents.
INSIDE = {
    "compact": (["compact"], False),
    "branch": (["branch", "made"], False),
    "branch of the past": (["branch", "made", "--at", "tag:before"], False),
    "branch dropped": (["branch", "idea", "--drop", "--yes"], False),
    "branch renamed": (["branch", "idea", "--rename-to", "made"], False),
    "restore": (["restore", "--all", "--at", "tag:before", "--yes"], True),
    "erase": (["erase", "t", *ERASED, "--yes", "--settle"], False),
    "index": (["index", "create", "t", "n"], False),
    "drop": (["drop", "u", "--yes"], False),
    "update": (["update", "t", "n >= 0", "--merge", '{"up":1}', "--yes"], True),
    "delete": (["delete", "t", "n >= 0", "--yes"], True),
    "import": (["import", "new", "{folder}/new.ndjson", "--all-or-nothing"], False),
    "key": (["key", "rotate"], False),
}
# Commands that make a store at a new place: the words, with the store and the place.
MAKING = {
    "backup": ["backup", "{to}", "--store", "{store}"],
    "restored backup": ["restore-backup", "{store}", "{to}"],
    "salvage": ["salvage", "{store}", "{to}"],
    "move to a log": ["move", "{store}", "file://{to}?cache={to}.cache"],
}


class Place:
    """A store to begin with, and what there is to know of one."""

    def __init__(self, context):
        self.context, self.folder = context, context.folder
        self.store, self.key = self.folder / "begun.store", self.folder / "key"
        lines = [json.dumps({"_id": f"d{n:05}", "n": n, "text": f"{n:05} " * 20}) for n in range(DOCUMENTS)]
        (self.folder / "new.ndjson").write_text("\n".join(lines))
        self.key.write_text(self.said(["key", "new"]))
        self.key.chmod(0o600)
        for words in (
            ["import", "t", self.folder / "new.ndjson"],
            ["import", "u", self.folder / "new.ndjson"],
            ["tag", "before"],
            ["branch", "idea"],
            ["--branch", "idea", "update", "t", "n < 1500", "--merge", '{"idea":1}', "--yes"],
            ["update", "t", "n >= 1500", "--merge", '{"main":1}', "--yes"],
        ):
            self.said(words, self.store)

    def command(self, words, store=None):
        of_store = ["--store", str(store), "--key-file", str(self.key)] if store else []
        return [self.context.binary, *of_store, *map(str, words)]

    def run(self, words, store=None):
        return self.context.run(*self.command(words, store)[1:])

    def said(self, words, store=None):
        done = self.run(words, store)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.decode()

    def killed(self, words, store, seconds):
        """Whether it was ended, and had not ended by itself."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(self.command(words, store), **streams)
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True

    def documents(self, store, *more):
        """A collection's documents, each as what is known of its text; None if there is no such collection."""
        done = self.run(["export", *more], store)
        if done.returncode:
            assert done.returncode == 1 and not panicked(done), done.stderr
            return None
        return {json.loads(line)["_id"]: hashlib.sha1(line).digest() for line in done.stdout.splitlines()}

    def seen(self, store):
        branches = sorted(json.loads(line)["branch"] for line in self.said(["branch", "--json"], store).splitlines())
        seen = {"branches": branches, "past": self.documents(store, "t", "--at", "tag:before")}
        seen |= {name: self.documents(store, name) for name in ("t", "u", "new")}
        seen |= {f"t of {name}": self.documents(store, "t", "--branch", name) for name in branches}
        seen["indexes"] = [line.split('"state"')[0] for line in self.said(["index", "list", "t"], store).splitlines()]
        return seen


def between(now, before, after, in_commits):
    """What is neither as before nor as after; an index that is being built is begun, and ends by itself."""
    odd = []
    for name in sorted(set(before) | set(after)):
        one, other, found = before.get(name), after.get(name), now.get(name)
        if found in (one, other) or (name not in now and one is None):
            continue
        if in_commits and isinstance(found, dict) and isinstance(one, dict) and isinstance(other, dict):
            if all(found.get(id) in (one.get(id), other.get(id)) for id in set(found) | set(one) | set(other)):
                continue
        odd.append(name)
    return odd


def inside(place, name, moments):
    words, in_commits = INSIDE[name]
    words = [str(word).replace("{folder}", str(place.folder)) for word in words]
    store = place.folder / "inside.store"

    def anew():
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(place.store, store)

    anew()
    before, started = place.seen(store), time.monotonic()
    place.said(words, store)
    seconds, after = time.monotonic() - started, place.seen(store)
    for moment in moments:
        anew()
        if not place.killed(words, store, seconds * moment):
            continue
        where = f"{name}, killed after {seconds * moment:.3f} s"
        sound, now = place.run(["verify"], store), place.seen(store)
        if sound.returncode:
            yield f"{where}: verify says {sound.stderr[-300:]}"
        odd = between(now, before, after, in_commits)
        if odd:
            yield f"{where}: neither as before nor as after: {odd}"
        again = place.run(words, store)
        done = place.seen(store)
        # What is done is refused the second time: there is such a branch, there is no such collection.
        if done != after or (again.returncode and now != after):
            yield f"{where}: again it ends with {again.returncode} {again.stderr[-200:]}, and not as alone"


def making(place, name, moments):
    """Commands that make a store elsewhere, begun on a copy without a key."""
    plain, to = place.folder / "plain.store", place.folder / "made.store"

    def words(store):
        return [word.replace("{store}", str(store)).replace("{to}", str(to)) for word in MAKING[name]]

    def anew():
        for old in (plain, to, place.folder / "made.store.cache"):
            shutil.rmtree(old, ignore_errors=True)
        place.said(["import", "t", place.folder / "new.ndjson", "--store", plain])
        place.said(["index", "create", "t", "n", "--store", plain])

    made = f"file://{to}?cache={to}.cache" if "log" in name else str(to)
    count = ["find", "t", "--count", "--store", made]
    anew()
    started = time.monotonic()
    place.said(words(plain))
    seconds = time.monotonic() - started
    for moment in moments:
        anew()
        if not place.killed(words(plain), None, seconds * moment):
            continue
        where = f"{name}, killed after {seconds * moment:.3f} s"
        there = place.run(count)
        if panicked(there) or (there.returncode == 0 and json.loads(there.stdout)["count"] != DOCUMENTS):
            yield f"{where}: a part of the store counts as one: {there.stdout} {there.stderr[-200:]}"
        if there.returncode == 1:
            yield f"{where}: an empty store counts as the one: {there.stderr[-200:]}"
        again, whole = place.run(words(plain)), place.run(count)
        done = there.returncode == 0 or again.returncode == 0
        if not done or whole.returncode or json.loads(whole.stdout)["count"] != DOCUMENTS:
            yield f"{where}: again it ends with {again.returncode} {again.stderr[-200:]}, {whole.stdout}"


def fetched(place, moments):
    """A backup over HTTP that is killed, new and brought up to date."""
    store, to = place.folder / "served.store", place.folder / "fetched.store"
    place.said(["import", "t", place.folder / "new.ndjson", "--store", store])
    with Server(place.context, store) as server:
        words = ["backup", f"http://root:swordfish@127.0.0.1:{server.port}", to]
        started = time.monotonic()
        place.said(words)
        seconds, written = time.monotonic() - started, 0
        for number, moment in enumerate(moments):
            if number % 2:
                for old in place.folder.glob("fetched.store*"):
                    shutil.rmtree(old)
            server.request("PUT", f"/t/more{number}", {})
            written += 1
            before = place.run(["find", "t", "--count", "--store", to])
            place.killed(words, None, seconds * moment)
            there = place.run(["find", "t", "--count", "--store", to])
            if there.returncode == 0 and json.loads(there.stdout)["count"] not in (
                DOCUMENTS + written, json.loads(before.stdout or "{}").get("count")
            ):
                yield f"backup over HTTP, killed after {seconds * moment:.3f} s: {there.stdout}"
            again, whole = place.run(words), place.run(["find", "t", "--count", "--store", to])
            if again.returncode or json.loads(whole.stdout)["count"] != DOCUMENTS + written:
                yield f"backup over HTTP again: {again.stderr[-300:]} {whole.stdout}"


def attack(context):
    chance = context.random("commands")
    place = Place(context)
    tries = collections.Counter()

    def moments(short, long):
        some = [chance.uniform(0.02, 1.02) for _ in range(context.rounds(short, long))]
        tries["all"] += len(some)
        return some

    failures = []
    for name in INSIDE:
        failures += inside(place, name, moments(2, 40))
    for name in MAKING:
        failures += making(place, name, moments(4, 40))
    failures += fetched(place, moments(4, 40))
    yield tries["all"], failures

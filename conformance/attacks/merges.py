"""kill -9 in the middle of a large merge: after each, every document is as before or as merged, what the main line had
changed is still there, and the merge is made again to its end. With indexes, with conflicts, and encrypted."""

import json
import subprocess
import time

CONFLICTS = 200


class Store:
    """A store whose merges are killed: documents `d..` that merge cleanly, and `c..` that both sides change."""

    def __init__(self, context, kind):
        self.context, self.kind, self.failures, self.kills = context, kind, [], 0
        self.documents, self.changed = context.rounds(10_400, 100_000), context.rounds(3_000, 40_000)
        self.options = ["--store", context.folder / f"merges-{kind}.store"]
        if kind == "encrypted":
            key = context.folder / "key"
            key.write_text("ab" * 32)
            key.chmod(0o600)
            self.options += ["--key-file", key]

    def run(self, *arguments, **more):
        done = self.context.run(*self.options, *arguments, timeout=1200, **more)
        if done.returncode:
            self.failed(f"{arguments}: {done.stderr.decode(errors='replace')[:300]}")
        return done

    def failed(self, what):
        self.failures.append(f"{self.kind}: {what}")

    def found(self, condition):
        done = self.context.run(*self.options, "find", "things", f"{condition} and _id >= d", "--count", "--json")
        return json.loads(done.stdout)["count"] if done.returncode == 0 else done.stderr.decode(errors="replace")[:300]

    def fill(self):
        ids = [f"d{n:06}" for n in range(self.documents)] + [f"c{n:06}" for n in range(CONFLICTS)]
        self.run("import", "things", "-", stdin="".join(json.dumps({"_id": id, "a": 0, "b": 0}) + "\n" for id in ids).encode())
        if self.kind == "indexed":
            self.run("index", "create", "things", "a", "--name", "old")

    def diverge(self, round_):
        """Both sides change apart. The branch drops an index and makes another."""
        branch = f"idea{round_}"
        self.run("branch", branch)
        self.run("update", "things", f"a < {round_}", "--merge", json.dumps({"a": round_}), "-y", "--branch", branch)
        self.run("update", "things", f"_id < d{self.changed:06} and _id >= d", "--merge", json.dumps({"b": round_}), "-y")
        if self.kind == "conflicts":
            self.run("update", "things", "_id < d", "--merge", json.dumps({"a": round_ + 1_000_000}), "-y")
        if self.kind == "indexed":
            self.run("--branch", branch, "index", "drop", "things", "old" if round_ == 1 else f"new{round_ - 1}")
            self.run("--branch", branch, "index", "create", "things", "b", "--name", f"new{round_}")
        return branch

    def killed(self, round_, branch, after):
        merging = subprocess.Popen(
            [self.context.binary, *map(str, self.options), "merge", branch],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(after)
        self.kills += merging.poll() is None
        merging.kill()
        merging.wait()
        before, merged, kept = (self.found(f"a = {round_ - 1}"), self.found(f"a = {round_}"), self.found(f"b = {round_}"))
        if not isinstance(before, int) or (before, kept) != (self.documents - merged, self.changed):
            self.failed(f"after a kill: {before} as before, {merged} merged, {kept} kept of {self.changed}")

    def merged(self, round_, branch):
        self.run("merge", branch)
        ended = (self.found(f"a = {round_}"), self.found(f"b = {round_}"))
        if ended != (self.documents, self.changed):
            self.failed(f"merged to its end: {ended} of {self.documents} and {self.changed}")
        again = json.loads(self.run("merge", branch, "--json").stdout or b"{}")
        if again.get("seq", 0) is not None:
            self.failed(f"a merge that was complete did something: {again}")
        if self.kind == "indexed":
            names = sorted(json.loads(line)["index"] for line in self.run("index", "list", "things", "--json").stdout.splitlines())
            if names != [f"new{round_}"]:
                self.failed(f"indexes after round {round_}: {names}")
        if self.kind == "conflicts":
            listed = len(self.run("conflicts", "things", "--json").stdout.splitlines())
            if listed != CONFLICTS:
                self.failed(f"{listed} documents in conflict, of {CONFLICTS}")


def attack(context):
    chance, kills, failures = context.random("merges"), 0, []
    for kind in ("plain", "indexed", "conflicts", "encrypted"):
        store = Store(context, kind)
        store.fill()
        takes = None  # seconds; the first of several merges is not killed, to know it
        # Documents that are in conflict do not merge again. In the short form one store has a second round.
        rounds = 1 if kind == "conflicts" else context.rounds(2 if kind == "indexed" else 1, 4)
        for round_ in range(1, rounds + 1):
            branch = store.diverge(round_)
            if rounds == 1:
                takes = context.rounds(1, 10)
            for _ in range(3 if takes else 0):
                store.killed(round_, branch, chance.uniform(0, takes))
            began = time.monotonic()
            store.merged(round_, branch)
            takes = takes or time.monotonic() - began
        store.run("verify")
        kills, failures = kills + store.kills, failures + store.failures
    if not kills:
        failures.append("no merge was killed: every one had ended before")
    yield kills, failures

"""kill -9 in the middle of a large merge: after each, every document is as before or as merged, what the main line had
changed is still there, and the merge is made again to its end."""

import json
import subprocess
import time


def found(context, store, condition):
    done = context.run("--store", store, "find", "things", condition, "--count", "--json")
    return json.loads(done.stdout)["count"] if done.returncode == 0 else done.stderr.decode(errors="replace")[:300]


def attack(context):
    chance = context.random("merges")
    documents, changed = context.rounds(12_000, 100_000), context.rounds(4_000, 40_000)
    store = context.folder / "merges.store"
    lines = "".join(json.dumps({"_id": f"d{n:06}", "a": 0, "b": 0}) + "\n" for n in range(documents))
    failures, kills = [], 0

    def run(*arguments, **more):
        done = context.run("--store", store, *arguments, timeout=1200, **more)
        if done.returncode:
            failures.append(f"{arguments}: {done.stderr.decode(errors='replace')[:300]}")
        return done

    run("import", "things", "-", stdin=lines.encode())
    takes = None  # seconds; the first merge is not killed, to know it
    for round_ in range(1, context.rounds(3, 10) + 1):
        branch = f"idea{round_}"
        run("branch", branch)
        run("update", "things", f"a < {round_}", "--merge", json.dumps({"a": round_}), "-y", "--branch", branch)
        run("update", "things", f"_id < d{changed:06}", "--merge", json.dumps({"b": round_}), "-y")
        for _ in range(3 if takes else 0):
            merging = subprocess.Popen(
                [context.binary, "--store", str(store), "merge", branch],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(chance.uniform(0, takes))
            kills += merging.poll() is None
            merging.kill()
            merging.wait()
            before, merged = found(context, store, f"a = {round_ - 1}"), found(context, store, f"a = {round_}")
            kept = found(context, store, f"b = {round_}")
            if not isinstance(before, int) or (before, kept) != (documents - merged, changed):
                failures.append(f"after a kill: {before} as before, {merged} merged, {kept} kept of {changed}")
        began = time.monotonic()
        run("merge", branch)
        takes = takes or time.monotonic() - began
        ended = (found(context, store, f"a = {round_}"), found(context, store, f"b = {round_}"))
        if ended != (documents, changed):
            failures.append(f"merged to its end: {ended} of {documents} and {changed}")
        again = json.loads(run("merge", branch, "--json").stdout or b"{}")
        if again.get("seq", 0) is not None:
            failures.append(f"a merge that was complete did something: {again}")
    run("verify")
    if not kills:
        failures.append("no merge was killed: every one had ended before")
    yield kills, failures

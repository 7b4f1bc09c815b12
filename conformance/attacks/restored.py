"""Older copies and killed work: a shared log that is put back while its node is dead or running, a damaged backup that is
brought up to date, an index whose building is killed."""

import shutil
import signal
import subprocess
import time

from harness import Refused, Server, load, panicked

COMMAND = "recension cluster discard"


def replaced(log, copy):
    """The log's system is put back to a copy."""
    shutil.rmtree(log)
    shutil.copytree(copy, log)


def put(server, names):
    for name in names:
        status, answer = server.request("PUT", f"/db/{name}", {"n": name})
        assert status == 201, (status, answer)


def documents(server):
    status, answer = server.get("/db/_all_docs?fresh=true")
    return {row["id"] for row in answer["rows"]} if status == 200 else None


def log_back(context, number, chance):
    """One log that goes back; answers what went wrong."""
    folder = context.folder / f"back{number}"
    folder.mkdir()
    log, copy, cache = folder / "log", folder / "copy", folder / "cache"
    address = lambda name: f"file://{log}?cache={folder / name}"
    first = Server(context, address("cache"))
    first.request("PUT", "/db")
    put(first, [f"a{n}" for n in range(chance.randrange(1, 20))])
    shutil.copytree(log, copy)
    lost = [f"lost{n}" for n in range(chance.randrange(1, 20))]
    put(first, lost)
    runs = chance.random() < 0.4
    if not runs:
        first.kill()
    replaced(log, copy)
    over = chance.choice([0, 1, len(lost), len(lost) + 7])
    with Server(context, address("other")) as other:
        put(other, [f"over{n}" for n in range(over)])
        wanted = documents(other)
        if runs:
            until = time.monotonic() + 30
            while first.get("/db/lost0")[0] != 503 and time.monotonic() < until:
                time.sleep(0.1)
            answers = [first.get("/db/lost0"), first.request("PUT", "/db/late", {}), first.get("/db?fresh=true")]
            first.kill()
            if any(status != 503 or COMMAND not in str(answer) for status, answer in answers):
                return f"a running node answers: {answers}"
        for _ in range(2):
            try:
                started = Server(context, address("cache"))
            except Refused as refused:
                if COMMAND not in str(refused):
                    return f"it does not name the way on: {refused}"
            else:
                found = documents(started)
                started.kill()
                return f"a node that is ahead starts, and has {sorted(found or [])}"
            verified = context.run("--store", address("cache"), "verify")
            if verified.returncode == 0 or panicked(verified):
                return f"verify: {verified}"
        discarded = context.run("cluster", "discard", cache, "--yes")
        if discarded.returncode:
            return f"discard: {discarded}"
        with Server(context, address("cache")) as again:
            found = documents(again)
            if found != wanted or any(name in found for name in lost):
                return f"after discard: {found}, wanted {wanted}"
    shutil.rmtree(folder, ignore_errors=True)
    return None


def export(context, store):
    done = context.run("--store", store, "export", "c")
    return done.stdout if done.returncode == 0 and not panicked(done) else None


def backups(context, rounds, chance):
    """Damaged backups, brought up to date."""
    store, backup, copy = (context.folder / name for name in ("live.store", "backup", "damaged"))
    with Server(context, store) as server:
        load(server, "c", 2000)
        server.request("POST", "/c/_compact", {})
        load(server, "d", 300)
    context.run("--store", store, "compact", "c")
    made = context.run("--store", store, "backup", backup)
    assert made.returncode == 0, made
    whole = export(context, store)
    for number in range(rounds):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(backup, copy)
        files = sorted(p for p in copy.rglob("*") if p.is_file() and p.stat().st_size)
        path = chance.choice(files)
        content = bytearray(path.read_bytes())
        at = chance.randrange(len(content))
        content[at] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        done = context.run("--store", store, "backup", copy)
        if panicked(done):
            yield f"backup over {path.name} at {at} (number {number}): {done.stderr[-300:]}"
        elif done.returncode == 0:
            verified = context.run("--store", copy, "verify")
            if verified.returncode or export(context, copy) != whole:
                yield f"backup over {path.name} at {at} (number {number}) is done, and it is not whole: {verified}"


def builds(context, rounds, chance):
    """Builds of an index that are killed."""
    store = context.folder / "builds.store"
    with Server(context, store) as server:
        load(server, "c", 12_000)
    for number in range(rounds):
        name = f"i{number}"
        command = [context.binary, "--store", str(store), "index", "create", "c", "n", "--name", name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        listed = lambda: context.run("--store", store, "index", "list", "c").stdout.decode()
        for _ in range(60):
            lines = [line for line in listed().splitlines() if name in line]
            if not any("building" in line for line in lines):
                break
        else:
            yield f"index {name} is building for ever (number {number}): {lines}"
        context.run("--store", store, "index", "drop", "c", name)


def attack(context):
    chance = context.random("restored")
    failures, logs = [], context.rounds(4, 60)
    for number in range(logs):
        problem = log_back(context, number, chance)
        if problem:
            failures.append(f"log {number} (seed {context.seed}): {problem}")
    damages, kills = context.rounds(12, 200), context.rounds(3, 30)
    for problem in (*backups(context, damages, chance), *builds(context, kills, chance)):
        failures.append(f"{problem} (seed {context.seed})")
    yield logs + damages + kills, failures

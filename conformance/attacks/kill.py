"""kill -9 among writers: what was acknowledged is there after each restart."""

import threading
import time

from harness import Server


def writer(server, name, acknowledged, stop):
    connection = server.connection(timeout=5)
    number = len(acknowledged)
    while not stop.is_set():
        try:
            status, answer = server.request("PUT", f"/k/{name}-{number}", {"n": number}, connection=connection)
        except OSError:
            return
        except Exception:  # an answer that was cut by the kill
            return
        if status == 201:
            acknowledged.append((f"{name}-{number}", answer["rev"]))
        number += 1


def attack(context):
    chance = context.random("kill")
    store = context.folder / "kill.store"
    acknowledged = [[] for _ in range(8)]
    server = Server(context, store)
    server.request("PUT", "/k")
    failures, tries = [], context.rounds(4, 60)
    for round_ in range(tries):
        stop = threading.Event()
        threads = [
            threading.Thread(target=writer, args=(server, f"w{n}", acknowledged[n], stop)) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.2, 1.5))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        server = Server(context, store)
        _, rows = server.get("/k/_all_docs")
        there = {row["id"]: row["value"]["rev"] for row in rows["rows"]}
        lost = [pair for pairs in acknowledged for pair in pairs if there.get(pair[0]) != pair[1]]
        if lost:
            failures.append(f"round {round_}: {len(lost)} acknowledged writes are missing, {lost[0]} the first")
    server.stop()
    done = context.run("--store", store, "verify")
    if done.returncode:
        failures.append(f"verify after the kills: {done.stderr.decode(errors='replace')[:300]}")
    yield sum(map(len, acknowledged)), failures

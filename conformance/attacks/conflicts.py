"""Merges beside DoltLite: the same rows are changed on both sides of a branch, at random, and both are asked what is in
conflict. The ids must be the same, and so must every document that is in none. (DoltLite is of the laboratory:
`pip install -r lab/external/doltlite/requirements.txt`; where it is not there, nothing is tried.)
"""

import json
import pathlib
import subprocess
import sys

from harness import Server

PROGRAM = pathlib.Path(__file__).parents[2] / "lab" / "external" / "doltlite" / "main.py"
COLUMNS = ["a", "b", "c"]


class Beside:
    """DoltLite, asked by lines."""

    def __init__(self, file):
        self.program = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, branch, text, *parameters):
        print(json.dumps([branch, text, parameters, False]), file=self.program.stdin, flush=True)
        answer = json.loads(self.program.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{text}: {answer['error']}")
        return answer["rows"]

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def row_of(chance):
    return {column: chance.randrange(3) for column in COLUMNS}


def changes(chance, ids):
    """What one side does: a row with an id, or None for one that it deletes."""
    done = {}
    for id, row in ids.items():
        kind = chance.random()
        if kind < 0.15:
            done[id] = None
        elif kind < 0.6:
            changed = dict(row)
            for column in chance.sample(COLUMNS, chance.randrange(1, 3)):
                changed[column] = chance.randrange(3)
            if changed != row:
                done[id] = changed
    for number in range(chance.randrange(3)):
        done[f"new{number}"] = row_of(chance)
    return done


def round_of(context, server, chance, number):
    """How many rows are in conflict, and what differs."""
    db, branch, failures = f"db{number}", f"idea{number}", []
    base = {f"r{n}": row_of(chance) for n in range(12)}
    sides = {"main": changes(chance, base), branch: changes(chance, base)}
    beside = Beside(context.folder / f"beside{number}.db")
    try:
        beside.ask("main", "CREATE TABLE t(id TEXT PRIMARY KEY, a INT, b INT, c INT)")
        for id, row in base.items():
            beside.ask("main", "INSERT INTO t VALUES(?,?,?,?)", id, *row.values())
        beside.ask("main", "SELECT dolt_commit('-A', '-m', 'base')")
        beside.ask("main", "SELECT dolt_branch(?)", branch)
        for side, done in sides.items():
            for id, row in done.items():
                beside.ask(side, "DELETE FROM t WHERE id = ?", id)
                if row:
                    beside.ask(side, "INSERT INTO t VALUES(?,?,?,?)", id, *row.values())
            beside.ask(side, "SELECT dolt_commit('-A', '-m', 'side', '--allow-empty')")
        beside.ask("main", "BEGIN")
        found = []
        try:
            beside.ask("main", "SELECT dolt_merge(?)", branch)
        except RuntimeError as error:  # it is told as an error, and can be looked at
            if "conflict(s)" not in str(error):
                raise
            found = beside.ask("main", "SELECT coalesce(base_id, our_id, their_id) FROM dolt_conflicts_t")
        theirs = {id for (id,) in found}
        merged = {id: dict(zip(COLUMNS, rest)) for id, *rest in beside.ask("main", "SELECT id, a, b, c FROM t")}
    finally:
        beside.close()

    def put(name, rows):
        docs = []
        for id, row in rows.items():
            rev = server.get(f"/{name}/{id}")[1].get("_rev")
            docs.append({"_id": id, **({"_rev": rev} if rev else {}), **(row or {"_deleted": True})})
        status, answer = server.request("POST", f"/{name}/_bulk_docs", {"docs": docs})
        assert status == 201 and all("ok" in one for one in answer), answer

    server.request("PUT", f"/{db}")
    put(db, base)
    assert server.request("POST", "/_branches", {"name": branch})[0] == 201
    put(db, sides["main"])
    put(f"{db}@{branch}", sides[branch])
    status, told = server.request("POST", "/_merge", {"from": branch})
    assert status == 200, told
    ours = {one["id"] for one in told["conflicts"] if one["db"] == db}
    shown = {id: [side[id] if id in side else "as it was" for side in sides.values()] for id in ours ^ theirs}
    if ours != theirs:
        failures.append(f"round {number}: in conflict here {sorted(ours)}, there {sorted(theirs)}: {shown}")
    _, all_docs = server.get(f"/{db}/_all_docs?include_docs=true")
    here = {row["id"]: {column: row["doc"][column] for column in COLUMNS} for row in all_docs["rows"]}
    for id in (here.keys() | merged.keys()) - ours - theirs:
        if here.get(id) != merged.get(id):
            failures.append(f"round {number}: {id} is {here.get(id)} here and {merged.get(id)} there")
    return len(theirs), failures


def attack(context):
    if subprocess.run([sys.executable, "-c", "import doltlite"], capture_output=True).returncode:
        print("  DoltLite is not installed: no merge is compared with it", flush=True)
        yield 0, []
        return
    chance, conflicts, failures = context.random("conflicts"), 0, []
    rounds = context.rounds(20, 1000)
    with Server(context, context.folder / "conflicts.store") as server:
        for number in range(rounds):
            in_conflict, differs = round_of(context, server, chance, number)
            conflicts += in_conflict
            failures += differs
    if not conflicts:
        failures.append("nothing was in conflict")
    yield rounds, failures

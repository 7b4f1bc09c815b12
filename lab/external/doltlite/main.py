"""DoltLite of the suite versions: main.py FILE. A line of JSON comes for each ask, [branch, SQL, parameters, many], and
a line goes back: {"rows": [[...]]} or {"error": "..."}. Each branch has a connection of its own; with `many` the
statement is executed once for each list of parameters."""
import doltlite  # before sqlite3, whose library it is from now on
import json
import sqlite3
import sys


def main():
    connections = {}

    def on(branch):
        if branch not in connections:
            connections[branch] = sqlite3.connect(sys.argv[1], isolation_level=None, cached_statements=64)
            if branch != "main":
                connections[branch].execute("SELECT dolt_checkout(?)", [branch]).fetchall()
        return connections[branch]

    for line in sys.stdin:
        try:
            branch, text, parameters, many = json.loads(line)
            asked = on(branch).executemany if many else on(branch).execute
            answer = {"rows": asked(text, parameters).fetchall()}
        except Exception as error:  # it is told, and the laboratory goes on
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()

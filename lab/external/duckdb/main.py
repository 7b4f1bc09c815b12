"""DuckDB of the suite queries: main.py FILE. A line of JSON comes for each ask, [SQL, [parameters]], and a line goes
back: {"rows": [[...]]} or {"error": "..."}."""
import json
import sys

import duckdb


def main():
    connection = duckdb.connect(sys.argv[1])
    for line in sys.stdin:
        try:
            text, parameters = json.loads(line)
            rows = connection.execute(text, parameters).fetchall()
            answer = {"rows": [[int(cell) if isinstance(cell, (int, float)) else cell for cell in row] for row in rows]}
        except Exception as error:  # it is told, and the laboratory goes on
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()

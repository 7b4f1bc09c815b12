#!/usr/bin/python3
"""The experiment hasql by psycopg: statements prepared by the server, binary rows, decoded into Python's own types."""

from datetime import date

import psycopg
from psycopg import errors, pq

from lines import serve

EPOCH = date(1970, 1, 1).toordinal()


def day(value):
    return 0 if value is None else value.toordinal() - EPOCH


class Subject:
    about = f"psycopg {psycopg.__version__}"
    settings = (
        "prepared by the server, binary results; transfers within transaction() at SERIALIZABLE, reads by themselves; "
        f"psycopg's own part in {pq.__impl__}"
    )

    def __init__(self, _directory, host, port):
        self.db = psycopg.connect(f"host={host} port={port} user=lab dbname=postgres", autocommit=True)
        self.db.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        self.cursor = self.db.cursor(binary=True)

    def set_up(self, line, _rows):
        self.db.execute(line[1])

    def parse(self, line):
        kind = line[0]
        if kind == "all":
            return kind, f"SELECT * FROM {line[1]}", ()
        if kind == "between":
            text = f"SELECT * FROM {line[1]} WHERE id > %s AND id < %s AND birthday != %s"
            return kind, text, (int(line[2]), int(line[3]), date.fromordinal(int(line[4]) + EPOCH))
        if kind == "transfer":
            return kind, int(line[1]), int(line[2])
        if kind == "balances":
            return (kind,)
        raise ValueError(f"no such operation: {line}")

    def ask(self, text, parameters=()):
        return self.cursor.execute(text, parameters, prepare=True).fetchall()

    def move(self, key, change):
        [(old,)] = self.ask("SELECT balance FROM balances WHERE id = %s", (key,))
        self.cursor.execute("UPDATE balances SET balance = %s WHERE id = %s", (old + change, key), prepare=True)
        return old

    def run(self, operation):
        kind = operation[0]
        if kind in ("all", "between"):
            return "people", self.ask(operation[1], operation[2])
        if kind == "balances":
            return kind, [amount for (amount,) in self.ask("SELECT balance FROM balances ORDER BY id")]
        try:
            with self.db.transaction():
                return "moved", [self.move(operation[1], -3), self.move(operation[2], 3)]
        except (errors.SerializationFailure, errors.DeadlockDetected):
            return "conflict", []

    def weigh(self, answer):
        kind, found = answer
        if kind == "people":
            return sum(key + len(name) + day(born) for key, name, born in found)
        return sum(found)

    def rows(self, answer):
        kind, found = answer
        if kind == "people":
            return [("person", key, name, "" if born is None else day(born)) for key, name, born in found]
        return [(kind, *found)]

    def close(self):
        self.db.close()


serve("hasql", Subject)

#!/usr/bin/python3
"""The experiment hasql by psycopg: statements prepared by the server, binary rows, decoded into Python's own types.

It speaks the laboratory's line protocol (docs/src/external-subjects.md)."""

import sys
import time
from datetime import date

import psycopg
from psycopg import errors, pq

EPOCH = date(1970, 1, 1).toordinal()
ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
PLAIN = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def hear():
    line = sys.stdin.readline()
    if not line:
        raise EOFError("the laboratory ended without close")
    return [unescape(field) for field in line.rstrip("\n").split("\t")]


def unescape(field):
    if "\\" not in field:
        return field
    parts, characters = [], iter(field)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "\\")
            character = PLAIN.get(escaped, escaped)
        parts.append(character)
    return "".join(parts)


def say(*fields, flush=False):
    sys.stdout.write("\t".join("".join(ESCAPES.get(c, c) for c in str(field)) for field in fields) + "\n")
    if flush:
        sys.stdout.flush()


def day(value):
    return 0 if value is None else value.toordinal() - EPOCH


class Subject:
    """What is measured: run() and weigh()."""

    def __init__(self, host, port):
        self.db = psycopg.connect(f"host={host} port={port} user=lab dbname=postgres", autocommit=True)
        self.db.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        self.cursor = self.db.cursor(binary=True)

    def ask(self, text, parameters=()):
        return self.cursor.execute(text, parameters, prepare=True).fetchall()

    def move(self, key, change):
        [(old,)] = self.ask("SELECT balance FROM balances WHERE id = %s", (key,))
        self.cursor.execute("UPDATE balances SET balance = %s WHERE id = %s", (old + change, key), prepare=True)
        return old

    def run(self, operation):
        kind = operation[0]
        if kind == "all":
            return "people", self.ask(operation[1])
        if kind == "between":
            return "people", self.ask(operation[1], operation[2])
        if kind == "balances":
            return "balances", [amount for (amount,) in self.ask("SELECT balance FROM balances ORDER BY id")]
        if kind == "transfer":
            try:
                with self.db.transaction():
                    return "moved", [self.move(operation[1], -3), self.move(operation[2], 3)]
            except (errors.SerializationFailure, errors.DeadlockDetected):
                return "conflict", []
        return "nothing", []

    def weigh(self, answer):
        kind, rows = answer
        if kind == "people":
            return sum(key + len(name) + day(born) for key, name, born in rows)
        return sum(rows)


def parse(line):
    """An operation out of its line, so that run() has nothing to read."""
    kind = line[0]
    if kind == "all":
        return kind, f"SELECT * FROM {line[1]}"
    if kind == "between":
        text = f"SELECT * FROM {line[1]} WHERE id > %s AND id < %s AND birthday != %s"
        return kind, text, (int(line[2]), int(line[3]), date.fromordinal(int(line[4]) + EPOCH))
    if kind == "transfer":
        return kind, int(line[1]), int(line[2])
    if kind in ("balances", "nothing"):
        return (kind,)
    raise ValueError(f"no such operation: {line}")


def show(answer):
    kind, rows = answer
    if kind == "people":
        say("rows", len(rows))
        for key, name, born in rows:
            say("person", key, name, "" if born is None else day(born))
    elif kind == "nothing":
        say("rows", 0)
    else:
        say("rows", 1)
        say(kind, *rows)


def expect(word):
    line = hear()
    if line != [word]:
        raise ValueError(f"expected {word}, found {line}")


def serve():
    hello = hear()
    if hello[:3] != ["hello", "1", "hasql"]:
        raise ValueError(f"expected hello 1 hasql, found {hello}")
    subject = Subject(hello[4], hello[5])
    settings = "prepared by the server, binary results; transfers within transaction() at SERIALIZABLE, reads by themselves"
    say("hello", 1, f"psycopg {psycopg.__version__}", f"{settings}; psycopg's own part in {pq.__impl__}", flush=True)
    while True:
        line = hear()
        if line[0] == "close":
            subject.db.close()
            say("ok", flush=True)
            return
        if line[0] == "sql":
            subject.db.execute(line[1])
            say("ok", flush=True)
        elif line[0] == "batch":
            batch = [parse(hear()) for _ in range(int(line[1]))]
            say("ready", flush=True)
            expect("go")
            answers, times, weight = [], [], 0
            for operation in batch:
                start = time.monotonic_ns()
                answer = subject.run(operation)
                weight += subject.weigh(answer)
                times.append(time.monotonic_ns() - start)
                answers.append(answer)
            say("done", weight, *times, flush=True)
            expect("results")
            for answer in answers:
                show(answer)
            sys.stdout.flush()
        else:
            raise ValueError(f"not understood: {line}")


try:
    serve()
except Exception as failure:  # whatever it is, the laboratory is told
    say("error", f"{type(failure).__name__}: {failure}", flush=True)
    sys.exit(1)

"""The laboratory's line protocol (docs/src/external-subjects.md), for programs in Python.

A subject has: about, settings, set_up(line, rows), parse(line), run(operation), weigh(answer), rows(answer), close()."""

import sys
import time

ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
PLAIN = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
NOTHING = ("nothing",)


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


def expect(word):
    line = hear()
    if line != [word]:
        raise ValueError(f"expected {word}, found {line}")


def batch(subject, count):
    lines = [hear() for _ in range(count)]
    operations = [NOTHING if line == ["nothing"] else subject.parse(line) for line in lines]
    say("ready", flush=True)
    expect("go")
    answers, times, weight = [], [], 0
    for operation in operations:
        start = time.monotonic_ns()
        answer = None
        if operation is not NOTHING:
            answer = subject.run(operation)
            weight += subject.weigh(answer)
        times.append(time.monotonic_ns() - start)
        answers.append(answer)
    say("done", weight, *times, flush=True)
    expect("results")
    for operation, answer in zip(operations, answers):
        rows = [] if operation is NOTHING else subject.rows(answer)
        say("rows", len(rows))
        for row in rows:
            say(*row)
    sys.stdout.flush()


def serve(experiment, open_subject):
    """Serves one store until it is closed; open_subject is given what the laboratory said after the experiment."""
    try:
        hello = hear()
        if hello[:3] != ["hello", "1", experiment]:
            raise ValueError(f"expected hello 1 {experiment}, found {hello}")
        subject = open_subject(*hello[3:])
        say("hello", 1, subject.about, subject.settings, flush=True)
        while True:
            line = hear()
            if line[0] == "close":
                subject.close()
                say("ok", flush=True)
                return
            if line[0] == "batch":
                batch(subject, int(line[1]))
            elif line[0] in ("sql", "load"):
                rows = [hear() for _ in range(int(line[1]))] if line[0] == "load" else []
                subject.set_up(line, rows)
                say("ok", flush=True)
            else:
                raise ValueError(f"not understood: {line}")
    except Exception as failure:  # whatever it is, the laboratory is told
        say("error", f"{type(failure).__name__}: {failure}", flush=True)
        sys.exit(1)

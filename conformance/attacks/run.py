#!/usr/bin/env python3
"""Attacks `recension` as its users' accidents and its enemies would, and prints a table of tries and failures.

    conformance/attacks/run.py [--binary PATH] [--long] [--seed N] [ATTACK...]

A failure names what replays it. The exit code is 1 when there was any.
"""

import argparse
import pathlib
import resource
import sys
import time

import cluster
import commands
import conflicts
import corrupt
import disks
import doors
import hostile
import kept
import kill
import limited
import memory
import merges
import owners
import pressure
import restored
import revocation
from harness import Context
from record import record, record_pressure

ATTACKS = {
    "kill -9 among writers": kill.attack,
    "kill -9 in a merge": merges.attack,
    "commands that are killed": commands.attack,
    "merges beside DoltLite": conflicts.attack,
    "owners of a shared store": owners.attack,
    "damage to every kind of file": corrupt.attack,
    "older copies and halted builds": restored.attack,
    "memory under lists": memory.attack,
    "pressure on budgets": pressure.attack,
    "pressure at every door": doors.attack,
    "pressure of what is kept": kept.attack,
    "rights taken away": revocation.attack,
    "a limited user": limited.attack,
    "hostile HTTP": hostile.attack,
    "disk full": disks.attack,
    "loss of power": disks.attack_power,
    "faults of a cluster": cluster.attack,
}


def main():
    # Attackers have many connections.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/debug/recension")
    parser.add_argument("--long", action="store_true", help="the long form: about two hours")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--record", action="store_true", help="add the run to docs/benchmarks/attacks.md")
    parser.add_argument("attacks", nargs="*", help=f"a part of a name of: {', '.join(ATTACKS)}")
    arguments = parser.parse_args()
    chosen = {
        name: attack
        for name, attack in ATTACKS.items()
        if not arguments.attacks or any(part in name for part in arguments.attacks)
    }
    if not chosen:
        parser.error(f"no attack is called so; there are: {', '.join(ATTACKS)}")
    print(f"seed {arguments.seed}", flush=True)
    rows, failed, measured = [], 0, []
    for name, attack in chosen.items():
        context = Context(arguments.binary, arguments.seed, arguments.long)
        started = time.monotonic()
        try:
            tries, failures = next(attack(context))
        except Exception as error:  # an attack that breaks is a failure, and the others go on
            tries, failures = 0, [f"the attack itself ended: {type(error).__name__}: {error}"]
        finally:
            context.clean()
        failed += len(failures)
        measured += context.measured
        rows.append((name, tries, len(failures), time.monotonic() - started))
        for failure in failures[:10]:
            print(f"  FAILED {name}: {failure}", flush=True)
    print(f"\n| attack | tries | failures | seconds |\n|---|---|---|---|")
    for name, tries, failures, seconds in rows:
        print(f"| {name} | {tries:,} | {failures} | {seconds:.0f} |")
    if arguments.record:
        record(arguments.seed, arguments.long, rows)
        if arguments.long:
            record_pressure(measured, pathlib.Path(context.binary))
    print(f"\n{len(rows)} attacks, {failed} failures")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

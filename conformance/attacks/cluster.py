"""Three nodes on one shared log, of PostgreSQL and of etcd, in rounds of faults: the tests of crates/recension-log,
which `cargo test` runs in their short form, with a hundred rounds and longer stops."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_MAX = 3 * 3600


def attack(context):
    tries, failures = 0, []
    rounds = context.rounds(10, 100)
    environment = {**os.environ, "RECENSION_ROUNDS": str(rounds), "RECENSION_SEED": str(context.seed)}
    for system in ("postgresql", "etcd"):
        command = ["cargo", "test", "--locked", "-p", "recension-log", "--test", "cluster", "--", "--nocapture", system]
        output = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=SECONDS_MAX, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        text = output.stdout.decode(errors="replace")
        done = len(re.findall(r": round \d+: .* all is well", text))
        tries += done
        print("\n".join(line for line in text.splitlines() if " rounds: " in line), flush=True)
        if output.returncode != 0 or done != rounds:
            replay = f"RECENSION_ROUNDS={rounds} RECENSION_SEED={context.seed} {' '.join(command)}"
            failures.append(f"{system} after {done} of {rounds} rounds: {text[-1500:]}\n  {replay}")
    yield tries, failures

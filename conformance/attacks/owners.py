"""kill -9 of a shared store's owner, again and again, among eight processes that write: the test of `conformance`,
which `cargo test` runs in its short form, with a hundred kills."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_MAX = 3600


def attack(context):
    kills = context.rounds(10, 100)
    command = ["cargo", "test", "--locked", "-p", "recension-conformance-tests", "--test", "it", "--", "--nocapture"]
    command.append("kill_shared::")
    output = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "RECENSION_KILLS": str(kills)},
        timeout=SECONDS_MAX,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    text = output.stdout.decode(errors="replace")
    done = re.search(r"(\d+) kills of (\d+) owners, (\d+) commits", text)
    if output.returncode != 0 or not done or int(done[1]) != kills:
        replay = f"RECENSION_KILLS={kills} {' '.join(command)}"
        yield int(done[1]) if done else 0, [f"{text[-1500:]}\n  {replay}"]
        return
    print(done[0], flush=True)
    yield kills, []

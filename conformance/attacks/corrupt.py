"""Damage to every kind of file: an error that names it, or the same answers; never fewer or other ones.

The store was closed, so nothing of it may be missing. Kinds are taken from the names of its files.
"""

import pathlib
import shutil

from harness import Server, load, panicked

WAYS = ("flip", "cut", "swap", "garbage", "zero", "missing", "empty")


def make(context):
    """A store with a log, index runs, settled files and a past."""
    store = context.folder / "corrupt.store"
    with Server(context, store) as server:
        load(server, "c", 3000)
        server.request("POST", "/c/_compact", {})
        load(server, "e", 500)
    context.run("--store", store, "index", "create", "c", "n")
    context.run("--store", store, "compact", "c")
    with Server(context, store) as server:
        load(server, "f", 700)
        for n in range(200):
            server.request("PUT", f"/f/again{n % 20}?new_edits=true", {"n": n})
    return store


def kind_of(path):
    """What kind of file: its folder and its name without numbers."""
    folder = path.parent.name if path.parent.name in ("log", "index", "settled") else ""
    return f"{folder}/{''.join('0' if c in '0123456789abcdef' and path.suffix else c for c in path.name)}"


def damage(path, way, chance):
    """Damages the file in some way; answers what was done, or None where nothing changed."""
    content = bytearray(path.read_bytes())
    # Room set apart behind the end is nothing that can be damaged.
    used = len(content.rstrip(b"\0"))
    if way == "missing":
        path.unlink()
        return "removed"
    if not used:
        return None
    if way == "empty":
        path.write_bytes(b"")
        return "emptied"
    at = chance.randrange(used)
    before = bytes(content)
    if way == "flip":
        content[at] ^= 1 << chance.randrange(8)
    elif way == "cut":
        del content[at:]
    elif way == "garbage":
        content[at : at + 64] = chance.randbytes(min(64, len(content) - at))
    elif way == "zero":
        end = min(at + 512, used)
        content[at:end] = bytes(end - at)
    elif way == "swap":
        block = 512
        if used < 3 * block:
            return None
        blocks = used // block
        a, b = chance.sample(range(blocks), 2)
        first, second = content[a * block : (a + 1) * block], content[b * block : (b + 1) * block]
        content[a * block : (a + 1) * block], content[b * block : (b + 1) * block] = second, first
        at = (a * block, b * block)
    if bytes(content) == before:
        return None
    path.write_bytes(content)
    return f"{way} at {at}"


def answers(context, store):
    """Everything that the store says: lists with texts, of now and of before; None with an error where it refuses."""
    said = []
    for arguments in (("export", "c"), ("export", "e"), ("export", "f"), ("find", "c", "n < 100"), ("changes", "f")):
        done = context.run("--store", store, *arguments)
        if panicked(done):
            return None, f"{arguments} panicked or hung: {done.stderr.decode(errors='replace')[:300]}"
        if done.returncode:
            return None, None
        said.append(done.stdout)
    return said, None


def attack(context):
    chance = context.random("corrupt")
    store = make(context)
    whole, problem = answers(context, store)
    assert whole is not None, problem or "the undamaged store does not answer"
    kinds = {}
    for path in sorted(p for p in store.rglob("*") if p.is_file()):
        kinds.setdefault(kind_of(path.relative_to(store)), []).append(path.relative_to(store))
    failures, tries, refused, same = [], 0, 0, 0
    copy = context.folder / "corrupt.copy"
    for number in range(context.rounds(40, 500)):
        kind = sorted(kinds)[number % len(kinds)]
        path = chance.choice(kinds[kind])
        way = WAYS[number // len(kinds) % len(WAYS)]
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy)
        done = damage(copy / path, way, chance)
        if done is None:
            continue
        tries += 1
        said, problem = answers(context, copy)
        where = f"{path}: {done} (seed {context.seed}, number {number})"
        if problem:
            failures.append(f"{where}: {problem}")
        elif said is None:
            refused += 1
        elif said == whole:
            same += 1
        else:
            failures.append(f"{where}: other answers, and no error")
    print(f"  corrupt: {len(kinds)} kinds of files, {refused} refused, {same} answered alike", flush=True)
    yield tries, failures

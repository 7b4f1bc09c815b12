"""A disk that is full, and a loss of power: file systems of their own, where this system lets us mount them.

A loss of power is a file system that is shut down under the server (`FS_IOC_SHUTDOWN` without a flush of its
journal), unmounted and mounted again: what was not synced is gone.
"""

import base64
import ctypes
import fcntl
import os
import shutil
import subprocess
import threading
import time

from harness import Refused, Server

FS_IOC_SHUTDOWN = 0x8004587D
NO_FLUSH_OF_THE_JOURNAL = 2


def mount(*arguments):
    return subprocess.run(["mount", *map(str, arguments)], capture_output=True).returncode == 0


def unmount(place):
    for _ in range(50):
        if subprocess.run(["umount", str(place)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "-l", str(place)], capture_output=True)


def write_until_refused(server, database, acknowledged, most, size):
    """Writes documents, which cannot be compressed; answers the status that was no success."""
    connection = server.connection()
    for number in range(most):
        try:
            text = base64.b64encode(os.urandom(size * 3 // 4)).decode()
            status, answer = server.request(
                "PUT", f"/{database}/f{len(acknowledged)}", {"text": text}, connection=connection
            )
        except Exception:
            return None
        if status != 201:
            return status
        acknowledged[f"f{len(acknowledged)}"] = answer["rev"]
    return 201


def missing(server, database, acknowledged):
    _, rows = server.get(f"/{database}/_all_docs")
    there = {row["id"]: row["value"]["rev"] for row in rows["rows"]}
    return [pair for pair in acknowledged.items() if pair[1] and there.get(pair[0]) != pair[1]]


def full_disk(context):
    place = context.folder / "full"
    place.mkdir()
    chance = context.random("full")
    failures, tries = [], 0
    for _ in range(context.rounds(2, 12)):
        mebibytes = chance.randrange(72, context.rounds(100, 200))
        if not mount("-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", place):
            print("  disk full: no file system can be mounted here", flush=True)
            return tries, failures
        try:
            acknowledged = {}
            server = Server(context, place / "store")
            server.request("PUT", "/f")
            size = chance.randrange(context.rounds(20_000, 4_000), 60_000)
            status = write_until_refused(server, "f", acknowledged, 100_000, size)
            tries += len(acknowledged)
            where = f"{mebibytes} MiB (seed {context.seed})"
            if status in (None, 201):
                failures.append(f"{where}: a full disk was answered with {status}")
            lost = missing(server, "f", acknowledged)
            if lost:
                failures.append(f"{where}: {len(lost)} acknowledged writes are not answered on the full disk")
            (server.kill if chance.random() < 0.5 else server.stop)()
            mount("-o", f"remount,size={mebibytes + 300}m", place)
            with Server(context, place / "store") as server:
                lost = missing(server, "f", acknowledged)
                if lost:
                    failures.append(f"{where}: {len(lost)} acknowledged writes are lost")
                if server.request("PUT", "/f/more", {"a": 1})[0] != 201:
                    failures.append(f"{where}: with room again, nothing can be written")
        except Refused as refused:
            failures.append(f"{mebibytes} MiB: the server does not start: {refused}")
        finally:
            unmount(place)
    return tries, failures


def shut_down(place):
    folder = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, FS_IOC_SHUTDOWN, ctypes.c_uint32(NO_FLUSH_OF_THE_JOURNAL))
    finally:
        os.close(folder)


def power_loss(context):
    image, place = context.folder / "power.img", context.folder / "power"
    place.mkdir()
    chance = context.random("power")
    failures, tries, acknowledged = [], 0, {}
    with open(image, "wb") as file:
        file.truncate(1 << 30)
    if not shutil.which("mkfs.ext4") or subprocess.run(["mkfs.ext4", "-q", image]).returncode:
        print("  power loss: no file system can be made here", flush=True)
        return tries, failures
    for round_ in range(context.rounds(3, 40)):
        if not mount("-o", "loop", image, place):
            print("  power loss: no file system can be mounted here", flush=True)
            break
        try:
            server = Server(context, place / "store")
            server.request("PUT", "/f")
            lost = missing(server, "f", acknowledged)
            if lost:
                failures.append(f"round {round_}: {len(lost)} acknowledged writes are lost (seed {context.seed})")
            writing = threading.Thread(target=write_until_refused, args=(server, "f", acknowledged, 10**9, 500))
            writing.start()
            time.sleep(chance.uniform(0.3, 2))
            before = len(acknowledged)
            shut_down(place)
            time.sleep(0.1)
            server.kill()
            writing.join()
            # Linux says to a sync under way that all is well while it shuts a file system down, and does not do it; a
            # program of ten lines shows that. Nothing is acknowledged after a loss of power.
            for name in list(acknowledged)[before:]:
                acknowledged[name] = None
            tries = before
        except OSError as error:
            print(f"  power loss: a file system cannot be shut down here: {error}", flush=True)
            server.kill()
            break
        except Refused as refused:
            failures.append(f"round {round_}: the server does not start: {refused}")
            break
        finally:
            unmount(place)
    return tries, failures


def attack(context):
    yield full_disk(context)


def attack_power(context):
    yield power_loss(context)

"""The client against the real server, in both dialects."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))

from recension_apocrypha import Client, DatabaseError  # noqa: E402


class Server:
    def __init__(self, *flags: str) -> None:
        command = [os.environ["RECENSION_BINARY"], "apocrypha", "--listen", "127.0.0.1:0", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class OfADialect:
    dialect = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server("--stateless", "--no-unix", "--dialect", cls.dialect)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.stop()

    def setUp(self) -> None:
        self.db = Client(port=self.server.port)
        self.db.set(value={"green": "nice", "menu": {"pizza": {"price": 9.5}}, "list": ["a", "b", "c"]})
        self.addCleanup(self.db.close)

    def test_values_are_read_and_written_with_the_original_s_methods(self) -> None:
        db = self.db
        self.assertEqual(db.get("green"), "nice")
        self.assertEqual(db.get("menu", "pizza"), {"price": 9.5})
        self.assertEqual(db.get("missing", default=[]), [])
        self.assertEqual(db.get("list", cast=set), {"a", "b", "c"})
        self.assertEqual(db.get("green", cast=list), ["nice"])
        self.assertEqual(db.keys(), ["green", "list", "menu"])
        self.assertEqual(db.keys("menu", "missing"), [])
        db.append("list", value="d")
        db.append("list", value=["e", "f"])
        db.remove("list", value=["a", "b"])
        self.assertEqual(db.get("list"), ["c", "d", "e", "f"])
        self.assertEqual(db.pop("list"), "c" if self.dialect == "haskell" else "f")
        self.assertEqual(db.pop("missing"), None)
        db.delete("list")
        self.assertIsNone(db.get("list"))
        self.assertEqual(db.search("nice"), ["green = nice"])
        db.flush()

    def test_what_the_server_refuses_is_an_error_with_its_text(self) -> None:
        for words in (["green", "x", "y"], ["--del"], ["green", "--keys"], ["a\nb"]):
            with self.assertRaisesRegex(DatabaseError, "^error: "):
                self.db.query(words)
        with self.assertRaises(DatabaseError):
            self.db.set("a", value=float("nan"))
        with self.assertRaises(DatabaseError):
            self.db.get("menu", cast=int)
        self.assertEqual(self.db.get("green"), "nice")

    def test_words_in_any_language_are_counted_in_bytes(self) -> None:
        self.db.append("é☃", "𝄞", value=["ö", "x"])
        self.assertEqual(self.db.query(["é☃", "𝄞"]), ["ö", "x"])
        self.assertEqual(self.db.keys("é☃"), ["𝄞"])
        self.assertEqual(self.db.get("é☃"), {"𝄞": ["ö", "x"]})

    def test_apply_of_many_at_once_loses_nothing(self) -> None:
        def add(number: int) -> None:
            with Client(port=self.server.port) as db:
                for nth in range(20):
                    db.apply("shared", "all", func=lambda all: [*(all or ["first"]), f"{number}-{nth}"])

        threads = [threading.Thread(target=add, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(self.db.get("shared", "all"))), 101)

    def test_one_client_serves_many_threads(self) -> None:
        wrong = []

        def ask(number: int) -> None:
            for nth in range(100):
                self.db.set(f"of {number}", value=str(nth))
                if self.db.get(f"of {number}") != str(nth):
                    wrong.append((number, nth))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_past_stays(self) -> None:
        db = self.db
        db.set("a", "b", value=["1", "2"])
        then = db.history("a", "b")[0].seq
        db.set("a", "b", value=3)
        db.delete("a")
        history = db.history("a", "b")
        self.assertEqual([revision.value for revision in history][:3], [None, 3, ["1", "2"]])
        self.assertFalse(history[0].exists)
        self.assertGreaterEqual(history[0].time, history[1].time)
        self.assertEqual(db.at(then).get("a", "b"), ["1", "2"])
        self.assertEqual(db.at(str(then)).keys("a"), ["b"])
        with self.assertRaises(DatabaseError):
            db.at(then).query(["a", "=", "x"])


class Haskell(OfADialect, unittest.TestCase):
    dialect = "haskell"


class Python(OfADialect, unittest.TestCase):
    dialect = "python"


class Connections(unittest.TestCase):
    def test_a_token_and_a_unix_socket(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/socket"
            server = Server("--stateless", "--token", "sesame", "--unix-socket", path)
            self.addCleanup(server.stop)
            with Client(port=server.port, token="sesame") as db:
                db.set("a", value="b")
            with Client(unix_socket=path) as db:
                self.assertEqual(db.get("a"), "b")
            for token in (None, "wrong"):
                with self.assertRaisesRegex(DatabaseError, "token"):
                    Client(port=server.port, token=token).get("a")

    def test_a_server_that_was_started_anew_is_found_again_with_its_data(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            flags = ("--no-unix", "--store", f"{folder}/store")
            server = Server(*flags)
            db = Client(port=server.port)
            db.set("a", value="b")
            server.stop()
            again = Server(*flags)
            self.addCleanup(again.stop)
            db.port = again.port
            self.assertEqual(db.get("a"), "b")
            db.close()

    def test_nobody_there_is_an_error(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with self.assertRaisesRegex(DatabaseError, "no server answers"):
            Client(port=port).get("a")


if __name__ == "__main__":
    unittest.main()

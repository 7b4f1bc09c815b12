"""redis-py, as it is on PyPI, against recension serve --redis: REDIS_PORT says where."""

import os
import threading

import pytest
import redis

PORT = int(os.environ["REDIS_PORT"])


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def client(request):
    client = redis.Redis(port=PORT, protocol=request.param, decode_responses=True)
    client.flushdb()
    yield client
    client.close()


def test_strings_and_expiry(client):
    assert client.ping()
    assert client.set("a", "1", ex=100) is True
    assert client.set("a", "2", nx=True) is None
    assert client.set("a", "2", keepttl=True, get=True) == "1"
    assert 90 < client.ttl("a") <= 100
    assert client.incr("a") == 3 and client.decrby("a", 5) == -2
    assert client.incrbyfloat("f", 1.5) == 1.5
    assert client.mset({"x": "1", "y": "2"}) and client.mget("x", "none", "y") == ["1", None, "2"]
    assert client.getdel("x") == "1" and client.exists("x", "y") == 1
    assert client.persist("a") and client.ttl("a") == -1
    assert client.pexpire("a", 1) and client.append("text", "abc") == 3 and client.getrange("text", 1, 2) == "bc"
    assert client.type("text") == "string" and client.dbsize() >= 2
    with pytest.raises(redis.ResponseError, match="not an integer"):
        client.incr("text")


def test_bytes_of_any_kind(client):
    raw = redis.Redis(port=PORT, protocol=2)
    value = bytes(range(256)) * 40
    assert raw.set(b"\x00\xff", value) and raw.get(b"\x00\xff") == value


def test_scan(client):
    for number in range(250):
        client.set(f"key:{number}", number)
    assert len(set(client.scan_iter("key:*", count=17))) == 250
    assert sorted(client.keys("key:1?")) == [f"key:1{digit}" for digit in range(10)]


def test_hashes(client):
    client.delete("cities:lisbon")
    assert client.hset("cities:lisbon", mapping={"name": "Lisbon", "country": "Portugal"}) == 2
    assert client.hgetall("cities:lisbon") == {"name": "Lisbon", "country": "Portugal"}
    assert client.hincrby("cities:lisbon", "visits", 3) == 3
    assert client.hmget("cities:lisbon", "name", "none") == ["Lisbon", None]
    assert dict(client.hscan_iter("cities:lisbon", match="n*")) == {"name": "Lisbon"}
    assert client.hdel("cities:lisbon", "visits") == 1 and client.hlen("cities:lisbon") == 2
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        client.get("cities:lisbon")


def test_transactions(client):
    with client.pipeline() as pipe:
        assert pipe.set("n", 1).incr("n").get("n").execute() == [True, 2, "2"]
    with client.pipeline(transaction=False) as pipe:
        assert pipe.set("n", 5).incr("n").execute() == [True, 6]
    with client.pipeline() as pipe:
        pipe.watch("n")
        client.set("n", 10)
        pipe.multi()
        pipe.set("n", 7)
        with pytest.raises(redis.WatchError):
            pipe.execute()
    assert client.get("n") == "10"

    def add(_):
        def body(pipe):
            number = int(pipe.get("n"))
            pipe.multi()
            pipe.set("n", number + 1)

        own = redis.Redis(port=PORT, decode_responses=True)
        for _ in range(20):
            own.transaction(body, "n")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert client.get("n") == "70"


def test_publish_and_subscribe(client):
    listener = client.pubsub(ignore_subscribe_messages=True)
    listener.subscribe("news")
    listener.psubscribe("order.*")
    listener.get_message(timeout=5), listener.get_message(timeout=5)
    assert client.publish("news", "hello") == 1
    assert client.publish("order.1", "pizza") == 1

    def next_message():
        for _ in range(100):
            message = listener.get_message(timeout=5)
            if message is not None:
                return message["type"], message["channel"], message["data"]
        raise AssertionError("nothing came")

    assert next_message() == ("message", "news", "hello")
    assert next_message() == ("pmessage", "order.1", "pizza")
    assert client.pubsub_numsub("news") == [("news", 1)]
    listener.close()


def test_lock(client):
    """redis-py's own lock needs scripts; the plain one by SET NX PX is what most programs use."""
    assert client.set("lock", "me", nx=True, px=60000)
    assert not client.set("lock", "other", nx=True, px=60000)
    assert client.getdel("lock") == "me"

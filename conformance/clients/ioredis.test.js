// ioredis, as it is on npm, against recension serve --redis: REDIS_PORT says where.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import Redis from "ioredis";

const connect = () => new Redis({ port: Number(process.env.REDIS_PORT), host: "127.0.0.1" });
const client = connect();
after(() => client.quit());

test("strings, numbers and expiry", async () => {
  assert.equal(await client.set("io:a", "1", "EX", 100), "OK");
  assert.equal(await client.set("io:a", "2", "NX"), null);
  assert.equal(await client.incrby("io:a", 4), 5);
  assert.deepEqual(await client.mget("io:a", "io:none"), ["5", null]);
  assert.ok((await client.ttl("io:a")) > 90);
  assert.deepEqual(await client.getBuffer("io:a"), Buffer.from("5"));
  await assert.rejects(client.set("io:a", "1", "EX", 0), /invalid expire time/);
});

test("hashes", async () => {
  await client.del("towns:porto");
  assert.equal(await client.hset("towns:porto", { name: "Porto", river: "Douro" }), 2);
  assert.deepEqual(await client.hgetall("towns:porto"), { name: "Porto", river: "Douro" });
});

test("scans as streams", async () => {
  await client.mset(Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`scan:${n}`, "x"])));
  const found = new Set();
  for await (const keys of client.scanStream({ match: "scan:*", count: 7 })) keys.forEach((key) => found.add(key));
  assert.equal(found.size, 120);
});

test("pipelines and transactions", async () => {
  const piped = await client.pipeline().set("p", "1").incr("p").get("p").exec();
  assert.deepEqual(piped, [[null, "OK"], [null, 2], [null, "2"]]);
  const done = await client.multi().set("p", "x").incr("p").get("p").exec();
  assert.equal(done[0][1], "OK");
  assert.match(done[1][0].message, /not an integer/);
  assert.equal(done[2][1], "x");
  const other = connect();
  await other.watch("p");
  await client.set("p", "y");
  assert.equal(await other.multi().set("p", "z").exec(), null);
  await other.quit();
});

test("publish and subscribe", async () => {
  const listener = connect();
  const heard = new Promise((resolve) => listener.on("pmessage", (...message) => resolve(message)));
  await listener.psubscribe("io.*");
  assert.equal(await client.publish("io.news", "hello"), 1);
  assert.deepEqual(await heard, ["io.*", "io.news", "hello"]);
  await listener.quit();
});

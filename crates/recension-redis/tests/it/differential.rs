//! The same commands to a real Redis 7 and to the door, and the same replies: scripts by family, and words put together
//! by chance, so that what one refuses the other does not obey. Where the door differs, docs/src/redis.md says so.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use recension::Store;
use recension_redis::resp::Requests;
use recension_redis::{Caller, Door, Protocol, Reply, Settings};

/// A real Redis of its own; it ends with the test.
struct Redis {
    process: Child,
    stream: BufReader<TcpStream>,
    _dir: tempfile::TempDir,
}

impl Redis {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Another process may take the port in between: then it is tried again with another one.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut process = Command::new("redis-server")
                .args(["--port", &port.to_string(), "--save", "", "--bind", "127.0.0.1"])
                .current_dir(dir.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap_or_else(|error| panic!("redis-server: {error}; install it (redis-server of Debian)"));
            let lines = BufReader::new(process.stdout.take().unwrap()).lines();
            let ready = lines.map_while(Result::ok).any(|line| line.contains("Ready to accept connections"));
            if ready && let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                return Redis { process, stream: BufReader::new(stream), _dir: dir };
            }
            let _ = process.kill();
            let _ = process.wait();
        }
        panic!("redis-server does not start");
    }

    fn ask(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).into_bytes());
            request.extend(word);
            request.extend(b"\r\n");
        }
        self.stream.get_mut().write_all(&request).unwrap();
        let mut reply = Vec::new();
        // One reply for each channel.
        let ends = words[0].to_ascii_uppercase().ends_with(b"UNSUBSCRIBE");
        let count = if ends && words.len() > 2 { words.len() - 1 } else { 1 };
        (0..count).for_each(|_| self.read(&mut reply));
        reply
    }

    fn read(&mut self, reply: &mut Vec<u8>) {
        let start = reply.len();
        self.stream.read_until(b'\n', reply).unwrap();
        let line = String::from_utf8_lossy(&reply[start..]).trim_end().to_owned();
        match (line.as_bytes()[0], line[1..].parse::<i64>()) {
            (b'$', Ok(len @ 0..)) => {
                let mut bytes = vec![0; usize::try_from(len).unwrap() + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                reply.extend(bytes);
            }
            (b'*', Ok(len)) => (0..len).for_each(|_| self.read(reply)),
            _ => {}
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn words(line: &str) -> Vec<Vec<u8>> {
    let mut requests = Requests::default();
    requests.feed(line.as_bytes());
    requests.feed(b"\n");
    requests.next_request().unwrap().unwrap()
}

fn ours(caller: &mut Caller, words: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match caller.call(&words) {
        Reply::Array(replies) if words[0].eq_ignore_ascii_case(b"UNSUBSCRIBE") && words.len() > 2 => {
            for reply in replies {
                reply.write(Protocol::Resp2, &mut out);
            }
        }
        reply => reply.write(Protocol::Resp2, &mut out),
    }
    out
}

/// The items of a reply, sorted: of sets and hashes the order is nobody's business.
fn sorted(reply: &[u8]) -> Vec<Vec<u8>> {
    let mut items: Vec<Vec<u8>> = reply.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    items.sort();
    items
}

const UNORDERED: [&str; 9] = ["SMEMBERS", "SINTER", "SUNION", "SDIFF", "HGETALL", "HKEYS", "HVALS", "KEYS", "HSCAN"];

/// Replies that differ on purpose, by the command's name and a part of Redis's reply. Each is in docs/src/redis.md.
const KNOWN: [(&str, &str); 9] = [
    // Long sums of binary numbers.
    ("INCRBYFLOAT", "9999"),
    ("HINCRBYFLOAT", "9999"),
    // Scripts: other words of the same error.
    ("EVAL", "-ERR Error compiling script"),
    ("EVAL", "-ERR user_script"),
    // What Redis has since 7.2.
    ("ZRANK", "-ERR wrong number of arguments"),
    ("ZREVRANK", "-ERR wrong number of arguments"),
    // Of two errors, another one is named.
    ("ZINCRBY", "-ERR syntax error"),
    ("ZINTERCARD", "-WRONGTYPE"),
    ("ZREVRANGE", "-ERR syntax error, LIMIT is only"),
];

fn is_known(words: &[Vec<u8>], theirs: &str) -> bool {
    let named = |name: &str| words.first().is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()));
    KNOWN.iter().any(|(name, part)| named(name) && theirs.contains(part))
}

/// Asks both; a difference, if there is one.
fn differs(redis: &mut Redis, caller: &mut Caller, words: &[Vec<u8>]) -> Option<String> {
    let (theirs, ours) = (redis.ask(words), ours(caller, words));
    let named = |name: &&str| words[0].eq_ignore_ascii_case(name.as_bytes());
    let same = theirs == ours || (UNORDERED.iter().any(named) && sorted(&theirs) == sorted(&ours));
    let theirs = String::from_utf8_lossy(&theirs).into_owned();
    if same || is_known(words, &theirs) {
        return None;
    }
    let request = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join(" ");
    Some(format!("{request}\n  Redis {theirs:?}\n  door  {:?}", String::from_utf8_lossy(&ours)))
}

fn door() -> Caller {
    Door::on(&Store::memory().unwrap(), Settings::default()).caller()
}

#[test]
fn scripts_of_every_family_are_answered_as_redis_does() {
    let (mut redis, mut caller) = (Redis::start(), door());
    let script = include_str!("differential.txt");
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let differences: Vec<_> = lines.filter_map(|line| differs(&mut redis, &mut caller, &words(line))).collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Commands whose words are put together at random. Not those whose replies are random, or about the server.
const BY_CHANCE: &str = "APPEND BLMOVE BLMPOP COPY DECR DECRBY DEL ECHO EVAL EVALSHA EXISTS EXPIRE EXPIREAT \
    FLUSHALL FLUSHDB GET GETDEL \
    GETEX GETRANGE GETSET HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HLEN HMGET HMSET HSET HSETNX HSTRLEN HVALS INCR \
    INCRBY \
    KEYS LINDEX LINSERT LLEN LMOVE LMPOP LPOP LPOS LPUSH LPUSHX LRANGE LREM LSET LTRIM MGET MOVE MSET MSETNX PERSIST \
    PEXPIRE PEXPIREAT PSETEX RENAME RENAMENX RPOP RPOPLPUSH RPUSH RPUSHX SADD SCARD SDIFF SDIFFSTORE SELECT SET SETEX \
    SETNX SETRANGE SINTER SINTERCARD SINTERSTORE SISMEMBER SMEMBERS SMISMEMBER SMOVE SREM STRLEN SUBSTR SUNION \
    SUNIONSTORE TOUCH TYPE UNLINK UNWATCH ZADD ZCARD ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY ZINTER ZINTERCARD ZINTERSTORE \
    ZLEXCOUNT ZMPOP ZMSCORE ZPOPMAX ZPOPMIN ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE ZRANK ZREM ZREMRANGEBYLEX \
    ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCORE ZUNION ZUNIONSTORE PING";

const WORDS: &str = "k k k l l s z h 1 2 3 0 -1 1.5 NX XX GT LT CH INCR EX PX KEEPTTL GET REPLACE DB LEFT RIGHT \
    COUNT LIMIT BYSCORE BYLEX REV \
    WITHSCORES WEIGHTS AGGREGATE SUM RANK MAXLEN BEFORE AFTER MIN MAX ASYNC [a (1 - + inf foo a b c";

#[test]
fn words_of_chance_are_taken_and_refused_as_redis_does() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5eed_u64);
    println!("SEED={seed}");
    let mut state = seed;
    let mut chance = |below: usize| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
    };
    let (mut redis, mut caller) = (Redis::start(), door());
    let commands: Vec<&str> = BY_CHANCE.split_whitespace().collect();
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6000);
    let mut differences = Vec::new();
    for round in 0..rounds {
        let command = commands[chance(commands.len())];
        let mut words = vec![command.as_bytes().to_vec()];
        // EX and its like with small numbers would make keys expire between the two servers.
        words.extend((0..chance(8)).map(|_| all[chance(all.len())].as_bytes().to_vec()));
        if let Some(difference) = differs(&mut redis, &mut caller, &words) {
            differences.push(format!("{round}: {difference}"));
        }
        if round % 50 == 49 {
            for again in
                ["FLUSHALL", "SELECT 0", "RPUSH l a b c a", "SADD s a b 1", "ZADD z 1 a 2 b 3 c", "HSET h a 1 b x"]
            {
                differs(&mut redis, &mut caller, &self::words(again));
            }
        }
    }
    assert!(differences.is_empty(), "SEED={seed}: {} differ:\n{}", differences.len(), differences.join("\n"));
}

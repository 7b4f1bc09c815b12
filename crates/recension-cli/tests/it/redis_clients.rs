//! Clients of Redis that people use, unchanged, against the real `recension serve --redis`: redis-cli, redis-benchmark,
//! redis-py and ioredis. `make test` installs them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of its own; it ends with the test.
struct Served {
    process: Child,
    http: String,
    redis: u16,
    _dir: tempfile::TempDir,
}

impl Served {
    fn start(environment: &[(&str, &str)]) -> Self {
        Self::of(tempfile::tempdir().unwrap(), environment)
    }

    /// Serves the folder's store.
    fn of(dir: tempfile::TempDir, environment: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_recension"))
            .args(["serve", "--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--log", "warn"])
            .arg(dir.path().join("store"))
            .env("RECENSION_ADMIN", "adm:pass")
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut next = |prefix: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(prefix).unwrap_or_else(|| panic!("{line:?} does not say {prefix:?}")).to_owned()
        };
        let http = next("listening on ").trim_end_matches('/').replacen("://", "://adm:pass@", 1);
        let redis = next("listening for Redis on 127.0.0.1:").parse().unwrap();
        Served { process, http, redis, _dir: dir }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/clients")
}

fn passes(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; run `make test` once"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn cli(served: &Served, args: &[&str]) -> String {
    let mut command = Command::new("redis-cli");
    passes(command.args(["-h", "127.0.0.1", "-p", &served.redis.to_string()]).args(args)).trim_end().to_owned()
}

#[test]
fn redis_cli_asks_in_both_protocols_and_documents_are_the_same_over_http() {
    let served = Served::start(&[]);
    assert_eq!(cli(&served, &["SET", "session:7", "ada", "EX", "1800"]), "OK");
    assert_eq!(cli(&served, &["-3", "GET", "session:7"]), "ada");
    passes(Command::new("curl").args(["-sSf", "-X", "PUT", &format!("{}/cities", served.http)]));
    assert_eq!(cli(&served, &["HSET", "cities:lisbon", "name", "Lisbon"]), "1");
    assert_eq!(cli(&served, &["-3", "--json", "HGETALL", "cities:lisbon"]), r#"{"name":"Lisbon"}"#);
    let curl = passes(Command::new("curl").args(["-sS", &format!("{}/cities/lisbon", served.http)]));
    assert!(curl.contains(r#""name":"Lisbon""#), "{curl}");
    assert_eq!(cli(&served, &["--scan", "--pattern", "session:*"]), "session:7");
    assert!(cli(&served, &["COMMAND", "COUNT"]).parse::<u32>().unwrap() > 50);
    assert!(cli(&served, &["INFO"]).contains("loading:0"));
    assert!(cli(&served, &["TTL", "session:7"]).parse::<i64>().unwrap() > 1700);
}

#[test]
fn a_password_keeps_others_out() {
    let served = Served::start(&[("RECENSION_REDIS_PASSWORD", "secret")]);
    assert!(cli(&served, &["GET", "a"]).contains("NOAUTH"));
    assert_eq!(cli(&served, &["-a", "secret", "--no-auth-warning", "SET", "a", "1"]), "OK");
    assert!(cli(&served, &["-a", "wrong", "--no-auth-warning", "GET", "a"]).contains("NOAUTH"));
    let refused = Command::new(env!("CARGO_BIN_EXE_recension"))
        .args(["serve", "--listen", "127.0.0.1:0", "--redis", "0.0.0.0:0", "memory:"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("RECENSION_REDIS_PASSWORD"), "{refused:?}");
}

#[test]
fn clients_of_a_branch_write_on_it_and_the_main_line_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = recension::open(&dir.path().join("store").display().to_string()).unwrap();
    store.collection("cities").unwrap().put("lisbon", r#"{"name":"Lisbon"}"#).unwrap();
    store.keys("redis").unwrap().set("visits", "5").unwrap();
    store.branch("trial", recension::At::Now).unwrap();
    drop(store);
    let served = Served::of(dir, &[("RECENSION_REDIS_BRANCH", "trial")]);
    assert_eq!(cli(&served, &["INCR", "visits"]), "6");
    assert_eq!(cli(&served, &["HSET", "cities:lisbon", "name", "Lisboa"]), "0");
    let body = |db: &str| passes(Command::new("curl").args(["-sSf", &format!("{}/{db}/lisbon", served.http)]));
    assert!(body("cities").contains("Lisbon") && body("cities%40trial").contains("Lisboa"));
    let drop = format!("{}/_branches/trial", served.http);
    passes(Command::new("curl").args(["-sSf", "-X", "DELETE", &drop]));
    assert!(cli(&served, &["INCR", "visits"]).contains("there is no branch trial"));
}

/// A connection that has sent something.
fn sent(served: &Served, lines: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", served.redis)).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    (&stream).write_all(lines.as_bytes()).unwrap();
    BufReader::new(stream)
}

#[test]
fn connections_end_with_the_token_that_they_logged_in_with() {
    let served = Served::start(&[("RECENSION_REDIS_PASSWORD", "secret")]);
    let url = format!("{}/_tokens", served.http);
    let json = ["-H", "Content-Type: application/json", "-d", r#"{"name":"jobs","rights":"server"}"#];
    let made = passes(Command::new("curl").args(["-sSf", &url]).args(json));
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let mut ended = [
        sent(&served, &format!("AUTH {token}\r\nSUBSCRIBE c\r\n")),
        sent(&served, &format!("AUTH {token}\r\nBLPOP q 0\r\n")),
        sent(&served, &format!("AUTH {token}\r\n")),
    ];
    let mut stays = sent(&served, "AUTH secret\r\n");
    for connection in ended.iter_mut().chain([&mut stays]) {
        let mut line = String::new();
        connection.read_line(&mut line).unwrap();
        assert_eq!(line, "+OK\r\n");
    }
    passes(Command::new("curl").args(["-sSf", "-X", "DELETE", &format!("{url}/{id}")]));
    for mut connection in ended {
        let mut rest = String::new();
        connection.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("-NOAUTH "), "{rest}");
    }
    stays.get_ref().write_all(b"RPUSH q 1\r\nLLEN q\r\n").unwrap();
    let mut line = String::new();
    stays.read_line(&mut line).and_then(|_| stays.read_line(&mut line)).unwrap();
    assert_eq!(line, ":1\r\n:1\r\n");
}

#[test]
fn redis_benchmark_runs_unchanged() {
    let served = Served::start(&[]);
    let port = served.redis.to_string();
    let mut benchmark = Command::new("redis-benchmark");
    benchmark.args(["-h", "127.0.0.1", "-p", &port, "-t", "ping,set,get,incr,mset,hset", "-q", "-n", "300", "-c", "4"]);
    let text = passes(&mut benchmark);
    for name in ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "HSET", "MSET"] {
        assert!(text.contains(name), "{text}");
    }
    let mut pipelined = Command::new("redis-benchmark");
    passes(pipelined.args([
        "-h",
        "127.0.0.1",
        "-p",
        &port,
        "-t",
        "set,get",
        "-q",
        "-n",
        "2000",
        "-P",
        "16",
        "-c",
        "4",
    ]));
    assert!(!text.contains("ERR") && !text.contains("WARNING"), "{text}");
}

#[test]
fn redis_py_works_as_it_is() {
    let program = clients().join("python/.venv/bin/pytest");
    assert!(program.exists(), "the packages are not installed: run scripts/python-packages");
    let served = Served::start(&[]);
    let mut pytest = Command::new(program);
    pytest.env("PYTHONDONTWRITEBYTECODE", "1").env("REDIS_PORT", served.redis.to_string());
    let text =
        passes(pytest.args(["-q", "-p", "no:cacheprovider", "test_redis.py"]).current_dir(clients().join("python")));
    assert!(text.contains("passed"), "{text}");
}

#[test]
fn ioredis_works_as_it_is() {
    assert!(
        clients().join("node_modules/ioredis").exists(),
        "the packages are not installed: run scripts/node-packages"
    );
    let served = Served::start(&[]);
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap", "ioredis.test.js"]).current_dir(clients());
    let text = passes(node.env("REDIS_PORT", served.redis.to_string()));
    assert!(text.lines().any(|line| line.trim_start().starts_with("ok ")), "{text}");
}

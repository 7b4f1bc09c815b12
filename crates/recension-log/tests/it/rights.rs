//! Users with the least rights that the guide names: they can keep a store, and nothing else.

use std::process::Command;

use recension::Store;
use recension_engine::Engine as _;
use recension_engines::project::{check, project};
use recension_log::{Cache, LogAddress, ReplicatedEngine, open_log, open_projection};

use crate::project::Client;
use crate::support::{System, options, row, value};

/// What the guide says, for a user who may not make tables, and for one who also writes a projection.
fn grants(system: &System, user: &str, schema: &str) -> String {
    match system.name {
        "postgresql" => format!(
            "create role {user} login password 'geheim'; \
             grant select, insert, update, delete on recension_log, recension_blob to {user}; \
             create schema {schema} authorization {user}; \
             revoke create on schema public from public;"
        ),
        _ => format!(
            "create user {user} identified by 'geheim'; \
             grant select, insert, update, delete on test.recension_log to {user}; \
             grant select, insert, update, delete on test.recension_blob to {user}; \
             create database if not exists {schema}; \
             grant select, insert, update, delete, create, drop on {schema}.* to {user};"
        ),
    }
}

/// A user of the tables keeps a store, reads no other table and makes none.
pub(crate) fn the_least_rights_are_enough(system: &System) {
    let (Some(of), Some(client)) = (&system.address, Client::of(system)) else { return };
    let name = system.fresh_name();
    let (user, schema) = (format!("least_{name}"), format!("p_least_{name}"));
    let administrator = LogAddress::parse(&of(&name)).unwrap();
    // Somebody else has made the tables.
    drop(open_log(&administrator).unwrap());
    client.administer(&administrator, &grants(system, &user, &schema));
    let mine = administrator.user.clone().unwrap();
    let address = of(&name).replace(&format!("//{mine}@"), &format!("//{user}@"));
    let address = LogAddress::parse(&format!("{address}&project={schema}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let engine =
        ReplicatedEngine::open(open_log(&address).unwrap(), &Cache::directory(folder.path().join("c")), options())
            .unwrap();
    for n in 0..20 {
        engine.commit(row(b"k", &[n])).unwrap();
    }
    engine.write_snapshot().unwrap();
    let store = Store::on(std::sync::Arc::new(engine)).unwrap();
    store.collection("cities").unwrap().put("porto", r#"{"name":"Porto"}"#).unwrap();
    let mut projection = open_projection(&address).unwrap().unwrap();
    project(&store, &mut projection, false).unwrap();
    project(&store, &mut projection, true).unwrap();
    assert_eq!(check(&store, &mut projection).unwrap(), Vec::<String>::new());
    let table = if system.name == "postgresql" { "public.mine" } else { "test.mine" };
    let refused = client.ask_as(&address, &user, &format!("create table {table} (n int)"));
    assert!(refused.is_err(), "the user may do more than was granted");
}

/// TLS; and a user whose role has the keys of one log keeps it, and reaches no other.
pub(crate) fn a_role_of_one_prefix_is_enough(system: &System) {
    let (Some(of), Some(certificate)) = (&system.tls_address, &system.certificate) else { return };
    // Before the server asks everybody who they are.
    crate::network::tls_is_checked(system);
    let name = system.fresh_name();
    let plain = LogAddress::parse(&of(&name)).unwrap();
    let port = plain.hosts[0].1.unwrap();
    let ask = |token: &str, path: &str, body: &str| {
        let url = format!("https://127.0.0.1:{port}/v3/{path}");
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail-with-body", "--cacert", certificate, "--data", body, &url]);
        if !token.is_empty() {
            command.args(["--header", &format!("Authorization: {token}")]);
        }
        let output = command.output().expect("apt-get install curl");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{path} {body}: {answer}");
        answer
    };
    let base64 = |text: &str| {
        let mut command = Command::new("sh");
        let output = command.args(["-c", &format!("printf %s '{text}' | base64 -w0")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // Every key with the prefix: up to the one behind the last that begins so.
    let (from, to) = (base64(&format!("recension/{name}/")), base64(&format!("recension/{name}0")));
    ask("", "auth/user/add", r#"{"name":"root","password":"geheim"}"#);
    ask("", "auth/user/grant", r#"{"user":"root","role":"root"}"#);
    ask("", "auth/role/add", r#"{"name":"keeper"}"#);
    let permission =
        format!(r#"{{"name":"keeper","perm":{{"permType":"READWRITE","key":"{from}","range_end":"{to}"}}}}"#);
    ask("", "auth/role/grant", &permission);
    ask("", "auth/user/add", r#"{"name":"ada","password":"geheim"}"#);
    ask("", "auth/user/grant", r#"{"user":"ada","role":"keeper"}"#);
    ask("", "auth/enable", "{}");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, password: &str| {
        std::fs::write(folder.path().join(name), password).unwrap();
        folder.path().join(name).display().to_string()
    };
    let open = |log: &str, password: &str| {
        let address = format!("etcd://ada@127.0.0.1:{port}/{log}?ca={certificate}&password-file={password}");
        let log = open_log(&LogAddress::parse(&address).unwrap())?;
        let mut options = options();
        options.patience = std::time::Duration::from_secs(2);
        ReplicatedEngine::open(log, &Cache::Memory, options)
    };
    let engine = open(&name, &file("right", "geheim\n")).unwrap();
    engine.commit(row(b"k", b"v")).unwrap();
    engine.refresh().unwrap();
    assert_eq!(value(&engine, b"k").as_deref(), Some(&b"v"[..]));
    let other = open("another", &file("right", "geheim\n")).map(drop).unwrap_err().to_string();
    assert!(other.contains("permission denied"), "{other}");
    let wrong = open(&name, &file("wrong", "falsch")).map(drop).unwrap_err().to_string();
    assert!(wrong.contains("authentication failed") && !wrong.contains("falsch"), "{wrong}");
}

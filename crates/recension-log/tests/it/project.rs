//! Documents as rows of tables: read by the systems' own clients, brought up to date, built anew, and checked.

use std::process::Command;
use std::sync::Arc;

use recension::Store;
use recension_engines::project::{check, project};
use recension_log::{LogAddress, open_projection};

use crate::support::{System, node};

/// A system's client, and how its SQL says things.
pub(crate) struct Client {
    /// The program, the package that has it, and its arguments but for the address and the statement.
    program: (&'static str, &'static str, &'static [&'static str]),
    password: &'static str,
    user: &'static str,
    /// Who may make users.
    administrator: &'static str,
    database: &'static str,
    /// A member of a body as a text.
    member: fn(&str) -> String,
    /// An index over a member, on a table.
    index: fn(&str) -> String,
    /// A body with another value.
    spoiled: &'static str,
}

pub(crate) const PSQL: Client = Client {
    program: ("psql", "postgresql-client", &["-XAt"]),
    password: "PGPASSWORD",
    user: "test",
    administrator: "test",
    database: "-d",
    member: |name| format!("body->>'{name}'"),
    index: |table| format!("create index on {table} ((body->>'name'))"),
    spoiled: "body || '{\"country\":\"Atlantis\"}'",
};

pub(crate) const MARIADB: Client = Client {
    program: ("mariadb", "mariadb-client", &["--batch", "--skip-column-names", "--skip-ssl"]),
    password: "MYSQL_PWD",
    user: "u",
    administrator: "boss",
    database: "-D",
    member: |name| format!("json_value(body, '$.{name}')"),
    index: |table| {
        format!(
            "alter table {table} add name varchar(200) as (json_value(body, '$.name')) persistent, add index (name)"
        )
    },
    spoiled: "json_set(body, '$.country', 'Atlantis')",
};

impl Client {
    pub(crate) fn of(system: &System) -> Option<&'static Client> {
        match system.name {
            "postgresql" => Some(&PSQL),
            "mysql" => Some(&MARIADB),
            _ => None,
        }
    }

    /// What the client answers.
    pub(crate) fn ask(&self, address: &LogAddress, sql: &str) -> String {
        self.ask_as(address, self.user, sql).unwrap_or_else(|why| panic!("{sql}: {why}"))
    }

    /// Has the server's administrator do something.
    pub(crate) fn administer(&self, address: &LogAddress, sql: &str) {
        self.ask_as(address, self.administrator, sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    }

    /// The same as another user, whose password is the same.
    pub(crate) fn ask_as(&self, address: &LogAddress, user: &str, sql: &str) -> Result<String, String> {
        let (host, port) = &address.hosts[0];
        let (program, package, arguments) = self.program;
        let port = port.unwrap().to_string();
        let port_flag = if program == "psql" { "-p" } else { "-P" };
        let user_flag = if program == "psql" { "-U" } else { "-u" };
        let statement = if program == "psql" { "-c" } else { "-e" };
        let output = Command::new(program)
            .env(self.password, "geheim")
            .args(arguments)
            .args(["-h", host, port_flag, &port, user_flag, user, self.database, &address.path, statement, sql])
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}; apt-get install {package}"));
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

/// The documents of a store are rows, and stay so.
pub(crate) fn documents_are_rows(system: &System) {
    let (Some(of), Some(client)) = (&system.address, Client::of(system)) else { return };
    let member = client.member;
    let name = system.fresh_name();
    let address = LogAddress::parse(&format!("{}&project=p_{name}", of(&name))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::on(Arc::new(node((system.open)(&name), &folder.path().join("one")))).unwrap();
    let mut projection = open_projection(&address).unwrap().unwrap();
    let cities = store.collection("cities").unwrap();
    let porto = cities.put("porto", r#"{"name":"Porto","country":"Portugal","n":1}"#).unwrap();
    cities.put("lyon", r#"{"name":"Lyon","country":"France"}"#).unwrap();
    // Ids are told apart by every byte, and bodies may be deep.
    cities.put("Odd ", r#"{"n":1}"#).unwrap();
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(60), "]".repeat(60));
    cities.put("deep", deep.as_str()).unwrap();
    cities.put("odd", r#"{"name":"\u0000 \\u0000 \"quoted\"","emoji":"😀"}"#).unwrap();
    store.collection("Odd-Name.x").map(|odd| odd.put("x", "{}").unwrap()).unwrap();
    assert_eq!(project(&store, &mut projection, false).unwrap().written, 6);
    let found = format!("select {} from p_{name}.cities where {} = 'Portugal'", member("name"), member("country"));
    assert_eq!(client.ask(&address, &found), "Porto");
    let rev = format!("select rev from p_{name}.cities where id = 'porto'");
    assert_eq!(client.ask(&address, &rev), porto.rev.to_string());
    // Indexes of one's own stay.
    client.ask(&address, &(client.index)(&format!("p_{name}.cities")));
    cities.replace("porto", &porto.rev, r#"{"name":"O Porto","country":"Portugal"}"#).unwrap();
    let lyon = cities.get("lyon").unwrap().unwrap();
    cities.delete("lyon", &lyon.rev).unwrap();
    let done = project(&store, &mut projection, false).unwrap();
    assert_eq!((done.written, done.deleted), (1, 1));
    assert_eq!(client.ask(&address, &found), "O Porto");
    assert_eq!(client.ask(&address, &format!("select count(*) from p_{name}.cities")), "4");
    assert_eq!(project(&store, &mut projection, false).unwrap().written, 0);
    // Collections that are dropped, and tables that somebody has meddled with.
    store.drop_collection("Odd-Name.x").unwrap();
    project(&store, &mut projection, false).unwrap();
    assert_eq!(check(&store, &mut projection).unwrap(), Vec::<String>::new());
    client.ask(
        &address,
        &format!(
            "update p_{name}.cities set rev = 'x' where id = 'porto'; delete from p_{name}.cities where id = 'odd'"
        ),
    );
    assert_eq!(check(&store, &mut projection).unwrap().len(), 2);
    client.ask(&address, &format!("update p_{name}.cities set body = {} where id = 'Odd '", client.spoiled));
    assert_eq!(check(&store, &mut projection).unwrap().len(), 3, "bodies are compared");
    project(&store, &mut projection, true).unwrap();
    assert_eq!(check(&store, &mut projection).unwrap(), Vec::<String>::new());
    assert_eq!(client.ask(&address, &format!("select count(*) from p_{name}.cities")), "4");
    // A collection that was dropped and made again between has no row of the old one.
    store.drop_collection("cities").unwrap();
    cities.put("faro", r#"{"name":"Faro"}"#).unwrap();
    project(&store, &mut projection, false).unwrap();
    assert_eq!(client.ask(&address, &format!("select id from p_{name}.cities")), "faro");
    // More than one transaction's worth.
    for n in 0..1200 {
        cities.put(&format!("n{n}"), r#"{"many":true}"#).unwrap();
    }
    assert_eq!(project(&store, &mut projection, false).unwrap().written, 1200);
    assert_eq!(check(&store, &mut projection).unwrap(), Vec::<String>::new());
}

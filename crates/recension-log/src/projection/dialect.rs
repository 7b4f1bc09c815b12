//! Differences between the databases that have projections: names, types, and statements. `{table}` stands for a table
//! in its schema, `{schema}` for the schema, `{rows}` for the rows of an insert.

/// A dialect of SQL.
pub(crate) struct Dialect {
    pub(crate) system: &'static str,
    /// The quotation mark of names.
    pub(crate) quote: char,
    /// Longest name of a table, and whether that is counted in bytes or in characters.
    table_max: (usize, Unit),
    /// Rows of one insert.
    pub(crate) rows_at_once: usize,
    /// Values: schema.
    pub(crate) schema_is_there: &'static str,
    pub(crate) make_schema: &'static str,
    /// Values: schema, table.
    pub(crate) is_there: &'static str,
    pub(crate) make_state: &'static str,
    pub(crate) make_table: &'static str,
    /// The tables in a schema that have the columns of a projection. Values: schema.
    pub(crate) tables: &'static str,
    /// Values: log.
    pub(crate) state: &'static str,
    /// Values: log, seq.
    pub(crate) write_state: &'static str,
    /// A row of a later commit stays: two processes may write the same projection, one after the other.
    pub(crate) upsert: &'static str,
    /// Values: id, rev, seq, body.
    pub(crate) upsert_row: &'static str,
    /// Values: id, seq.
    pub(crate) delete: &'static str,
    pub(crate) ids: &'static str,
    /// `same`, `different` or `missing`. Values: rev, body, id.
    pub(crate) compare: &'static str,
    /// A JSON text as the column takes it.
    pub(crate) storable: fn(&str) -> String,
}

#[derive(Clone, Copy)]
#[allow(dead_code, reason = "each is a system's, which may be left out")]
enum Unit {
    Bytes,
    Characters,
}

impl Dialect {
    pub(crate) fn is_too_long(&self, name: &str) -> bool {
        let (max, unit) = self.table_max;
        match unit {
            Unit::Bytes => name.len() > max,
            Unit::Characters => name.chars().count() > max,
        }
    }
}

#[cfg(feature = "postgres")]
pub(crate) static POSTGRES: Dialect = Dialect {
    system: "postgresql",
    quote: '"',
    table_max: (63, Unit::Bytes),
    // Statements of one row are pipelined.
    rows_at_once: 1,
    schema_is_there: "select 'there'::text from pg_namespace where nspname = $1::text",
    make_schema: "create schema if not exists {schema}",
    is_there: "select 'there'::text from pg_class c join pg_namespace n on n.oid = c.relnamespace \
               where n.nspname = $1::text and c.relname = $2::text and c.relkind = 'r'",
    make_state: "create table if not exists {table} (log text primary key, seq bigint not null)",
    make_table: "create table if not exists {table} (id text collate \"C\" primary key, rev text not null, \
                 seq bigint not null, body jsonb not null)",
    tables: "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace \
             where n.nspname = $1::text and c.relkind = 'r' and (select count(*) from pg_attribute a \
             where a.attrelid = c.oid and a.attname in ('id', 'rev', 'seq', 'body') and not a.attisdropped) = 4",
    state: "select seq::text from {table} where log = $1::text",
    write_state: "insert into {table} as t (log, seq) values ($1::text, $2::int8) on conflict (log) do update \
                  set seq = greatest(t.seq, excluded.seq)",
    upsert: "insert into {table} as t (id, rev, seq, body) values {rows} on conflict (id) do update \
             set rev = excluded.rev, seq = excluded.seq, body = excluded.body where t.seq <= excluded.seq",
    upsert_row: "($1::text, $2::text, $3::int8, $4::text::jsonb)",
    delete: "delete from {table} where id = $1::text and seq <= $2::int8",
    ids: "select id from {table}",
    compare: "select coalesce((select case when rev = $1::text and body = $2::text::jsonb then 'same' \
              else 'different' end from {table} where id = $3::text), 'missing')",
    storable: without_zero_characters,
};

#[cfg(feature = "mysql")]
pub(crate) static MYSQL: Dialect = Dialect {
    system: "mysql",
    quote: '`',
    table_max: (64, Unit::Characters),
    // Every statement is a round trip.
    rows_at_once: 100,
    schema_is_there: "select 'there' from information_schema.schemata where schema_name = ?",
    make_schema: "create database if not exists {schema}",
    is_there: "select 'there' from information_schema.tables where table_schema = ? and table_name = ?",
    make_state: "create table if not exists {table} (log varchar(64) character set ascii collate ascii_bin \
                 primary key, seq bigint unsigned not null) engine=InnoDB",
    // Ids are compared byte by byte, without ignoring trailing blanks. Bodies are text and not of the type `json`:
    // MariaDB's check of it refuses documents with more than 32 levels.
    make_table: "create table if not exists {table} (id varbinary(2048) primary key, \
                 rev varchar(255) character set utf8mb4 collate utf8mb4_bin not null, \
                 seq bigint unsigned not null, \
                 body longtext character set utf8mb4 collate utf8mb4_bin not null) engine=InnoDB row_format=dynamic",
    tables: "select cast(table_name as char) from information_schema.columns where table_schema = ? \
             and column_name in ('id', 'rev', 'seq', 'body') group by table_name having count(*) = 4",
    state: "select cast(seq as char) from {table} where log = ?",
    write_state: "insert into {table} (log, seq) values (?, ?) on duplicate key update \
                  seq = greatest(seq, values(seq))",
    // Assignments are made from left to right, so the seq comes last.
    upsert: "insert into {table} (id, rev, seq, body) values {rows} on duplicate key update \
             rev = if(seq <= values(seq), values(rev), rev), body = if(seq <= values(seq), values(body), body), \
             seq = greatest(seq, values(seq))",
    upsert_row: "(?, ?, ?, ?)",
    delete: "delete from {table} where id = ? and seq <= ?",
    ids: "select id from {table}",
    compare: "select coalesce((select if(rev = ? and body = ?, 'same', 'different') from {table} where id = ?), \
              'missing')",
    storable: str::to_owned,
};

/// A JSON text that `jsonb` accepts: `\u0000` is replaced, because it does not allow that.
#[cfg(feature = "postgres")]
fn without_zero_characters(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        // In JSON, one byte follows the backslash; only `\u0000` is longer here.
        let len = if escape.starts_with("\\u0000") { 6 } else { 2 };
        text.push_str(if len == 6 { "\\ufffd" } else { &escape[..2] });
        rest = &escape[len..];
    }
    text.push_str(rest);
    text
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn zero_characters_are_replaced_and_nothing_else() {
        for (given, taken) in
            [(r#"{"a":"\u0000b"}"#, r#"{"a":"\ufffdb"}"#), (r#"{"a":"\\u0000"}"#, r#"{"a":"\\u0000"}"#), ("{}", "{}")]
        {
            assert_eq!(without_zero_characters(given), taken);
        }
    }
}

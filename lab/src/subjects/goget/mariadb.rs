//! `MariaDB` over loopback by `mysql_async`: prepared statements, one connection.

use std::path::Path;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, OptsBuilder, Params, TxOpts, Value};
use tokio::runtime::Runtime;

use super::{Account, Accounts, Item, gone, sql};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, mariadb};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let failed = || LabError::subject("connecting to MariaDB");
    let (process, address, fresh) = mariadb::start(&Place { dir, traced: None })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(LabError::io("starting the client"))?;
    let connection = runtime.block_on(async {
        let options = OptsBuilder::default()
            .ip_or_hostname(address.ip().to_string())
            .tcp_port(address.port())
            .user(Some("lab"))
            .prefer_socket(false);
        let mut connection = Conn::new(options).await.map_err(failed())?;
        if fresh {
            connection.query_drop("CREATE DATABASE lab").await.map_err(failed())?;
        }
        connection.query_drop("USE lab").await.map_err(failed())?;
        for table in sql::TABLES.iter().filter(|_| fresh) {
            connection.query_drop(*table).await.map_err(failed())?;
        }
        Ok::<_, LabError>(connection)
    })?;
    Ok(Box::new(MariaDb { connection, runtime, process }))
}

struct MariaDb {
    connection: Conn,
    runtime: Runtime,
    process: Process,
}

type Columns = (i64, String, String, Option<String>, Option<String>, Option<i32>, Option<i32>);

async fn read(
    client: &mut impl Queryable,
    text: &str,
    parameters: impl Into<Params> + Send,
) -> std::result::Result<Vec<Account>, Error> {
    client
        .exec_fold(text, parameters.into(), Vec::new(), |mut accounts, row: Columns| {
            let (id, name, passphrase, item, comment, status, count) = row;
            let item = sql::item(item, comment, status, count);
            sql::add(&mut accounts, sql::Joined { id, name, passphrase, item });
            accounts
        })
        .await
}

impl MariaDb {
    fn read(&mut self, text: &str, parameters: impl Into<Params> + Send) -> Result<Vec<Account>> {
        self.runtime.block_on(read(&mut self.connection, text, parameters)).map_err(LabError::subject("a query"))
    }

    /// One statement, which is a transaction; returns the rows that it touched.
    fn write(&mut self, text: &str, parameters: impl Into<Params>) -> Result<u64> {
        let (connection, parameters) = (&mut self.connection, parameters.into());
        let write = async {
            connection.exec_drop(text, parameters).await?;
            Ok(connection.affected_rows())
        };
        self.runtime.block_on(write).map_err(LabError::subject::<Error>("a write"))
    }
}

impl Accounts for MariaDb {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        let connection = &mut self.connection;
        let load = async {
            let mut transaction = connection.start_transaction(TxOpts::default()).await?;
            for accounts in accounts.chunks(sql::LOADED_TOGETHER) {
                let row = |account: &Account| -> [Value; 3] {
                    [sql::signed(account.id).into(), account.name.as_str().into(), account.passphrase.as_str().into()]
                };
                let parameters = Params::Positional(accounts.iter().flat_map(row).collect());
                transaction.exec_drop(sql::create_many(accounts.len()), parameters).await?;
            }
            transaction.commit().await
        };
        self.runtime.block_on(load).map_err(LabError::subject::<Error>("loading"))
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.write(sql::CREATE, (sql::signed(account.id), &account.name, &account.passphrase)).map(drop)
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        Ok(self.read(sql::GET, (sql::signed(id),))?.pop())
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        Ok(self.read(sql::GET_BY_NAME, (name,))?.pop())
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        self.read(sql::LIST, ())
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        let (connection, account) = (&mut self.connection, sql::signed(id));
        let add = async {
            let mut transaction = connection.start_transaction(TxOpts::default()).await?;
            let Some(found) = read(&mut transaction, sql::GET, (account,)).await?.pop() else { return Ok(false) };
            let place = sql::integer(found.items.len());
            let row = (account, place, &item.name, &item.comment, item.status.number(), item.count);
            transaction.exec_drop(sql::ADD_ITEM, row).await?;
            transaction.commit().await.map(|()| true)
        };
        let found: bool = self.runtime.block_on(add).map_err(LabError::subject::<Error>("adding an item"))?;
        if found { Ok(()) } else { Err(gone(id)) }
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        let status = item.status.number();
        let row = (&item.name, &item.comment, status, item.count, sql::signed(id), sql::integer(place));
        if self.write(sql::CHANGE_ITEM, row)? == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        if self.write(sql::UPDATE, (passphrase, sql::signed(id)))? == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        let (connection, account) = (&mut self.connection, sql::signed(id));
        let delete = async {
            let mut transaction = connection.start_transaction(TxOpts::default()).await?;
            transaction.exec_drop(sql::DELETE_ITEMS, (account,)).await?;
            transaction.exec_drop(sql::DELETE, (account,)).await?;
            let deleted = transaction.affected_rows();
            transaction.commit().await.map(|()| deleted)
        };
        let deleted: u64 = self.runtime.block_on(delete).map_err(LabError::subject::<Error>("a deletion"))?;
        if deleted == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn settings(&self) -> String {
        mariadb::SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        let _ = self.runtime.block_on(self.connection.disconnect());
        drop(self.runtime);
        self.process.stop()
    }
}

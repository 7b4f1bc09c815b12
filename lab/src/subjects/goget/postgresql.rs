//! `PostgreSQL` over loopback by `tokio-postgres`: binary, prepared, one connection.

use std::path::Path;

use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, GenericClient, NoTls, Row, Statement};

use super::{Account, Accounts, Item, gone, sql};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};

pub(super) fn open(dir: &Path) -> Result<Box<dyn Accounts>> {
    let failed = || LabError::subject("connecting to PostgreSQL");
    let (process, address, fresh) = postgresql::start(&Place { dir, traced: None })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(LabError::io("starting the client"))?;
    let config = format!("host={} port={} user=lab dbname=postgres", address.ip(), address.port());
    let (client, statements) = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await.map_err(failed())?;
        tokio::spawn(connection);
        for table in sql::TABLES.iter().filter(|_| fresh) {
            client.batch_execute(table).await.map_err(failed())?;
        }
        let statements = Statements::prepare(&client).await.map_err(failed())?;
        Ok::<_, LabError>((client, statements))
    })?;
    Ok(Box::new(PostgreSql { client, statements, runtime, process }))
}

struct Statements {
    create: Statement,
    get: Statement,
    get_by_name: Statement,
    list: Statement,
    add_item: Statement,
    change_item: Statement,
    update: Statement,
    delete_items: Statement,
    delete: Statement,
}

impl Statements {
    async fn prepare(client: &Client) -> std::result::Result<Self, Error> {
        let prepare = async |text: &str| client.prepare(&sql::numbered(text)).await;
        Ok(Statements {
            create: prepare(sql::CREATE).await?,
            get: prepare(sql::GET).await?,
            get_by_name: prepare(sql::GET_BY_NAME).await?,
            list: prepare(sql::LIST).await?,
            add_item: prepare(sql::ADD_ITEM).await?,
            change_item: prepare(sql::CHANGE_ITEM).await?,
            update: prepare(sql::UPDATE).await?,
            delete_items: prepare(sql::DELETE_ITEMS).await?,
            delete: prepare(sql::DELETE).await?,
        })
    }
}

struct PostgreSql {
    client: Client,
    statements: Statements,
    runtime: Runtime,
    process: Process,
}

fn accounts(rows: &[Row]) -> std::result::Result<Vec<Account>, Error> {
    let mut accounts = Vec::new();
    for row in rows {
        let item = sql::item(row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(6)?);
        let (id, name, passphrase) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        sql::add(&mut accounts, sql::Joined { id, name, passphrase, item });
    }
    Ok(accounts)
}

async fn read(
    client: &impl GenericClient,
    statement: &Statement,
    parameters: &[&(dyn ToSql + Sync)],
) -> std::result::Result<Vec<Account>, Error> {
    accounts(&client.query(statement, parameters).await?)
}

impl PostgreSql {
    fn read(&self, statement: &Statement, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Account>> {
        self.runtime.block_on(read(&self.client, statement, parameters)).map_err(LabError::subject("a query"))
    }

    /// One statement, which is a transaction; returns the rows that it touched.
    fn write(&self, statement: &Statement, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.runtime.block_on(self.client.execute(statement, parameters)).map_err(LabError::subject("a write"))
    }
}

impl Accounts for PostgreSql {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        let client = &mut self.client;
        let load = async {
            let transaction = client.transaction().await?;
            for accounts in accounts.chunks(sql::LOADED_TOGETHER) {
                let ids: Vec<i64> = accounts.iter().map(|account| sql::signed(account.id)).collect();
                let mut parameters: Vec<&(dyn ToSql + Sync)> = Vec::new();
                for (account, id) in accounts.iter().zip(&ids) {
                    parameters.extend([id as &(dyn ToSql + Sync), &account.name, &account.passphrase]);
                }
                transaction.execute(&sql::numbered(&sql::create_many(accounts.len())), &parameters).await?;
            }
            transaction.commit().await?;
            client.batch_execute("VACUUM ANALYZE").await
        };
        self.runtime.block_on(load).map_err(LabError::subject("loading"))
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        let id = sql::signed(account.id);
        self.write(&self.statements.create, &[&id, &account.name, &account.passphrase]).map(drop)
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        Ok(self.read(&self.statements.get, &[&sql::signed(id)])?.pop())
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        Ok(self.read(&self.statements.get_by_name, &[&name])?.pop())
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        self.read(&self.statements.list, &[])
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        let (client, statements) = (&mut self.client, &self.statements);
        let (account, status, count) = (sql::signed(id), item.status.number(), sql::integer(item.count));
        let add = async {
            let transaction = client.transaction().await?;
            let Some(found) = read(&transaction, &statements.get, &[&account]).await?.pop() else { return Ok(false) };
            let place = sql::integer(found.items.len());
            transaction
                .execute(&statements.add_item, &[&account, &place, &item.name, &item.comment, &status, &count])
                .await?;
            transaction.commit().await.map(|()| true)
        };
        let found: bool = self.runtime.block_on(add).map_err(LabError::subject::<Error>("adding an item"))?;
        if found { Ok(()) } else { Err(gone(id)) }
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        let (account, place) = (sql::signed(id), sql::integer(place));
        let (status, count) = (item.status.number(), sql::integer(item.count));
        let row: [&(dyn ToSql + Sync); 6] = [&item.name, &item.comment, &status, &count, &account, &place];
        if self.write(&self.statements.change_item, &row)? == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        let changed = self.write(&self.statements.update, &[&passphrase, &sql::signed(id)])?;
        if changed == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        let (client, statements, account) = (&mut self.client, &self.statements, sql::signed(id));
        let delete = async {
            let transaction = client.transaction().await?;
            transaction.execute(&statements.delete_items, &[&account]).await?;
            let deleted = transaction.execute(&statements.delete, &[&account]).await?;
            transaction.commit().await.map(|()| deleted)
        };
        let deleted: u64 = self.runtime.block_on(delete).map_err(LabError::subject::<Error>("a deletion"))?;
        if deleted == 1 { Ok(()) } else { Err(gone(id)) }
    }
    fn settings(&self) -> String {
        postgresql::SETTINGS.to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self.client);
        drop(self.runtime);
        self.process.stop()
    }
}
